"""Batches of varying schema → Arrow files of one schema.

A batch that cannot be cast losslessly to the types of the current segment starts another one, so every segment holds
the values as they came. At the end all segments are cast to their common schema, so the type of a column does not
depend on the order of rows. Each segment records where its rows came from, so that a conflict can name both origins.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import (
    CastError,
    DatasetGenerationCastError,
    FileCastError,
    SchemaConflictError,
    UnknownTypeError,
    ValueTypeError,
)
from crucible_datasets.features import Features, Json, Value
from crucible_datasets.features.encode import holding, is_plain, recast, widened
from crucible_datasets.features.storage import chunked, storage_type
from crucible_datasets.features.types import any_leaf, is_identical
from crucible_datasets.features.unite import has_json_form, is_lossless, unite
from crucible_datasets.outputs.arrow import ArrowFormatter
from crucible_datasets.records import dataclass
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.table import ArrowTable


@dataclass
class Segment:
    """An Arrow file or a table, its features, and where its rows came from."""

    path: str
    features: Features
    origin: object = None
    num_rows: int = 0
    table: pa.Table | None = None

    def column(self, name: str) -> Iterator[pa.ChunkedArray]:
        """The values of a column, batch by batch."""
        if self.table is None and not self.path:
            return
        table = self.table if self.table is not None else self.stored()
        for batch in table.select([name]).to_batches():
            yield chunked(batch.column(0))

    def stored(self) -> pa.Table:
        """The table in the file; Arrow cuts names of columns at a NUL, so they come from the features of all."""
        table = open_table(self.path, trusted=True)
        return table.rename_columns(list(self.features)) if len(self.features) == table.num_columns else table


class TypedWriter:
    """Writes batches to segment files `{prefix}-0.segment`, …; a new one whenever a type changes."""

    def __init__(self, prefix: str, on_mixed_types: str | None = None) -> None:
        self.prefix, self.on_mixed_types = prefix, on_mixed_types
        self.segments: list[Segment] = []
        self._writer: Any = None
        self._formatter = ArrowFormatter()

    def write(self, table: pa.Table, features: Features, origin: object = None) -> None:
        """Write the rows of a batch of storage types."""
        if self._writer is not None:
            fitted = fitting(table, features, self.segments[-1].features, len(table), self.on_mixed_types)
            if fitted is not None:
                self._append(fitted)
                return
        self.close()
        self.segments.append(Segment(f"{self.prefix}-{len(self.segments)}.segment", features, origin))
        self._writer = pa.ipc.new_stream(self.segments[-1].path, features.arrow_schema)
        self._append(table)

    def _append(self, table: pa.Table) -> None:
        segment = self.segments[-1]
        self._writer.write_table(self._formatter.batch(table, segment.features))
        segment.num_rows += table.num_rows

    def close(self) -> list[Segment]:
        """Finish the last segment; all that were written."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        return self.segments


def fitting(
    table: pa.Table,
    features: Mapping[str, Any],
    target: Mapping[str, Any],
    num_rows: int,
    on_mixed_types: str | None = None,
) -> pa.Table | None:
    """The rows of a batch with the types of a file, nulls for columns that it lacks; None if values would change."""
    if is_identical(features, target):
        return table
    if not all(name in target and _fits_type(features[name], target[name], on_mixed_types) for name in features):
        return None
    try:
        return as_features(table, features, target, on_mixed_types, num_rows)
    except (CastError, ValueTypeError):
        return None


def _fits_type(feature: Any, target: Any, on_mixed_types: str | None) -> bool:
    if isinstance(target, Json) and on_mixed_types is not None:
        return has_json_form(feature)
    return is_lossless(feature, target)


def settle(
    folder: str, segments: Sequence[Segment], features: Features | None = None, on_mixed_types: str | None = None
) -> tuple[list[str], Features]:
    """Cast all segments to one schema and give them their final names `data-00000-of-0000N.arrow` in `folder`."""
    final = features or common_features(segments, on_mixed_types)
    if not segments:
        segments = [_empty(os.path.join(folder, "empty"), final)]
    files = []
    for index, segment in enumerate(segments):
        files.append(os.path.join(folder, f"data-{index:05d}-of-{len(segments):05d}.arrow"))
        with naming_origin(segment.origin):
            _settle_one(segment, final, files[-1], on_mixed_types)
    return files, final


