"""`map`: a function applied to each row, or to each batch of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import ArgumentTypeError, ColumnLengthError, RowCountError
from crucible_datasets.features import ClassLabel, Features, Value
from crucible_datasets.features.frames import arrow_of_pandas, arrow_of_polars
from crucible_datasets.features.storage import chunked
from crucible_datasets.ops.mapping.lazy import UNREAD, BatchTwin, Lazy, RowTwin
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position, forwarded
from crucible_datasets.streams.batch import Batch, joined
from crucible_datasets.streams.calls import Call
from crucible_datasets.streams.cursor import Cursor
from crucible_datasets.streams.failures import until_error
from crucible_datasets.streams.function_stage import Calling, Made
from crucible_datasets.streams.inputs import BatchBlock, columns_of, rows_of
from crucible_datasets.streams.pacing import Pace

_UNCHANGING = (Value, ClassLabel)


@dataclass(frozen=True, eq=False)
class Mapped(Calling):
    """Each row updated with what the function returned for it."""

    removed: tuple[str, ...] = ()

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        place, index = at or (None, 0)
        place, left = forwarded(self.source, place, num_rows)
        return [place, index + num_rows - left], left

    @property
    def rows_each(self) -> int | None:
        return None if self.call.with_indices else 1

    def place_below(self, place: Position) -> Position:
        position, used = place or (None, 0)
        below, earlier = (position or (None, 0))[0] or (None, 0)
        return [below, earlier + used]

    def made(self, batch: Batch, index: int) -> Made:
        block = BatchBlock(batch, self.shown)
        inputs = rows_of(block)
        results, error = until_error(self.call.of_all(inputs, index), len(batch))
        block.let_go()
        self.call.tell(error, index + len(results), batch.names)
        if not results:
            return None, error
        if error is not None:
            block = block.first(len(results))
        block.show(name for name in block.names if name not in self.removed)
        if self.shown.is_frame:
            return joined([_of_frame(result, self.call, self.removed) for result in results]), error
        if isinstance(inputs, list) or set(map(type, results)) != {dict}:
            given = inputs if isinstance(inputs, list) else repeat(None)
            pairs = zip(results, given, strict=False)
            results = [_returned(result, self.call, self.removed, own) for result, own in pairs]
        return with_results(block, results, self.removed), error


@dataclass(frozen=True, eq=False)
class MappedBatches(Calling):
    """The rows that the function returned for each batch."""

    removed: tuple[str, ...] = ()
    batch_size: int | None = 1000
    drop_last_batch: bool = False

    def taken(self, cursor: Cursor, pace: Pace) -> Batch | None:
        batch = cursor.batch(self.batch_size)
        is_short = batch is not None and len(batch) < (self.batch_size or 0)
        return None if is_short and self.drop_last_batch else batch

    def made(self, batch: Batch, index: int) -> Made:
        made = self._rows_of(batch, index)
        return made if len(made) else None, None

    def _rows_of(self, batch: Batch, index: int) -> Batch:
        batch = batch.even()
        before = [name for name in batch.names if name not in self.removed]
        block = BatchBlock(batch, self.shown, before)
        result = self.call.of_batch(columns_of(block), range(index, index + len(batch)), batch.names)
        block.let_go()
        if self.shown.is_frame:
            return _of_frame(result, self.call, self.removed)
        columns = {**block.changed(), **_returned(result, self.call, self.removed)}
        num_rows = _equal_length(columns)
        kept = [name for name in before if name not in columns]
        if num_rows is None:
            num_rows = len(batch) if kept else 0
        if kept and num_rows != len(batch):
            raise RowCountError(next(iter(columns)), num_rows, len(batch), kept)
        if not kept:
            return Batch.of_rows(_rows({name: columns[name] for name in dict.fromkeys([*before, *columns])}, num_rows))
        block.show(kept, as_columns=True)
        return with_results(block, _rows(columns, num_rows), self.removed)


def with_results(block: BatchBlock, results: Sequence[dict[str, Any]], removed: Sequence[str]) -> Batch:
    """The rows of a block, without removed columns and with the function's results.

    Columns of lists and dicts that were decoded stay decoded, since the function may have changed them in place.
    Strings and numbers are immutable, so they stay Arrow.
    """
    before = block.given.without(removed) if removed else block.given
    if before.table is None or before.features is None:
        return Batch.of_rows([{**old, **new} for old, new in zip(before.made or (), results, strict=True)])
    kept = {name for name, feature in before.features.items() if block.shown.is_python and type(feature) in _UNCHANGING}
    read = [name for name in block.decoded if name in before.features and name not in kept | block.brought]
    made: Sequence[Mapping[str, Any]] = results
    if before.made is not None:
        made = [{**old, **new} for old, new in zip(before.made, made, strict=True)]
    for name in reversed(read):
        made = [{name: value, **new} for value, new in zip(block.decoded[name], made, strict=True)]
    return hidden(Batch(before.table, before.features, made), read)


def hidden(batch: Batch, names: Sequence[str]) -> Batch:
    """The batch with placeholders for the columns that every row sets itself, to keep their order."""
    table, features = batch.table, batch.features
    if table is None or features is None or not names:
        return batch
    nothing = chunked(pa.nulls(len(batch)))
    columns = {name: nothing if name in names else table.column(name) for name in features}
    kinds = Features({name: Value("null") if name in names else kind for name, kind in features.items()})
    return Batch(pa.table(columns), kinds, batch.made)


def _returned(result: Any, call: Call, removed: Sequence[str], given: Any = None) -> dict[str, Any]:
    """The result of a function as a plain dict; of a lazy row, the columns that were read or set.

    Removed columns are dropped from the row itself, but kept if the function returned them in a new dict.
    """
    if type(result) is dict:
        return result if result is not given else {name: result[name] for name in result if name not in removed}
    if isinstance(result, (RowTwin, BatchTwin)):
        return {name: result[name] for name, value in dict.items(result) if value is not UNREAD or name in removed}
    if isinstance(result, Lazy):
        held = dict.items(result)
        return {name: value for name, value in held if value is not UNREAD and name not in removed}
    if not isinstance(result, Mapping):
        reason = f"it returned {type(result).__name__}, but a function for map returns a dict."
        raise ArgumentTypeError("function", call.name, reason)
    return dict(result)


def _equal_length(columns: Mapping[str, Any]) -> int | None:
    length = None
    for name, values in columns.items():
        if length is not None and len(values) != length:
            raise ColumnLengthError(name, len(values), length)
        length = len(values)
    return length


def _rows(columns: Mapping[str, Any], num_rows: int) -> list[dict[str, Any]]:
    if not columns:
        return [{} for _ in range(num_rows)]
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _of_frame(result: Any, call: Call, removed: Sequence[str]) -> Batch:
    """A table or data frame that a function returned."""
    if hasattr(result, "to_arrow") and not isinstance(result, (pa.Table, pa.RecordBatch)):
        result = arrow_of_polars(result, on_mixed_types="use_json")
    elif type(result).__module__.split(".")[0] == "pandas":
        result = arrow_of_pandas(result, preserve_index=False, on_mixed_types="use_json")
    if isinstance(result, pa.RecordBatch):
        result = pa.Table.from_batches([result])
    if not isinstance(result, pa.Table):
        reason = f"it returned {type(result).__name__}, but it got a table and must return a table or data frame."
        raise ArgumentTypeError("function", call.name, reason)
    return Batch.of_arrow(result).without(removed)
