"""Rows dealt out to several readers in blocks, like cards, from one global order.

Reader `index` of `count` gets blocks `index`, `index + count`, … The global order does not depend on the number of
readers, so what is left when they stop can be dealt to fewer or more of them: an `Origin` says where in the order the
rest begins, and which rows after that have been read already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position, Stage, Step
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.cursor import Cursor

Indices = npt.NDArray[np.int64]
_FIRST_ROWS, _MOST_ROWS = 16, 1024
_WORTH_SKIPPING = 256  # rows of other readers; fewer are read and dropped


@dataclass(frozen=True)
class Origin:
    """Where dealing begins: a place, the number of the row there, and ranges of rows that were read already."""

    place: Position = None
    row: int = 0
    taken: tuple[tuple[int, int], ...] = ()

    def row_number(self, left: int) -> int:
        """The number, from the start, of the row that has `left` unread rows before it."""
        number = self.row + left
        for start, stop in self.taken:
            if number >= start:
                number += stop - start
        return number

    def is_left(self, rows: Indices) -> npt.NDArray[np.bool_]:
        """Which of these row numbers are still unread."""
        left = np.ones(len(rows), dtype=np.bool_)
        for start, stop in self.taken:
            left &= (rows < start) | (rows >= stop)
        return left


@dataclass(frozen=True)
class Dealt(Step):
    """Every `count`-th block of the rows below.

    A position is `[place below, number of its row, unread rows before it]`.
    """

    block_size: int
    count: int
    index: int
    origin: Origin = Origin()

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        place, row, before = at or (self.origin.place, self.origin.row, 0)
        cursor, size = Cursor(self.source, place), _FIRST_ROWS
        while True:
            ahead = self._others_ahead(row, before)
            if ahead >= _WORTH_SKIPPING:
                cursor.skip(ahead)
                row, before = row + ahead, before + ahead
            position = [cursor.place, row, before]
            batch = cursor.take(size)
            if batch is None:
                return
            left = self.origin.is_left(np.arange(row, row + len(batch)))
            mine = np.flatnonzero(left & self._is_mine(before + np.cumsum(left) - 1))
            if len(mine):
                yield position, batch if len(mine) == len(batch) else batch.take(mine)
            row, before = row + len(batch), before + int(left.sum())
            size = min(2 * size, _MOST_ROWS)

    def _is_mine(self, numbers: Indices) -> npt.NDArray[np.bool_]:
        return np.asarray(numbers // self.block_size % self.count == self.index)

    def _others_ahead(self, row: int, before: int) -> int:
        """How many rows of other readers come next, if none of the following ones was read already."""
        if self.origin.taken and row < self.origin.taken[-1][1]:
            return 0
        block, used = divmod(before, self.block_size)
        blocks = (self.index - block) % self.count
        return blocks * self.block_size - used if blocks else 0

    def own_row(self, given: int) -> int:
        """How many unread rows come before this reader's next row, after `given` rows of its own."""
        block, used = divmod(given, self.block_size)
        return (block * self.count + self.index) * self.block_size + used

    def given(self, place: Position) -> int:
        """How many of this reader's rows come before a place."""
        position, used = place or (None, 0)
        before = position[2] if position is not None else 0
        rounds, rest = divmod(before, self.block_size * self.count)
        in_block = min(max(rest - self.index * self.block_size, 0), self.block_size)
        return rounds * self.block_size + in_block + used


class DealtAlike(Dealt):
    """Rows that workers deal among each other. All see the same order, so none draws random numbers of its own."""

    def shifted(self, worker: int) -> Stage:
        return self


def dealt_low(stage: Stage, block_size: int, count: int, index: int, origin: Origin | None = None) -> Stage:
    """The stage with rows dealt below all row-by-row steps, so that these run only for the reader's own rows."""
    if stage.rows_each is None:
        return Dealt(stage, block_size, count, index, origin or Origin())
    below = dealt_low(stage.below()[0], block_size * stage.rows_each, count, index, origin)
    return stage.over([below])


def dealer_and_place(stage: Stage, place: Position) -> tuple[Dealt, Position]:
    """The stage that deals, and the place in it that corresponds to a place in the stage above."""
    while not isinstance(stage, Dealt):
        place, stage = stage.place_below(place), stage.below()[0]
    return stage, place


def rest_of(dealers: Sequence[tuple[Dealt, Position]]) -> Origin:
    """The unread rest when all readers have stopped at these places."""
    origin = dealers[0][0].origin
    left = min(dealer.own_row(dealer.given(place)) for dealer, place in dealers)
    marks = [_mark(dealer, place) for dealer, place in dealers]
    place, row, before = max((mark for mark in marks if mark[2] <= left), key=lambda mark: mark[2])
    gone = [run for dealer, place in dealers for run in _given_since(dealer, before, dealer.given(place))]
    runs = [(origin.row_number(start), origin.row_number(stop - 1) + 1) for start, stop in gone]
    return Origin(place, row, _merged([*origin.taken, *runs], row))


def _mark(dealer: Dealt, place: Position) -> tuple[Any, int, int]:
    """A known place at or before the reader's, with its row number and the unread rows before it."""
    position = (place or (None, 0))[0]
    return (position[0], position[1], position[2]) if position else (dealer.origin.place, dealer.origin.row, 0)


def _given_since(dealer: Dealt, before: int, given: int) -> Iterator[tuple[int, int]]:
    """The ranges of rows that a reader has read, from the block that has `before` unread rows in front of it."""
    first = dealer.given([[None, 0, before], 0]) // dealer.block_size * dealer.block_size
    for number in range(first, given, dealer.block_size):
        start = dealer.own_row(number)
        yield start, start + min(dealer.block_size, given - number)


def _merged(runs: Sequence[tuple[int, int]], row: int) -> tuple[tuple[int, int], ...]:
    """The ranges merged, without those that end before a row."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(run for run in runs if run[1] > row):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((max(start, row), stop))
    return tuple(merged)
