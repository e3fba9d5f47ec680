"""Make a view from Python objects, data frames and Arrow files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import (
    ArgumentError,
    CastError,
    ColumnLengthError,
    ColumnNamesError,
    FeaturesMismatchError,
)
from crucible_datasets.features import Features, Value
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.frames import arrow_of_pandas, arrow_of_polars
from crucible_datasets.features.infer import infer_column
from crucible_datasets.features.storage import chunked, plain, storage_type
from crucible_datasets.features.types import is_identical
from crucible_datasets.features.unite import adopt, json_for_other_keys
from crucible_datasets.fingerprint import Fingerprint
from crucible_datasets.formats.arrow import features_in
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops import rows
from crucible_datasets.ops.combine import concatenate
from crucible_datasets.splits import NamedSplit
from crucible_datasets.tables.files import open_table, read_ipc
from crucible_datasets.tables.table import ArrowTable, Table
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import as_features


def view_of(
    table: pa.Table,
    features: Features,
    info: DatasetInfo | None = None,
    split: str | NamedSplit | None = None,
    files: tuple[str, ...] = (),
    fingerprint: Fingerprint | None = None,
) -> View:
    """A view over a whole Arrow table."""
    info = replace(info, features=features) if info is not None else DatasetInfo(features=features)
    named = None if split is None else split if isinstance(split, NamedSplit) else NamedSplit(str(split))
    return View.of(table, features, files, info=info, split=named, fingerprint=fingerprint)


def agreed_features(features: Mapping[str, Any] | None, info: DatasetInfo | None) -> Features | None:
    """The features that the caller gave, directly or in `info`."""
    stated = info.features if info is not None else None
    if features is None:
        return stated
    features = Features(features)
    if stated is not None and stated != features:
        raise ArgumentError("features", features, f"info.features says otherwise: {stated}.")
    return features


def from_table(
    table: pa.Table,
    info: DatasetInfo | None = None,
    split: str | NamedSplit | None = None,
    files: tuple[str, ...] = (),
    fingerprint: Fingerprint | None = None,
) -> View:
    """An Arrow table, with the features of `info`, or of its schema's metadata, or of its types."""
    found = features_in(files[0], table.schema) if files else Features.from_arrow_schema(table.schema)
    if len(found) < table.num_columns:
        raise ColumnNamesError(table.column_names, found, "two columns of the table have the same name")
    wanted = info.features if info is not None and info.features is not None else found
    if set(wanted) != set(found):
        raise FeaturesMismatchError(wanted, found)
    # Fields are in the order in which the table has them.
    features = Features({name: found[name] if wanted[name] == found[name] else wanted[name] for name in found})
    if not is_identical(features, found):
        _same_storage(table, features, found)
    return view_of(table, features, info, split, files, fingerprint)


def _same_storage(table: pa.Table, wanted: Features, found: Features) -> None:
    for name, feature in wanted.items():
        if plain(table.schema.field(name).type) != storage_type(feature):
            raise FeaturesMismatchError(
                wanted, found, f"Column {name!r} is {found[name]}, but the features say {feature}"
            )


def from_columns(
    mapping: Mapping[str, Any],
    features: Mapping[str, Any] | None = None,
    info: DatasetInfo | None = None,
    split: str | NamedSplit | None = None,
    on_mixed_types: str | None = None,
) -> View:
    """Columns by name: lists, arrays, tensors, Arrow arrays."""
    wanted = agreed_features(features, info)
    if on_mixed_types not in (None, "use_json"):
        raise ArgumentError("on_mixed_types", on_mixed_types, "expected None or 'use_json'.")
    if wanted is not None and set(mapping) != set(wanted):
        raise FeaturesMismatchError(wanted, mapping)
    columns: dict[str, pa.ChunkedArray] = {}
    found: dict[str, Any] = {}
    for name in mapping:
        if wanted is None:
            columns[name], found[name] = infer_column(mapping[name], name, on_mixed_types)
        else:
            columns[name], found[name] = _typed(mapping[name], wanted[name], name), wanted[name]
    for name, column in columns.items():
        expected = len(next(iter(columns.values())))
        if len(column) != expected:
            raise ColumnLengthError(name, len(column), expected)
    return view_of(pa.table(columns), Features(found), info, split)


def _typed(values: Any, feature: Any, name: str) -> pa.ChunkedArray:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return cast_column(chunked(values), feature, name)
    return column_of(values, feature, name)


def from_rows(
    items: Sequence[Mapping[str, Any]],
    features: Mapping[str, Any] | None = None,
    info: DatasetInfo | None = None,
    split: str | NamedSplit | None = None,
    on_mixed_types: str | None = None,
) -> View:
    """Rows as mappings; a column for every key, or for every feature, which must include all keys."""
    wanted = agreed_features(features, info)
    names = names_of(items, wanted)
    columns = {name: values_of(items, name) for name in names}
    return from_columns(columns, features, info, split, on_mixed_types)