@contextmanager
def naming_origin(origin: object) -> Iterator[None]:
    """A context in which errors of values and types name the file or the function they come from."""
    try:
        yield
    except (CastError, ValueTypeError, UnknownTypeError) as error:
        if origin is None or isinstance(error, FileCastError):
            raise
        if isinstance(error, CastError):
            raise FileCastError(str(origin), error) from error
        raise DatasetGenerationCastError(str(origin), getattr(error, "row", None), str(error)) from error


def common_features(segments: Sequence[Segment], on_mixed_types: str | None = None, keys: str = "json") -> Features:
    """The features that all segments can be cast to: as `united_all`, but where integers do not fit, `Json`."""
    final = united_all(segments, on_mixed_types, keys)
    for segment in segments if on_mixed_types is not None else ():
        for name, feature in segment.features.items():
            if feature != final[name]:
                for column in segment.column(name):
                    final[name] = holding(column, feature, final[name])
    return final


def united_all(segments: Iterable[Segment], on_mixed_types: str | None = None, keys: str = "json") -> Features:
    """The common features of all segments."""
    whole = Segment("", Features())
    for segment in segments:
        whole = Segment("", united(whole, segment, on_mixed_types, keys), segment.origin)
    return whole.features


def united(left: Segment, right: Segment, on_mixed_types: str | None = None, keys: str = "json") -> Features:
    """The common features of both; the error for a conflict names both origins."""
    if not left.features:
        return right.features
    features = dict(left.features)
    for name, feature in right.features.items():
        before = features.get(name, Value("null"))
        try:
            features[name] = unite(before, feature, on_mixed_types, name, keys)
        except CastError as error:
            raise SchemaConflictError(
                name, left.origin, str(before), right.origin, str(feature), error.reason
            ) from error
    return Features(features)


def concatenated(tables: Sequence[pa.Table], on_mixed_types: str | None = None) -> pa.Table:
    """The rows of Arrow tables as one of their common types, extension types included."""
    if all(table.schema.equals(tables[0].schema) for table in tables):
        return pa.concat_tables(tables) if tables else pa.table({})
    segments = [
        Segment("", Features.from_arrow_schema(table.schema), None, len(table), ArrowTable.of(table).table)
        for table in tables
    ]
    features = common_features(segments, on_mixed_types)
    stored = [as_features(segment.table, segment.features, features, "use_json") for segment in segments]
    return ArrowFormatter().batch(pa.concat_tables(stored), features)


def as_features(
    table: pa.Table,
    before: Mapping[str, Any],
    features: Mapping[str, Any],
    on_mixed_types: str | None = None,
    num_rows: int | None = None,
) -> pa.Table:
    """A table with the features `before`, cast to `features` column by column; missing columns are null.

    A table without columns does not know its number of rows.
    """
    num_rows = len(table) if num_rows is None else num_rows
    return pa.table(
        {
            name: as_feature(table[name], before[name], feature, name, on_mixed_types is not None)
            if name in before and before[name] != Value("null")
            else pa.chunked_array([pa.nulls(num_rows, storage_type(feature))])
            for name, feature in features.items()
        }
    )


def as_feature(
    column: pa.ChunkedArray, before: Any, feature: Any, name: str, is_united: bool = False
) -> pa.ChunkedArray:
    """A column of the feature `before` as another one, which the caller chose or, if `is_united`, the values need."""
    if is_identical(before, feature) and is_plain(feature):
        return column
    # A cast to Json parses text as JSON. If types were united instead, values stay as they are: "2" stays text.
    # And what is Json already is not text: a cast of its list would quote every item again.
    are_values = is_united or any_leaf(before, (Json,))
    if before != feature and are_values and any_leaf(feature, (Json,)):
        return widened(chunked(column), before, feature, name)
    return recast(chunked(column), before, feature, name)


def _empty(path: str, features: Features) -> Segment:
    with pa.ipc.new_stream(path, features.arrow_schema):
        return Segment(path, features)


def _settle_one(segment: Segment, final: Features, target: str, on_mixed_types: str | None) -> None:
    if is_identical(segment.features, final):
        os.rename(segment.path, target)
        return
    with pa.ipc.new_stream(target, final.arrow_schema) as writer:
        # A file without columns does not know its number of rows.
        batches = segment.stored().to_batches() if segment.features else [pa.RecordBatch.from_pydict({})]
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            num_rows = len(rows) if segment.features else segment.num_rows
            table = as_features(rows, segment.features, final, on_mixed_types, num_rows)
            writer.write_table(ArrowFormatter().batch(table, final))
    os.unlink(segment.path)
