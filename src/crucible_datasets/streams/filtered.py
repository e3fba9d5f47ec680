"""`filter`: the rows that a function says yes to. They stay what they were: Arrow stays Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from crucible_datasets.exceptions import ColumnLengthError
from crucible_datasets.ops.mapping.asynchronous import Loop
from crucible_datasets.streams.base import Position, Stage, Step, Unpacked
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.calls import Call
from crucible_datasets.streams.cursor import Cursor
from crucible_datasets.streams.failures import until_error
from crucible_datasets.streams.inputs import BatchBlock, Shown, columns_of, rows_of


@dataclass(frozen=True, eq=False)
class Filtered(Unpacked, Step):
    """The rows that match. A position is `[place below, rows read]`."""

    call: Call
    shown: Shown
    batched: bool = False
    batch_size: int | None = 1000

    @property
    def hands_tables(self) -> bool:
        return self.shown.is_frame

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        place, index = at or (None, 0)
        cursor, pace = Cursor(self.source, place), self.call.pace()
        with closing(Loop()) as loop:
            while cursor.ready():
                position = [cursor.place, index]
                size = (self.batch_size or 0) if self.batched else pace.size
                batch = cursor.take(size) if size > 0 else cursor.rest()
                if batch is None:
                    return
                with pace:
                    kept, error = self._kept(batch, index, loop)
                if kept:
                    yield position, batch if len(kept) == len(batch) else batch.take(kept)
                if error is not None:
                    raise error
                index += len(batch)

    def only(self, names: Sequence[str]) -> Stage:
        asked = self.call.input_columns
        return self if asked is None else self.over([self.source.only(list(dict.fromkeys([*names, *asked])))])

    def _kept(self, batch: Batch, index: int, loop: Loop) -> tuple[list[int], BaseException | None]:
        """The rows that are kept, and the error in the row behind those that were asked about."""
        block = BatchBlock(batch, self.shown)
        answers: Any
        error = None
        if self.batched:
            answers = self.call.of_batch(columns_of(block), range(index, index + len(batch)), batch.names, loop)
            if len(answers) != len(batch):
                raise ColumnLengthError("what the filter returned", len(answers), len(batch))
        else:
            answers, error = until_error(self.call.of_all(rows_of(block), index, loop), len(batch))
            self.call.tell(error, index + len(answers), batch.names)
        block.let_go()
        return [place for place, answer in enumerate(answers) if answer and _is_yes(answer)], error


def _is_yes(answer: Any) -> bool:
    """Whether an answer means yes; a scalar of Arrow is true whatever it holds."""
    return answer is True or bool(answer.as_py() if hasattr(answer, "as_py") else answer)
