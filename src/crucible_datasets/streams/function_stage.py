"""The base of stages that call a user's function: read rows, call, and stop where the function fails."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position, Step, Unpacked
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.calls import Call
from crucible_datasets.streams.cursor import Cursor
from crucible_datasets.streams.inputs import Shown
from crucible_datasets.streams.pacing import Pace

Made = tuple[Batch | None, BaseException | None]


@dataclass(frozen=True, eq=False)
class Calling(Unpacked, Step):
    """A step that calls a function with rows or batches of them. A position is `[place below, rows read]`."""

    call: Call
    shown: Shown

    @property
    def hands_tables(self) -> bool:
        return self.shown.is_frame

    @property
    def numbers_rows(self) -> bool:
        return self.call.with_indices

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        place, index = at or (None, 0)
        cursor, pace = Cursor(self.source, place), self.call.pace()
        while cursor.ready():
            position = [cursor.place, index]
            batch = self.taken(cursor, pace)
            if batch is None:
                return
            with pace:
                made, error = self.made(batch, index)
            if made is not None:
                yield position, made
            if error is not None:
                raise error
            index += len(batch)

    def taken(self, cursor: Cursor, pace: Pace) -> Batch | None:
        """The next rows; None at the end."""
        return cursor.take(pace.size)

    @abstractmethod
    def made(self, batch: Batch, index: int) -> Made:
        """The result for rows, the first of which has number `index`, and the error of the row after them, if any."""
