"""Operations on columns: select, rename, add, cast. Unchanged columns are shared, not copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import (
    ArgumentError,
    ColumnLengthError,
    ColumnNamesError,
    ColumnNotFoundError,
    FeaturesMismatchError,
)
from crucible_datasets.features import ClassLabel, Features, Json, LargeList, List, Value
from crucible_datasets.features.batch_decode import Located, decoded
from crucible_datasets.features.cast import cast_column as cast_values
from crucible_datasets.features.encode import column_of, recast
from crucible_datasets.features.features import normal
from crucible_datasets.features.infer import infer_column
from crucible_datasets.features.storage import rebuilt
from crucible_datasets.features.types import is_identical
from crucible_datasets.fingerprint import Fingerprint
from crucible_datasets.ops.codes import codes_of, key_column
from crucible_datasets.tables.rows import as_arrow
from crucible_datasets.tables.table import ArrowTable
from crucible_datasets.tables.view import View


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _derived(view: View, given: str | None, operation: str, **facts: Any) -> Fingerprint:
    return Fingerprint.fixed(given) if given else view.fingerprint.derive(operation, **facts)


def select(view: View, names: str | Sequence[str], fingerprint: str | None = None) -> View:
    """Only these columns, in this order."""
    kept = _listed(names)
    view.require(kept)
    if len(set(kept)) < len(kept):
        raise ColumnNamesError(kept, view.column_names, "a column can be selected only once")
    shown = view.format.columns
    return replace(
        view,
        table=view.table.select(kept),
        rows=view.rows if kept else range(0),
        features=Features({name: view.features[name] for name in kept}),
        format=replace(view.format, columns=shown and tuple(name for name in shown if name in kept)),
        fingerprint=_derived(view, fingerprint, "select_columns", names=kept),
    )


def remove(view: View, names: str | Sequence[str], fingerprint: str | None = None) -> View:
    """All columns but these."""
    gone = _listed(names)
    view.require(gone)
    return select(view, [name for name in view.column_names if name not in gone], fingerprint)


def rename(view: View, names: Mapping[str, str], fingerprint: str | None = None) -> View:
    """The same columns under new names."""
    view.require(names)
    after = [names.get(name, name) for name in view.column_names]
    if not all(after):
        raise ColumnNamesError(names.values(), view.column_names, "a name must not be empty")
    if len(set(after)) < len(after):
        raise ColumnNamesError(names.values(), view.column_names, "two columns would have the same name")
    features = Features(zip(after, view.features.values(), strict=True))
    return replace(
        view,
        table=view.table.renamed(after),
        features=features,
        format=view.format.renamed(names),
        fingerprint=_derived(view, fingerprint, "rename_columns", names=dict(names)),
    )


def rename_one(view: View, before: str, after: str, fingerprint: str | None = None) -> View:
    """One column under a new name, which no column has yet."""
    if after in view.features:
        raise ColumnNamesError([after], view.column_names, "a column of this name is already there")
    return rename(view, {before: after}, fingerprint)


def add(view: View, name: str, column: Any, feature: Any = None, fingerprint: str | None = None) -> View:
    """One more column, at the end."""
    if name in view.features:
        raise ColumnNamesError([name], view.column_names, "a column of this name is already there")
    if feature is None:
        values, feature = infer_column(column, name)
    else:
        feature = normal(feature)
        values = (
            cast_values(column, feature, name)
            if isinstance(column, pa.ChunkedArray)
            else column_of(column, feature, name)
        )
    if len(values) != len(view) and view.features:
        raise ColumnLengthError(name, len(values), len(view))
    if not view.features:
        view = replace(view, rows=range(len(values)))
    after = _derived(
        view, fingerprint, "add_column", name=name, values=values, feature=Features({name: feature}).metadata()
    )
    added = view.with_columns({name: (values, feature)}, after)
    shown = view.format.columns
    return replace(added, format=replace(view.format, columns=shown and (*shown, name)))


def cast(view: View, features: Mapping[str, Any], fingerprint: str | None = None) -> View:
    """Every column cast to its type in `features`."""
    features = Features(features)
    if set(features) != set(view.features):
        raise FeaturesMismatchError(features, view.features, "A cast needs exactly the columns of the dataset")
    changed = {
        name: (recast(view.column(name), view.features[name], feature, name), feature)
        for name, feature in features.items()
        if not is_identical(feature, view.features[name])
    }
    after = _derived(view, fingerprint, "cast", features=features.metadata())
    view = view.with_columns(changed, after) if changed else replace(view, fingerprint=after)
    order = list(features)
    return view if view.column_names == order else replace(select(view, order), fingerprint=after)


def cast_column(view: View, name: str, feature: Any, fingerprint: str | None = None) -> View:
    """One column cast to another type."""
    view.require([name])
    return cast(view, {**view.features, name: feature}, fingerprint)


def flatten(view: View, max_depth: int = 16, fingerprint: str | None = None) -> View:
    """Struct fields as columns of their own, named `struct.field`."""
    features = view.features.flatten(max_depth=max_depth)
    if features == view.features:
        return view
    table, rows = (
        (view.table.table, view.rows) if isinstance(view.table, ArrowTable) else (view.read(), range(len(view)))
    )
    while set(table.column_names) != set(features):
        table = _flattened_once(table, features)
    shown = view.format.columns
    columns = shown and tuple(
        name for name in features if any(name == old or name.startswith(f"{old}.") for old in shown)
    )
    return replace(
        view,
        table=ArrowTable(table.select(list(features)), view.table.files),
        rows=rows,
        features=features,
        format=replace(view.format, columns=columns),
        fingerprint=_derived(view, fingerprint, "flatten", max_depth=max_depth),
    )


def _flattened_once(table: pa.Table, features: Features) -> pa.Table:
    columns: dict[str, pa.ChunkedArray] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in features:
            columns[name] = column
        else:
            fields = [field.name for field in column.type]
            columns |= {f"{name}.{field}": part for field, part in zip(fields, column.flatten(), strict=True)}
    return pa.table(columns)


def field(view: View, column: str, name: str) -> View:
    """One field of a struct column, as a view of that one column."""
    fields = view.features[column]
    if not isinstance(fields, dict) or name not in fields:
        raise ColumnNotFoundError(name, list(fields) if isinstance(fields, dict) else [])
    only = select(view, [column])
    flat = flatten(replace(only, features=Features({column: fields})), max_depth=2)
    return rename(select(flat, [f"{column}.{name}"]), {f"{column}.{name}": name})


def unique(view: View, name: str) -> list[Any]:
    """The distinct values of a column, in order of first appearance."""
    view.require([name])
    with Located(name, None):
        return decoded(_distinct(view, name).to_pylist(), view.readable[name], name)


def _distinct(view: View, name: str) -> pa.Array | pa.ChunkedArray:
    column = view.column(name)
    if not pa.types.is_nested(column.type) and not isinstance(view.features[name], Json):
        column = pc.unique(column)
        if not pa.types.is_floating(column.type):
            return column
        keys = pa.chunked_array([column])  # in which -0.0 is still beside 0.0
    else:
        keys = key_column(view, name)
    codes, _ = codes_of(keys)
    _, firsts = np.unique(codes, return_index=True)
    return column.take(as_arrow(np.sort(firsts)))


def class_encode(view: View, name: str, include_nulls: bool = False) -> View:
    """A column of values as labels, whose names are the values in sorted order."""
    view.require([name])
    feature = view.features[name]
    if not isinstance(feature, Value):
        raise ArgumentError("column", name, f"only a Value column can become labels; this one is {feature}.")
    chunks = [chunk.dictionary_encode() for chunk in view.column(name).chunks]
    nulls = include_nulls and any(chunk.null_count for chunk in chunks)
    values = {_label(value) for chunk in chunks for value in chunk.dictionary.to_pylist() if value is not None}
    names = sorted(values | ({"None"} if nulls else set()))
    place = {text: index for index, text in enumerate(names)}
    labels = [_placed(chunk, place, place["None"] if nulls else None) for chunk in chunks]
    after = view.fingerprint.derive("class_encode_column", name=name, include_nulls=include_nulls)
    return view.with_columns({name: (pa.chunked_array(labels, pa.int64()), ClassLabel(names=names))}, after)


def _label(value: Any) -> str:
    return str(value + 0.0 if isinstance(value, float) else value)  # -0.0 is 0.0


def _placed(codes: pa.DictionaryArray, place: Mapping[str, int], null: int | None) -> pa.Array:
    """The labels of dictionary-encoded values."""
    values = codes.dictionary.to_pylist()
    labels = pa.array([place.get(_label(value)) for value in values], pa.int64()).take(codes.indices)
    return labels if null is None else labels.fill_null(null)


def align_labels(view: View, label2id: Mapping[str, int], name: str) -> View:
    """Labels renumbered as `label2id` says; the names are compared without regard to case."""
    view.require([name])
    feature = view.features[name]
    nested = isinstance(feature, (List, LargeList))
    labels = feature.feature if nested else feature
    if not isinstance(labels, ClassLabel):
        raise ArgumentError("label_column", name, f"expected ClassLabel or a list of it; this one is {feature}.")
    ids = {label.lower(): int(index) for label, index in label2id.items()}  # model configs may hold numbers as text
    column = view.column(name)
    used = set(pc.unique(pc.list_flatten(column) if nested else column).to_pylist())
    for place, label in enumerate(labels.names):
        if place in used and label.lower() not in ids:
            raise KeyError(f"label2id has no entry for {label!r}. It has: {', '.join(label2id)}.")
    names = [label for label, _ in sorted(label2id.items(), key=lambda item: int(item[1]))]
    aligned = ClassLabel(num_classes=len(names), names=names)
    # -1 stands for "no label" and stays -1: it indexes the last entry.
    lookup = pa.array([*(ids.get(label.lower(), -1) for label in labels.names), -1], pa.int64())
    values = pa.chunked_array([_relabelled(chunk, lookup, aligned) for chunk in column.chunks], type=column.type)
    after = view.fingerprint.derive("align_labels_with_mapping", label2id=dict(label2id), name=name)
    new = replace(feature, feature=aligned) if nested else aligned
    return view.with_columns({name: (values, new)}, after)


def _relabelled(array: pa.Array, lookup: pa.Array, labels: ClassLabel) -> pa.Array:
    if pa.types.is_nested(array.type):
        return rebuilt(array, [_relabelled(array.values, lookup, labels)], array.type)
    places = np.where(array.fill_null(0).to_numpy() < 0, len(lookup) - 1, array.fill_null(0).to_numpy())
    return labels.cast_storage(pc.if_else(array.is_valid(), lookup.take(pa.array(places)), pa.scalar(None, pa.int64())))
