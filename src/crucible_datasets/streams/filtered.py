"""`filter`: the rows for which a function returns true. They keep their form: Arrow stays Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crucible_datasets.exceptions import ColumnLengthError
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Stage
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.cursor import Cursor
from crucible_datasets.streams.failures import until_error
from crucible_datasets.streams.function_stage import Calling, Made
from crucible_datasets.streams.inputs import BatchBlock, columns_of, rows_of
from crucible_datasets.streams.pacing import Pace


@dataclass(frozen=True, eq=False)
class Filtered(Calling):
    """The rows that match."""

    batched: bool = False
    batch_size: int | None = 1000

    def only(self, names: Sequence[str]) -> Stage:
        asked = self.call.input_columns
        return self if asked is None else self.over([self.source.only(list(dict.fromkeys([*names, *asked])))])

    def taken(self, cursor: Cursor, pace: Pace) -> Batch | None:
        return cursor.batch(self.batch_size if self.batched else pace.size)

    def made(self, batch: Batch, index: int) -> Made:
        kept, error = self._kept(batch, index)
        if not kept:
            return None, error
        return batch if len(kept) == len(batch) else batch.take(kept), error

    def _kept(self, batch: Batch, index: int) -> tuple[list[int], BaseException | None]:
        """The rows that are kept, and the error of the row after them, if any."""
        block = BatchBlock(batch, self.shown)
        answers: Any
        error = None
        if self.batched:
            answers = self.call.of_batch(columns_of(block), range(index, index + len(batch)), batch.names)
            if len(answers) != len(batch):
                raise ColumnLengthError("what the filter returned", len(answers), len(batch))
        else:
            answers, error = until_error(self.call.of_all(rows_of(block), index), len(batch))
            self.call.tell(error, index + len(answers), batch.names)
        block.let_go()
        return [place for place, answer in enumerate(answers) if answer and _is_yes(answer)], error


def _is_yes(answer: Any) -> bool:
    """The truth of a result; an Arrow scalar is truthy whatever its value."""
    return answer is True or bool(answer.as_py() if hasattr(answer, "as_py") else answer)
