"""What a user's function gets: rows or batches that decode a column on first access.

The rows are those of `ops.mapping.lazy`, over a batch of a stream instead of a block of a dataset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, cast

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.features.batch_decode import is_media
from crucible_datasets.features.decode import decoder
from crucible_datasets.forking import cached_property
from crucible_datasets.ops.mapping import lazy
from crucible_datasets.ops.mapping.blocks import Columns
from crucible_datasets.ops.mapping.change_detection import Trace, decoded, is_unchanged, trace
from crucible_datasets.ops.mapping.lazy import UNREAD, LazyRow
from crucible_datasets.ops.mapping.lazy_media import OnDemand
from crucible_datasets.outputs import pylists
from crucible_datasets.outputs.base import Format, Formatter, Output
from crucible_datasets.outputs.tensors import TensorFormatter
from crucible_datasets.records import dataclass
from crucible_datasets.streams.batch import Batch


@dataclass(frozen=True)
class Shown:
    """How the rows of a stream are shown: its format, and what is needed to apply it."""

    format: Format

    @cached_property
    def output(self) -> Output:
        return self.format.output

    @cached_property
    def formatter(self) -> Formatter:
        return self.format.formatter()

    @cached_property
    def is_python(self) -> bool:
        return self.output.name == "python"

    @property
    def is_frame(self) -> bool:
        """Whether rows and batches are tables or data frames."""
        return not self.output.mapping

    def value(self, value: Any) -> Any:
        """A Python value as the format shows it."""
        return self.formatter.nested(value) if isinstance(self.formatter, TensorFormatter) else value

    def column(self, values: Iterable[Any]) -> Any:
        """Python values as a column of a batch, as the format shows them."""
        if not isinstance(self.formatter, TensorFormatter):
            return values
        # Formatted twice, as in Hugging Face `datasets`: numpy floats have 64 bits after one pass, 32 after two.
        return self.formatter.gathered([self.value(self.value(value)) for value in values])

    def __getstate__(self) -> dict[str, Any]:
        return {"format": self.format}


class BatchBlock(Columns):
    """A batch as lazy rows see it: `values` of a column for rows, `column` for the whole batch.

    In-place changes that a batched function makes inside of the columns in `kept` are detected.
    """

    def __init__(self, batch: Batch, shown: Shown, kept: Sequence[str] = ()) -> None:
        super().__init__(batch.names if batch.table is None else list(batch.features or ()))
        self.given, self.shown, self.kept = batch, shown, kept
        self.brought: set[str] = set()  # columns that come from Python rows of the batch
        self._traces: dict[str, Trace] = {}  # columns as they were handed out, to detect changes

    def __len__(self) -> int:
        return len(self.given)

    def let_go(self) -> None:
        """Forget the rows that were handed out, which refer to this block."""
        lazy.let_go(self)

    def first(self, num_rows: int) -> BatchBlock:
        """The first rows, with the columns decoded so far."""
        block = BatchBlock(self.given.slice(0, num_rows), self.shown)
        block.decoded = {name: values[:num_rows] for name, values in self.decoded.items()}
        return block

    def brings(self, made: Sequence[Any]) -> bool:
        """Whether earlier results have the same keys in all rows; if so, they become columns of the block.

        Then row objects that the function does not keep can be reused, which takes a third of the time of new ones.
        """
        names = list(made[0]) if made else []
        if set(map(len, made)) != {len(names)}:
            return False
        try:
            columns = {name: list(map(itemgetter(name), made)) for name in names}
        except KeyError:
            return False
        self.names = list(dict.fromkeys([*self.names, *names]))
        self.brought, self.decoded = set(names), self.decoded | columns
        return True

    def _values(self, name: str) -> list[Any]:
        table, features = cast(pa.Table, self.given.table), cast(Features, self.given.features)
        feature, formatter = features[name], self.shown.formatter
        if is_media(feature) and decoder(feature) and (self.shown.is_python or isinstance(formatter, TensorFormatter)):
            show = None if self.shown.is_python else self.shown.value
            return OnDemand(pylists.column_of(table.column(name)), feature, name, show=show)  # type: ignore[return-value]
        if not self.shown.is_python:
            only = Features({name: feature})
            return [row[name] for row in self.shown.formatter.rows(table.select([name]), only)]
        values, decode = pylists.column_of(table.column(name)), decoder(feature)
        return [decode(value) for value in values] if decode else values

    def show(self, names: Iterable[str], as_columns: bool = False) -> None:
        """Decode all columns, also untouched ones, if the format shows tensors.

        Hugging Face `datasets` passes on rows as its functions got them, so a null among numbers is NaN from there on.
        """
        if isinstance(self.shown.formatter, TensorFormatter) and self.given.table is not None:
            features = self.given.features or Features()
            for name in names:
                if name in features and name not in self.decoded and not decoder(features[name]):
                    self.decoded[name] = list(self.column(name)) if as_columns else self._values(name)

    def _column(self, name: str) -> Any:
        batch, shown = self.given, self.shown
        plain = batch.made is None and batch.table is not None and batch.features is not None
        if not shown.is_python and plain:
            only = Features({name: batch.features[name]})  # type: ignore[index]
            return shown.formatter.batch(batch.table.select([name]), only)[name]  # type: ignore[union-attr]
        if not shown.is_python:
            return shown.column(batch.column(name))
        if name not in self.kept:
            return batch.column(name)
        feature = (batch.features or Features()).get(name)
        if plain and not decoder(feature):
            values, self._traces[name] = decoded(batch.table.column(name))  # type: ignore[union-attr]
            return values
        values = batch.column(name)
        if not is_media(feature):
            self._traces[name] = trace(values)
        return values

    def changed(self) -> dict[str, Any]:
        """The columns of the batch that the function changed in place."""
        read = [name for name in self.kept if name in self._traces]
        return {name: self.columns[name] for name in read if not is_unchanged(self._traces[name], self.columns[name])}


def rows_of(block: BatchBlock) -> Iterable[Any]:
    """The rows of a block; a row that is still referenced is never reused."""
    batch, shown = block.given, block.shown
    if shown.is_frame:
        typed = batch.typed()
        return shown.formatter.rows(typed.table, typed.features)  # type: ignore[arg-type]
    if batch.table is None:
        return [_own(row, shown) for row in batch.made or ()]
    if batch.made is None or (shown.is_python and block.brings(batch.made)):
        return lazy.rows_of(block)
    return _rows_with(block, batch.made)


def _rows_with(block: BatchBlock, made: Sequence[Any]) -> Iterator[LazyRow]:
    """Lazy rows that hold what was made for each."""
    template, put = dict.fromkeys(block.names, UNREAD), dict.update
    for place, new in enumerate(made):
        row = LazyRow(template)
        put(row, new if block.shown.is_python else _own(new, block.shown))
        row.block, row.place = block, place
        yield row


def _own(row: Any, shown: Shown) -> Any:
    if not isinstance(row, dict):
        return row
    return dict(row) if shown.is_python else {name: shown.value(value) for name, value in row.items()}


def columns_of(block: BatchBlock) -> Any:
    """A block as a batch of columns."""
    batch, shown = block.given, block.shown
    if shown.is_frame:
        typed = batch.typed()
        return shown.formatter.batch(typed.table, typed.features)  # type: ignore[arg-type]
    block.names = batch.names
    return lazy.batch_of(block)
