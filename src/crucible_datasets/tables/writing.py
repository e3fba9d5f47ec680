"""Batches of varying schema → Arrow files of one schema.

A batch whose types do not fit the current segment starts another one. At the end all segments are cast to their common
schema, so the type of a column does not depend on the order of rows. Each segment records where its rows came from, so
that a conflict can name both origins.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import (
    CastError,
    DatasetGenerationCastError,
    SchemaConflictError,
    UnknownTypeError,
    ValueTypeError,
)
from crucible_datasets.features import Features, Json, Value
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.encode import is_plain, recast
from crucible_datasets.features.infer import encoded_exactly
from crucible_datasets.features.storage import chunked, storage_type
from crucible_datasets.features.types import any_leaf
from crucible_datasets.features.unite import unite
from crucible_datasets.outputs.arrow import ArrowFormatter
from crucible_datasets.records import dataclass
from crucible_datasets.tables.files import open_table


@dataclass
class Segment:
    """An Arrow file, its features, and where its rows came from."""

    path: str
    features: Features
    origin: object = None
    num_rows: int = 0


class TypedWriter:
    """Writes batches to segment files `{prefix}-0.segment`, …; a new one whenever the types must widen."""

    def __init__(self, prefix: str, on_mixed_types: str | None = None) -> None:
        self.prefix, self.on_mixed_types = prefix, on_mixed_types
        self.segments: list[Segment] = []
        self._writer: Any = None
        self._formatter = ArrowFormatter()

    def write(self, table: pa.Table, features: Features, origin: object = None) -> None:
        """Write the rows of a batch of storage types."""
        known = self.segments[-1] if self.segments else Segment("", Features(), origin)
        if self._writer is not None and _are_alike(features, known.features):
            self._append(table, known)
            return
        grown = united(known, Segment("", features, origin), self.on_mixed_types)
        if self._writer is None or grown != known.features:
            self.close()
            known = Segment(f"{self.prefix}-{len(self.segments)}.segment", grown, origin)
            self.segments.append(known)
            self._writer = pa.ipc.new_stream(known.path, grown.arrow_schema)
        self._append(as_features(table, features, grown, self.on_mixed_types), known)

    def _append(self, table: pa.Table, segment: Segment) -> None:
        self._writer.write_table(self._formatter.batch(table, segment.features))
        segment.num_rows += table.num_rows

    def close(self) -> list[Segment]:
        """Finish the last segment; all that were written."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        return self.segments


def _are_alike(found: Features, wanted: Features) -> bool:
    """Whether a table with one set of features can be used as one with the other without a cast."""
    return list(found.items()) == list(wanted.items()) and all(map(is_plain, found.values()))


def settle(
    folder: str, segments: Sequence[Segment], features: Features | None = None, on_mixed_types: str | None = None
) -> tuple[list[str], Features]:
    """Cast all segments to one schema and give them their final names `data-00000-of-0000N.arrow` in `folder`."""
    final = features or united_all(segments, on_mixed_types)
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
        if origin is None:
            raise
        raise DatasetGenerationCastError(str(origin), getattr(error, "row", None), str(error)) from error


def united_all(segments: Iterable[Segment], on_mixed_types: str | None = None) -> Features:
    """The common features of all segments."""
    whole = Segment("", Features())
    for segment in segments:
        whole = Segment("", united(whole, segment, on_mixed_types), segment.origin)
    return whole.features


def united(left: Segment, right: Segment, on_mixed_types: str | None = None) -> Features:
    """The common features of both; the error for a conflict names both origins."""
    if not left.features:
        return right.features
    features = dict(left.features)
    for name, feature in right.features.items():
        before = features.get(name, Value("null"))
        try:
            features[name] = unite(before, feature, on_mixed_types, name)
        except CastError as error:
            raise SchemaConflictError(name, left.origin, str(before), right.origin, str(feature)) from error
    return Features(features)


def as_features(table: pa.Table, found: Features, wanted: Features, on_mixed_types: str | None = None) -> pa.Table:
    """A table with the features `found`, cast to `wanted`; missing columns are null."""
    return pa.table(
        {
            name: _as_feature(table[name], found[name], kind, name, on_mixed_types)
            if name in found and found[name] != Value("null")
            else pa.chunked_array([pa.nulls(len(table), storage_type(kind))])
            for name, kind in wanted.items()
        }
    )


def _as_feature(
    column: pa.ChunkedArray, found: Any, wanted: Any, name: str, on_mixed_types: str | None
) -> pa.ChunkedArray:
    # A cast to Json parses text as JSON. If types were united instead, values stay as they are: "2" stays text.
    # And what is Json already is not text: a cast of its list would quote every item again.
    is_meant_as_it_is = on_mixed_types is not None or any_leaf(found, (Json,))
    if found != wanted and is_meant_as_it_is and any_leaf(wanted, (Json,)):
        decode = decoder(found)
        values = column.to_pylist()
        return encoded_exactly([decode(value) for value in values] if decode else values, wanted, name)
    return recast(chunked(column), found, wanted, name)


def _empty(path: str, features: Features) -> Segment:
    with pa.ipc.new_stream(path, features.arrow_schema):
        return Segment(path, features)


def _settle_one(segment: Segment, final: Features, target: str, on_mixed_types: str | None) -> None:
    # Features compare equal in any order of columns and fields; Arrow types do not.
    if segment.features == final and segment.features.type == final.type:
        os.rename(segment.path, target)
        return
    with pa.ipc.new_stream(target, final.arrow_schema) as writer:
        for batch in open_table(segment.path, trusted=True).to_batches():
            table = as_features(pa.Table.from_batches([batch]), segment.features, final, on_mixed_types)
            writer.write_table(ArrowFormatter().batch(table, final))
    os.unlink(segment.path)
