"""`interleave_datasets`: rows of several stages, one at a time, in turns or drawn by probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from crucible_datasets.ops.interleaving import ALL, FIRST, ONCE
from crucible_datasets.records import dataclass
from crucible_datasets.streams import rng_state
from crucible_datasets.streams.base import Position, Stage
from crucible_datasets.streams.batch import Batch, joined
from crucible_datasets.streams.concatenated import Several
from crucible_datasets.streams.cursor import Cursor

Indices = npt.NDArray[np.int64]
_DRAWN_AT_ONCE = 1000  # the block size of Hugging Face `datasets`, so that the generator has the same state
_MOST_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Interleaved(Several):
    """Rows in turns. A position is `[places below, which ended, state of the generator, turns since]`."""

    strategy: str = FIRST
    probabilities: tuple[float, ...] | None = None
    generator: np.random.Generator | None = None
    is_seeded: bool = True  # or the order is another whenever the stream is built

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        running, size = _Running(self, at), 8
        while not running.is_over:
            position = running.position
            batch = running.give(size)
            if batch is not None:
                yield position, batch
            size = min(2 * size, _MOST_ROWS)

    def reordered(self, generator: Any) -> Stage:
        if self.keeps_order:
            return self
        drawn = self.generator and generator
        return replace(self, sources=tuple(source.reordered(generator) for source in self.sources), generator=drawn)

    def shifted(self, worker: int) -> Stage:
        drawn = self.generator and rng_state.shifted(self.generator, worker)
        return replace(self, sources=tuple(source.shifted(worker) for source in self.sources), generator=drawn)


class _Turns:
    """Whose turn it is, turn by turn."""

    def __init__(self, stage: Interleaved, state: Any, turn: int) -> None:
        self._count, self._chances = len(stage.sources), stage.probabilities
        self._generator = stage.generator and rng_state.at_state(stage.generator, state)
        self._turn = turn
        self._draw()

    def _draw(self) -> None:
        if self._generator is None:
            self._state, self._drawn = None, np.arange(self._count)
        else:
            self._state = rng_state.state_of(self._generator)
            self._drawn = self._generator.choice(self._count, size=_DRAWN_AT_ONCE, p=self._chances)

    @property
    def place(self) -> list[Any]:
        return [self._state, self._turn]

    def take(self, most: int) -> Indices:
        """The next turns, at least one."""
        if self._turn >= len(self._drawn):
            self._draw()
            self._turn = 0
        turns: Indices = self._drawn[self._turn : self._turn + most]
        self._turn += len(turns)
        if self._generator is None and len(turns) < most:
            # Whole rounds, at least as many turns as requested.
            more = np.tile(self._drawn, -(-(most - len(turns)) // self._count))
            turns = np.concatenate([turns, more])
        return turns


class _Running:
    """The stages while rows are taken from them."""

    def __init__(self, stage: Interleaved, at: Position) -> None:
        count = len(stage.sources)
        places, ended, state, turn = at or ([None] * count, [False] * count, None, 0)
        self._strategy, self._stages = stage.strategy, stage.read_alike()
        self._cursors = [Cursor(source, place) for source, place in zip(self._stages, places, strict=True)]
        self._ended: list[bool] = list(ended)
        self._turns = _Turns(stage, state, turn)
        self.is_over = all(self._ended)

    @property
    def position(self) -> Position:
        return [[cursor.place for cursor in self._cursors], list(self._ended), *self._turns.place]

    def give(self, most: int) -> Batch | None:
        """The rows of the next turns; None if these stages have ended."""
        whose = self._turns.take(most)
        taken: list[Batch] = []
        numbers = np.full(len(whose), -1)  # for each turn, the index of its row among those taken
        stops = np.full(len(self._cursors), -1)  # the turn in which a stage gave its last row
        found = 0
        for index in range(len(self._cursors)):
            mine = np.flatnonzero(whose == index)
            rows = self._rows_of(index, len(mine), stops, mine)
            taken += rows
            count = sum(map(len, rows))
            numbers[mine[:count]] = np.arange(found, found + count)
            found += count
        kept = numbers[: self._end(whose, stops, numbers)]
        kept = kept[kept >= 0]
        return joined(taken).take(kept) if len(kept) else None

    def _rows_of(self, index: int, count: int, stops: Indices, mine: Indices) -> list[Batch]:
        """Up to `count` rows of one stage, which is restarted if the strategy says so."""
        rows: list[Batch] = []
        missing = count
        while missing and not (self._ended[index] and self._strategy == ONCE):
            cursor = self._cursors[index]
            batch = cursor.take(missing)
            if batch is not None:
                rows.append(batch)
                missing -= len(batch)
            if cursor.ready():
                continue
            if not self._ended[index]:
                self._ended[index] = True
                stops[index] = mine[count - missing - 1] if batch is not None else mine[0] - 1
            if self._strategy != ALL:
                break
            self._cursors[index] = Cursor(self._stages[index])
            if not self._cursors[index].ready():
                break
        return rows

    def _end(self, whose: Indices, stops: Indices, numbers: Indices) -> int:
        """How many of the turns come before the end."""
        if self._strategy == FIRST and any(self._ended):
            self.is_over = True
            ends = [stop for stop, ended in zip(stops.tolist(), self._ended, strict=True) if ended]
            return int(min(ends)) + 1
        if all(self._ended):
            self.is_over = True
            return int(stops.max()) + 1
        return len(whose)