def values_of(items: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """One column of the rows; None where a row lacks it."""
    try:
        return list(map(itemgetter(name), items))
    except KeyError:
        return [item.get(name) for item in items]


def table_of(rows: list[Mapping[str, Any]], features: Features | None) -> tuple[pa.Table, Features]:
    """Rows as a table of the given features, or of inferred ones."""
    names = names_of(rows, features)
    columns: dict[str, pa.ChunkedArray] = {}
    kinds: dict[str, Any] = {}
    for name in names:
        values = values_of(rows, name)
        if features is None:
            columns[name], kinds[name] = infer_column(values, name, "use_json")
        else:
            columns[name], kinds[name] = column_of(values, features[name], name), features[name]
    return pa.table(columns), Features(kinds)


def names_of(rows: Sequence[Mapping[str, Any]], features: Features | None) -> Iterable[str]:
    """The columns of rows: every key, in the order of its first appearance, or all features, if they have every key."""
    # A set is quicker than comparing row by row.
    names = set().union(*rows)
    if features is not None and not names <= features.keys():
        row = next(row for row, item in enumerate(rows) if not item.keys() <= features.keys())
        raise FeaturesMismatchError([*features], [*rows[row]], "A row has keys that the features lack", row)
    if features is not None and names != features.keys():
        return features
    # As many distinct keys as the first row has: all rows share them.
    is_alike = rows and len(names) == len(rows[0])
    return rows[0] if is_alike else dict.fromkeys(name for row in rows for name in row)


def from_frame(
    table: pa.Table,
    features: Mapping[str, Any] | None = None,
    info: DatasetInfo | None = None,
    split: str | NamedSplit | None = None,
) -> View:
    """The Arrow table of a data frame, cast to the features if any are given."""
    wanted = agreed_features(features, info)
    types = Features.from_arrow_schema(table.schema)
    if wanted is None:
        return view_of(table, types, info, split)
    if set(wanted) != set(table.column_names):
        raise FeaturesMismatchError(wanted, table.column_names)
    # Text of a frame is a value, as in a list: in a column of `Json` it stays text.
    return view_of(as_features(ArrowTable.of(table).table, types, wanted, "use_json"), wanted, info, split)


def from_pandas(
    frame: Any,
    features: Mapping[str, Any] | None = None,
    info: DatasetInfo | None = None,
    split: str | NamedSplit | None = None,
    preserve_index: bool | None = None,
) -> View:
    """The rows of a pandas data frame."""
    table = arrow_of_pandas(frame, preserve_index, agreed_features(features, info))
    return from_frame(table, features, info, split)


def from_polars(
    frame: Any,
    features: Mapping[str, Any] | None = None,
    info: DatasetInfo | None = None,
    split: str | NamedSplit | None = None,
) -> View:
    """The rows of a Polars data frame; a lazy one is collected."""
    frame = frame.collect() if hasattr(frame, "collect") else frame
    return from_frame(arrow_of_polars(frame, agreed_features(features, info)), features, info, split)


def arrow_of_spark(frame: Any) -> pa.Table:
    """The rows of a Spark data frame; older versions convert via pandas."""
    return frame.toArrow() if hasattr(frame, "toArrow") else arrow_of_pandas(frame.toPandas())


def from_arrow(
    table: pa.Table | Table,
    info: DatasetInfo | None = None,
    split: str | NamedSplit | None = None,
    indices: pa.Table | Table | None = None,
    fingerprint: str | None = None,
) -> View:
    """An Arrow table seen through a table of row indices, if one is given."""
    arrow = _arrow_table(table)
    files = table.files if isinstance(table, ArrowTable) else ()
    view = from_table(arrow, info, split, files, Fingerprint.fixed(fingerprint) if fingerprint else None)
    return view if indices is None else rows.select(view, _arrow_table(indices).column(0), fingerprint)


def _arrow_table(table: Any) -> pa.Table:
    if isinstance(table, pa.Table):
        return table
    if isinstance(getattr(table, "table", None), pa.Table):
        return table.table
    raise TypeError(f"Expected a pyarrow.Table, not {type(table).__name__}. Dataset.from_dict takes columns.")


def from_file(
    path: str | os.PathLike[str],
    info: DatasetInfo | None = None,
    split: str | NamedSplit | None = None,
    indices_path: str | os.PathLike[str] | None = None,
    in_memory: bool = False,
) -> View:
    """An Arrow file seen through a file of row indices, if one is given."""
    name = os.fspath(path)
    table = open_table(name, in_memory)
    view = from_table(table, info, split, () if in_memory else (name,), Fingerprint.of_file(name))
    view = replace(view, media_roots=(os.path.dirname(os.path.abspath(name)),))
    return view if indices_path is None else rows.select(view, open_table(indices_path).column(0))


def from_buffer(
    buffer: Any, info: DatasetInfo | None = None, split: str | NamedSplit | None = None, indices: Any = None
) -> View:
    """Arrow data in memory, seen through a buffer of row indices, if one is given."""
    view = from_table(read_ipc(buffer), info, split)
    return view if indices is None else rows.select(view, read_ipc(indices).column(0))


def with_item(view: View, item: Mapping[str, Any], fingerprint: str | None = None) -> View:
    """One more row at the end; columns that it lacks are null in it, new columns are null in the rows before."""
    if not item:
        return view
    columns: dict[str, pa.ChunkedArray] = {}
    kinds: dict[str, Any] = {}
    for name, value in {**dict.fromkeys(view.features), **item}.items():
        _, found = infer_column([value], name, "use_json")
        before = view.features.get(name, Value("null"))
        if isinstance(before, Value) and before.dtype != "null" and isinstance(value, (dict, list, tuple)):
            raise CastError(name, str(found), str(before), "the column holds single values.", len(view))
        kinds[name] = json_for_other_keys(adopt(before, found), found, name)
        columns[name] = column_of([value], kinds[name], name)
    widened = {name: kinds[name] for name, feature in view.features.items() if kinds[name] != feature}
    if widened:
        table = as_features(view.read(columns=list(widened)), view.features, widened, "use_json")
        view = view.with_columns({name: (table[name], widened[name]) for name in widened}, view.fingerprint)
    info = replace(view.info, features=None)
    added = concatenate([view, view_of(pa.table(columns), Features(kinds))], info=info, split=view.split)
    # Not the item itself: the caller may change lists inside of it before they are hashed.
    after = Fingerprint.fixed(fingerprint) if fingerprint else view.fingerprint.derive("add_item", row=columns)
    return replace(added, format=view.format, fingerprint=after)
