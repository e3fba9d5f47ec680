"""The sorted hashes of one side: which of many hashes are among them, and in which rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crucible_datasets.benchmarks.contamination.grams import Grams
from crucible_datasets.benchmarks.contamination.words import Numbers, Places

# With so many table entries per key, a hash passes by chance once in 16 times; the table is far faster than a search.
_PLACES_PER_KEY = 16


class Hits(NamedTuple):
    """Which of the looked up hashes are keys, and which keys."""

    at: Places
    keys: Places


class Index:
    """Distinct hashes, with the rows that contain each, in order, and the number of occurrences."""

    def __init__(self, blocks: Iterable[Grams]) -> None:
        numbers, rows, self.per_row = _collected(blocks)
        order = np.lexsort((rows, numbers))
        numbers, rows = numbers[order], rows[order]
        new_key = _changes(numbers)
        new_pair = new_key | _changes(rows)
        pairs = np.flatnonzero(new_pair)
        self.rows = rows[pairs]
        self.times = np.diff(pairs, append=len(numbers))
        self.keys = numbers[new_key]
        self.starts = np.append(np.flatnonzero(new_key[pairs]), len(pairs))
        self._gate, self._shift = _gate(self.keys)

    def found(self, numbers: Numbers) -> Hits:
        """The keys among some hashes."""
        if not len(self.keys):
            return Hits(np.empty(0, np.int64), np.empty(0, np.int64))
        maybe = np.flatnonzero(self._gate[numbers >> self._shift])
        wanted = numbers[maybe]
        keys = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        same = self.keys[keys] == wanted
        return Hits(maybe[same], keys[same])

    def rows_of(self, keys: Places, most: int) -> tuple[Places, Places]:
        """The first rows of each key, at most `most`: pairs of a position in `keys` and a row."""
        counts = np.minimum(self.starts[keys + 1] - self.starts[keys], most)
        before = np.cumsum(counts) - counts
        places = np.arange(int(counts.sum())) + np.repeat(self.starts[keys] - before, counts)
        return np.repeat(np.arange(len(keys)), counts), self.rows[places]

    def rows_with(self, seen: npt.NDArray[np.bool_]) -> Places:
        """For each row, how many of its hashes were seen."""
        weights = self.times * np.repeat(seen, np.diff(self.starts))
        return np.bincount(self.rows, weights, len(self.per_row)).astype(np.int64)


def _collected(blocks: Iterable[Grams]) -> tuple[Numbers, Places, Places]:
    numbers, rows, per_row, count = [np.empty(0, np.uint64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
    for grams in blocks:
        numbers.append(grams.numbers)
        rows.append(grams.texts + count)
        per_row.append(grams.per_text)
        count += len(grams.per_text)
    return np.concatenate(numbers), np.concatenate(rows), np.concatenate(per_row)


def _changes(values: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """The positions at which a value differs from its predecessor."""
    changes = np.ones(len(values), bool)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _gate(keys: Numbers) -> tuple[npt.NDArray[np.bool_], np.uint64]:
    """A bitmap: whether any key begins with given bits."""
    bits = min(max((len(keys) * _PLACES_PER_KEY).bit_length() - 1, 10), 28)
    gate, shift = np.zeros(1 << bits, bool), np.uint64(64 - bits)
    gate[keys >> shift] = True
    return gate, shift
