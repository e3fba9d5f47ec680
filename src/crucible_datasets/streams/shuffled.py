"""`shuffle`: rows in random order, by means of a buffer.

The order is that of Hugging Face `datasets` 5.2.0. Up to `max_inputs` groups of shards are read round-robin. Whenever
the buffer is full, its rows are permuted, and all but half a buffer of them are yielded.

A position holds no rows. Which rows are in the buffer depends on the random numbers alone, so the position records
where the oldest of them was read, the state of the generator then, and how many times the buffer was filled since. To
resume, the same rows are read and drawn again. On average half of the rows leave each time, so that is a few buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from crucible_datasets.records import dataclass
from crucible_datasets.streams import rng_state
from crucible_datasets.streams.base import Position, Stage, Step
from crucible_datasets.streams.batch import Batch, joined
from crucible_datasets.streams.round_robin import Indices, Rounds

_MOST_ROWS = 1024  # rows of several small buffers that are yielded as one batch
_HELD_PER_ROW = 3  # rows held in memory per row in the buffer
_GONE = -1


@dataclass(frozen=True, eq=False)
class Shuffled(Step):
    """The rows in another order.

    A position is `[[place below, rows used], state of the generator, rows before, fillings since]`.
    """

    looks_at_columns = False
    generator: np.random.Generator
    buffer_size: int
    max_inputs: int
    reads_rows: bool = False
    is_seeded: bool = True  # or the order is another whenever the stream is built

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        place, state, before, again = at or (None, None, 0, 0)
        generator = rng_state.at_state(self.generator, state)
        below, used = place or (None, 0)
        buffer = _Buffer(_Supply(self._rounds(below), used), generator, self.buffer_size, before)
        for _ in range(again):
            buffer.fill()
            buffer.drawn()
        size = 1
        while True:
            position = buffer.position
            batch = buffer.give(size)
            if batch is None:
                return
            yield position, batch
            size = min(2 * size, _MOST_ROWS)

    def _rounds(self, place: Position) -> Rounds:
        tables, below = self.hands_tables, self.source
        if not tables:
            below = below.by_rows()
        if below.keeps_order:
            return Rounds([below], self.buffer_size if tables else 1, place)
        count = min(self.max_inputs, below.num_shards)
        inputs = [below.shard(count, index) for index in range(count)]
        return Rounds(inputs, max(1, self.buffer_size // self.max_inputs) if tables else 1, place)

    @property
    def hands_tables(self) -> bool:
        return self.source.hands_tables and not self.reads_rows

    def by_rows(self) -> Stage:
        return replace(self, source=self.source.by_rows(), reads_rows=True)

    def shifted(self, worker: int) -> Stage:
        return replace(self, source=self.source.shifted(worker), generator=rng_state.shifted(self.generator, worker))


class _Supply:
    """Rows that were read from the inputs and are not in the buffer yet."""

    def __init__(self, rounds: Rounds, used: int) -> None:
        self._rounds, self._used = rounds, used
        self._start = rounds.place
        self._order = self._ends = np.zeros(0, dtype=np.int64)

    @property
    def place(self) -> Position:
        return [self._start, self._used]

    def kept(self, waiting: Indices) -> Indices:
        """The numbers of the rows in the buffer, and of those waiting here."""
        return np.concatenate([waiting, self._order[self._used :]])

    def moved_to(self, start: int) -> None:
        """Renumber: the rows waiting here are the last of those held."""
        self._order = np.arange(start - self._used, start + len(self._order) - self._used)

    def next(self, num_rows: int, at_once: int, held: list[Batch]) -> Indices:
        """Whole turns until there are `num_rows` rows, as indices into `held`, to which the rows read are appended."""
        taken = [np.zeros(0, dtype=np.int64)]
        while num_rows > 0:
            if self._used >= len(self._order) and not self._read(max(num_rows, at_once) + self._used, held):
                break
            place = int(np.searchsorted(self._ends, self._used + num_rows))
            stop = int(self._ends[min(place, len(self._ends) - 1)])
            taken.append(self._order[self._used : stop])
            num_rows -= stop - self._used
            self._used = stop
            if stop == len(self._order):
                self._start, self._used, self._order = self._rounds.place, 0, self._order[:0]
        return np.concatenate(taken)

    def _read(self, num_rows: int, held: list[Batch]) -> bool:
        before = len(held[0]) if held else 0
        batches, order, self._ends = self._rounds.take(num_rows)
        if batches:
            held[:] = [joined([*held, *batches])]
        self._order = order + before
        return bool(batches)


class _Buffer:
    """The shuffle buffer: rows `held`, and the indices of those that are still to be yielded."""

    def __init__(self, supply: _Supply, generator: np.random.Generator, size: int, before: int) -> None:
        self._supply, self._generator, self._size = supply, generator, size
        self._held: list[Batch] = []
        self._waiting = np.full(before, _GONE)
        self._filling = 0
        self._read_in = np.full(before, _GONE)  # the filling in which each row was added
        self._starts: dict[int, list[Any]] = {}
        self._is_last = False
        self._mark()

    def _mark(self) -> None:
        """Record where this filling begins, and forget fillings whose rows have all been yielded."""
        self._starts[self._filling] = [self._supply.place, self._generator.bit_generator.state, len(self._waiting)]
        oldest = self._oldest
        while (first := next(iter(self._starts))) < oldest:
            del self._starts[first]

    @property
    def _oldest(self) -> int:
        return int(self._read_in.min()) if len(self._read_in) else self._filling

    @property
    def position(self) -> Position:
        """The position from which the buffer can be rebuilt."""
        oldest = self._oldest
        place, state, before = self._starts[oldest]
        return [place, rng_state.plain(state), before, self._filling - oldest]

    def fill(self, at_once: int = 0) -> None:
        """Read until the buffer is full, or there is nothing left to read."""
        new = self._supply.next(self._size - len(self._waiting), at_once, self._held)
        self._waiting = np.concatenate([self._waiting, new])
        self._read_in = np.concatenate([self._read_in, np.full(len(new), self._filling)])
        self._is_last = len(self._waiting) < self._size

    def drawn(self) -> Indices:
        """The rows that leave the buffer, as indices into `held`."""
        count = len(self._waiting)
        leaving = count if self._is_last else count - self._size // 2
        order = self._generator.permutation(count)
        rows, read_in = self._waiting[order], self._read_in[order]
        self._waiting, self._read_in = rows[leaving:], read_in[leaving:]
        self._filling += 1
        self._mark()
        return rows[:leaving]

    def give(self, least: int) -> Batch | None:
        """The rows of the next fillings, at least `least`; None at the end."""
        given, count = [], 0
        while count < least and not self._is_last:
            self.fill(least)
            if not len(self._waiting):
                break
            given.append(self.drawn())
            count += len(given[-1])
        if not count:
            return None
        batch = self._held[0].take(np.concatenate(given))
        self._let_go()
        return batch

    def _let_go(self) -> None:
        """Free rows, once most of those held have been yielded."""
        kept = self._supply.kept(self._waiting)
        if self._held and len(self._held[0]) > _HELD_PER_ROW * max(len(kept), self._size):
            self._held = [self._held[0].take(kept)] if len(kept) else []
            self._waiting = np.arange(len(self._waiting))
            self._supply.moved_to(len(self._waiting))
