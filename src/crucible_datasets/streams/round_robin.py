"""Several stages read round-robin, some rows of each in turn; a stage that has ended is skipped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crucible_datasets.streams.base import Position, Stage
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.cursor import Cursor

Indices = npt.NDArray[np.int64]
_ENDED = False  # the place of a stage that has ended


class Rounds:
    """A cursor over several stages. A turn reads `rows_at_once` rows of one stage, fewer only at its end."""

    def __init__(self, stages: Sequence[Stage], rows_at_once: int, place: Position = None) -> None:
        places, turn = place or ([None] * len(stages), 0)
        self._turn: int = turn
        self._rows_at_once = rows_at_once
        begun = zip(stages, places, strict=True)
        self._cursors = [None if place is _ENDED else Cursor(stage, place) for stage, place in begun]

    @property
    def place(self) -> Position:
        """Where the next turn begins."""
        return [[_ENDED if cursor is None else cursor.place for cursor in self._cursors], self._turn]

    def take(self, num_rows: int) -> tuple[list[Batch], Indices, Indices]:
        """Whole turns until there are `num_rows` rows: the batches, the order of their rows, the ends of turns."""
        pieces: list[Batch] = []
        orders, ends = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        found = 0
        while found < num_rows and (live := self._live()):
            batches, when = self._turns(live, -((found - num_rows) // self._rows_at_once))
            orders.append(np.argsort(when, kind="stable") + found)
            ends.append(np.flatnonzero(np.diff(np.sort(when), append=-1)) + 1 + found)
            pieces += batches
            found += len(when)
        return pieces, np.concatenate(orders), np.concatenate(ends)

    def _live(self) -> list[int]:
        """The stages that may have rows left, in the order of their turns."""
        live = [index for index, cursor in enumerate(self._cursors) if cursor is not None]
        return sorted(live, key=lambda index: (index < self._turn, index))

    def _turns(self, live: list[int], num_turns: int) -> tuple[list[Batch], Indices]:
        """The rows of some turns, and the turn of each row. A stage that ends does not shift the turns of others."""
        rounds, more = divmod(num_turns, len(live))
        batches, when = [], [np.zeros(0, dtype=np.int64)]
        for place, index in enumerate(live):
            batch = self._read(index, (rounds + (place < more)) * self._rows_at_once)
            if batch is not None:
                batches.append(batch)
                when.append(np.arange(len(batch)) // self._rows_at_once * len(live) + place)
        self._turn = live[more]
        return batches, np.concatenate(when)

    def _read(self, index: int, num_rows: int) -> Batch | None:
        cursor = self._cursors[index]
        if cursor is None or not num_rows:
            return None
        batch = cursor.take(num_rows)
        if batch is None or len(batch) < num_rows:
            self._cursors[index] = None
        return batch
