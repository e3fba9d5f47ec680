"""Pairs of matching rows, limited to the first few of each test row."""

from __future__ import annotations

import numpy as np

from crucible_datasets.benchmarks.contamination.words import Places


def first_of_each(groups: Places, members: Places, most: Places | int) -> tuple[Places, Places]:
    """The lowest distinct members of each group, at most `most` (a number, or one per group)."""
    order = np.lexsort((members, groups))
    groups, members = groups[order], members[order]
    new = np.ones(len(groups), bool)
    new[1:] = (groups[1:] != groups[:-1]) | (members[1:] != members[:-1])
    groups, members = groups[new], members[new]
    begins = np.ones(len(groups), bool)
    begins[1:] = groups[1:] != groups[:-1]
    starts = np.flatnonzero(begins)
    rank = np.arange(len(groups)) - np.repeat(starts, np.diff(starts, append=len(groups)))
    kept = rank < (most if isinstance(most, int) else most[groups])
    return groups[kept], members[kept]


class Matches:
    """The first training rows that match each test row."""

    def __init__(self, most: int) -> None:
        self._most, self._test, self._train = most, [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        self._room = np.empty(0, np.int64)

    def room(self, rows: int) -> Places:
        """How many more matches each of these test rows can take."""
        missing = max(0, rows - len(self._room))
        self._room = np.append(self._room, np.full(missing, self._most))
        return self._room

    def add(self, test: Places, train: Places) -> None:
        """Add pairs; their training rows must not come before those added earlier."""
        if len(test):
            test, train = first_of_each(test, train, self.room(int(test.max()) + 1))
            self._room -= np.bincount(test, minlength=len(self._room))
            self._test.append(test)
            self._train.append(train)

    def sorted(self) -> tuple[Places, Places]:
        """All pairs, sorted by test row and training row."""
        return first_of_each(np.concatenate(self._test), np.concatenate(self._train), self._most)
