"""`Cursor`: reads the rows of a stage in chunks of any length, and always knows its position."""

from __future__ import annotations

from collections.abc import Iterator

from crucible_datasets.streams.base import Position, Stage
from crucible_datasets.streams.batch import Batch, joined


class Cursor:
    """A place in a stage. `place` is a JSON value from which another cursor continues with the next row."""

    def __init__(self, stage: Stage, place: Position = None) -> None:
        self._stage = stage
        self._begin(*(place or (None, 0)))

    def _begin(self, position: Position, used: int) -> None:
        self._position, self._used = position, used
        self._batches: Iterator[tuple[Position, Batch]] = self._stage.batches(position)
        self._batch: Batch | None = None

    @property
    def place(self) -> list[Position]:
        """Where the next row is."""
        return [self._position, self._used]

    def ready(self) -> bool:
        """Whether there is another row. If so, it is in the current batch, and `place` is as close to it as can be."""
        while self._batch is None or self._used >= len(self._batch):
            before = len(self._batch) if self._batch is not None else 0
            found = next(self._batches, None)
            if found is None:
                return False
            self._position, self._batch = found
            self._used -= before
        return True

    def next(self) -> Batch | None:
        """The rest of the current batch, or else the next batch; None at the end."""
        return self.take(len(self._batch) - self._used if self.ready() and self._batch else 0)

    def take(self, num_rows: int) -> Batch | None:
        """The next `num_rows` rows, fewer only at the end of the stage; None if there are none."""
        pieces: list[Batch] = []
        while num_rows > 0 and self.ready() and self._batch is not None:
            pieces.append(self._batch.slice(self._used, num_rows))
            self._used += len(pieces[-1])
            num_rows -= len(pieces[-1])
        return joined(pieces) if pieces else None

    def batch(self, size: int | None) -> Batch | None:
        """The next batch of this size; if it is None or 0, all remaining rows."""
        return self.take(size) if size and size > 0 else self.rest()

    def rest(self) -> Batch | None:
        """All remaining rows, as one batch."""
        pieces: list[Batch] = []
        while (piece := self.next()) is not None:
            pieces.append(piece)
        return joined(pieces) if pieces else None

    def skip(self, num_rows: int) -> None:
        """Skip the next `num_rows` rows, without reading them where the stage knows row counts."""
        at_hand = 0 if self._batch is None else len(self._batch) - self._used
        if num_rows < at_hand:
            self._used += num_rows
        elif num_rows > 0:
            self._begin(*self._stage.forward(self._position, self._used + num_rows))
