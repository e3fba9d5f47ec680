"""One side streamed through the index of the other: which of its n-grams are in the index, and in which rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crucible_datasets.benchmarks.contamination.grams import Grams
from crucible_datasets.benchmarks.contamination.index import Index
from crucible_datasets.benchmarks.contamination.pairs import Matches, first_of_each
from crucible_datasets.benchmarks.contamination.words import Places

_ALL = 1 << 62


@dataclass(frozen=True)
class Found:
    """For each test row, its share and the matching rows; for each training row, whether it matches."""

    share: npt.NDArray[np.float64]
    train_matched: npt.NDArray[np.bool_]
    test_rows: Places
    train_rows: Places


class Scan:
    """Accumulates the matches of streamed blocks. The first `most` training rows are kept per test row."""

    def __init__(self, index: Index, test_is_indexed: bool, most: int) -> None:
        self._index, self._test_is_indexed, self._matches = index, test_is_indexed, Matches(most)
        self._most = most
        self._seen = np.zeros(len(index.keys), bool)
        self._open = np.ones(len(index.keys), bool)
        self._hits = [np.empty(0, np.int64)]
        self._totals = [np.empty(0, np.int64)]
        self._count = 0

    def add(self, grams: Grams) -> None:
        """Look up the n-grams of the next rows."""
        hits = self._index.found(grams.numbers)
        rows = np.searchsorted(np.cumsum(grams.per_text), hits.at, side="right")
        self._hits.append(np.bincount(rows, minlength=len(grams.per_text)))
        self._totals.append(grams.per_text)
        self._seen[hits.keys] = True
        if len(rows):
            pair = self._with_indexed_tests if self._test_is_indexed else self._with_indexed_trains
            pair(hits.keys, rows + self._count)
        self._count += len(grams.per_text)

    def _with_indexed_tests(self, keys: Places, train: Places) -> None:
        # A phrase that all rows have would pair all with all, so keys whose rows have enough matches are skipped.
        still = self._open[keys]
        keys, train = first_of_each(keys[still], train[still], self._most)
        if not len(keys):
            return
        place, test = self._index.rows_of(keys, _ALL)
        room = self._matches.room(len(self._index.per_row))
        wanted = room[test] > 0
        self._matches.add(test[wanted], train[place[wanted]])
        room = self._matches.room(0)
        self._open = np.logical_or.reduceat(room[self._index.rows] > 0, self._index.starts[:-1])

    def _with_indexed_trains(self, keys: Places, test: Places) -> None:
        place, train = self._index.rows_of(keys, self._most)
        self._matches.add(test[place], train)

    def found(self) -> Found:
        """The findings so far."""
        hits, totals = np.concatenate(self._hits), np.concatenate(self._totals)
        indexed = self._index.rows_with(self._seen)
        test = (indexed, self._index.per_row) if self._test_is_indexed else (hits, totals)
        return Found(
            test[0] / np.maximum(test[1], 1),
            (hits if self._test_is_indexed else indexed) > 0,
            *self._matches.sorted(),
        )


def scanned(indexed: Iterable[Grams], streamed: Iterable[Grams], test_is_indexed: bool, most: int) -> Found:
    """The common n-grams of both sides."""
    scan = Scan(Index(indexed), test_is_indexed, most)
    for grams in streamed:
        scan.add(grams)
    return scan.found()
