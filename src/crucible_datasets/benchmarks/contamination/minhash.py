"""Near-duplicates: similar sets of n-grams, found by MinHash and then compared exactly.

The minimum of a set under a random permutation is equal for two sets with the probability of their Jaccard
similarity. Sets that agree on one band of such minima are compared exactly, so there are no false positives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np
import numpy.typing as npt

from crucible_datasets.benchmarks.contamination.scan import Found, Grams, Index, Matches, distinct, first_of_each
from crucible_datasets.benchmarks.contamination.words import Numbers, Places, mixed

PERMUTATIONS = 128
_CHANCE_TO_MISS = 1e-3
_CANDIDATES = 64  # rows of one band that are compared; more rows in a band are similar to each other
_PAIRS_AT_ONCE = 4096


def band_length(threshold: float) -> int:
    """The longest bands that miss a pair of this similarity with a probability of at most 0.001."""
    lengths = (r for r in range(16, 0, -1) if (1 - threshold**r) ** (PERMUTATIONS // r) <= _CHANCE_TO_MISS)
    return next(lengths, 1)


def bands(sets: Grams, length: int) -> Grams:
    """A hash for each band of each set; an empty set has none."""
    some = sets.per_text > 0
    starts = (np.cumsum(sets.per_text) - sets.per_text)[some]
    count = PERMUTATIONS // length
    made = np.zeros((len(starts), count), np.uint64)
    factors, terms = _permutations()
    for place in range(count * length):
        band = place // length
        # Multiplication by a random odd number, of which the upper half of the bits is used, is a sufficiently random
        # permutation.
        least = np.minimum.reduceat((sets.numbers * factors[place]) ^ terms[place], starts) if len(starts) else starts
        made[:, band] = mixed(made[:, band] * np.uint64(31) + least.astype(np.uint64) + np.uint64(band))
    return Grams(made.reshape(-1), np.where(some, count, 0))


@cache
def _permutations() -> tuple[Numbers, Numbers]:
    draw = np.random.Generator(np.random.PCG64(13)).integers(0, 1 << 64, (2, PERMUTATIONS), np.uint64)
    return draw[0] | np.uint64(1), draw[1]


class Sets:
    """The n-gram sets of the rows of one side, for exact similarities."""

    def __init__(self) -> None:
        self._sizes, self._members, self._count = [np.empty(0, np.int64)], [np.empty(0, np.uint64)], 0

    def taken(self, blocks: Iterable[Grams], length: int) -> Iterator[Grams]:
        """The bands of every block; remembers their sets."""
        for sets in blocks:
            self._members.append(_of_row(sets.numbers, sets.texts + self._count))
            self._sizes.append(sets.per_text)
            self._count += len(sets.per_text)
            yield bands(sets, length)

    def settled(self) -> None:
        """Finish collecting sets."""
        self.sizes, self._sorted = np.concatenate(self._sizes), np.sort(np.concatenate(self._members))

    def similarity(self, rows: Places, sets: Grams, others: Places) -> npt.NDArray[np.float64]:
        """The similarity of each pair of a row and a text of the block, given by index in `others`."""
        starts = np.cumsum(sets.per_text) - sets.per_text
        counts = sets.per_text[others]
        before = np.cumsum(counts) - counts
        members = sets.numbers[np.arange(int(counts.sum())) + np.repeat(starts[others] - before, counts)]
        wanted = _of_row(members, np.repeat(rows, counts))
        at = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        pair = np.repeat(np.arange(len(rows)), counts)
        shared = np.bincount(pair[self._sorted[at] == wanted], minlength=len(rows))
        return shared / (self.sizes[rows] + counts - shared)


def _of_row(numbers: Numbers, rows: Places) -> Numbers:
    return mixed(numbers + rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))


def nearly_same(
    indexed: Iterable[Grams], streamed: Iterable[Grams], test_is_indexed: bool, most: int, threshold: float
) -> Found:
    """The pairs of rows whose similarity is at least `threshold`."""
    length, sets = band_length(threshold), Sets()
    index = Index(sets.taken(map(distinct, indexed), length))
    sets.settled()
    best, own, matches, first = np.zeros(len(index.per_row)), [np.empty(0)], Matches(most), 0
    for block in map(distinct, streamed):
        rows, texts, alike = _similar(index, sets, block, length, threshold)
        np.maximum.at(best, rows, alike)
        here = np.zeros(len(block.per_text))
        np.maximum.at(here, texts, alike)
        own.append(here)
        matches.add(*((rows, texts + first) if test_is_indexed else (texts + first, rows)))
        first += len(block.per_text)
    others = np.concatenate(own)
    test, train = (best, others) if test_is_indexed else (others, best)
    return Found(test, train > 0, *matches.sorted())


def _similar(
    index: Index, sets: Sets, block: Grams, length: int, threshold: float
) -> tuple[Places, Places, npt.NDArray[np.float64]]:
    """Pairs of an indexed row and a text of the block, with their similarity."""
    signed = bands(block, length)
    hits = index.found(signed.numbers)
    texts = np.searchsorted(np.cumsum(signed.per_text), hits.at, side="right")
    place, rows = index.rows_of(hits.keys, _CANDIDATES)
    others, rows = first_of_each(texts[place], rows, 1 << 62)
    parts = [
        sets.similarity(rows[start : start + _PAIRS_AT_ONCE], block, others[start : start + _PAIRS_AT_ONCE])
        for start in range(0, len(rows), _PAIRS_AT_ONCE)
    ]
    alike = np.concatenate([np.empty(0), *parts])
    near = alike >= threshold
    return rows[near], others[near], alike[near]
