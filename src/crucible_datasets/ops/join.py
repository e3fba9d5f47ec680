"""Equality join of two views.

Keys become integer codes, codes become pairs of row indices, and the result shows both tables side by side through
those indices: other columns are neither compared nor copied. A row without a match points at a row of nulls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError, ColumnNamesError
from crucible_datasets.features import ClassLabel, Features, Json, Value
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.encode import widened
from crucible_datasets.features.types import any_leaf
from crucible_datasets.features.unite import unite
from crucible_datasets.ops.codes import Codes, as_keys, by_code, joint_codes
from crucible_datasets.tables.rows import Rows, as_array, compose, tightest
from crucible_datasets.tables.stack import stacked, with_null_row
from crucible_datasets.tables.table import ArrowTable, Table, side_by_side
from crucible_datasets.tables.view import View

Indices = npt.NDArray[np.int64]
Part = tuple[Table, Rows]

HOWS = ("inner", "left", "right", "outer", "semi", "anti")
_TEXTS = (Value("string"), Value("large_string"))


def join(
    left: View,
    right: View,
    on: str | Sequence[str],
    right_on: str | Sequence[str] | None = None,
    how: str = "inner",
    suffix: str = "_right",
) -> View:
    """Rows of both views whose key columns are equal; null equals nothing.

    Rows are in the order of `left`, then of `right` (`how="right"`: of `right`, then of `left`); `outer` ends with the
    rows of `right` without a match. Key columns appear once, under their names in `left`.
    """
    keys = _names(on, left)
    right_keys = _names(on if right_on is None else right_on, right)
    if len(keys) != len(right_keys):
        raise ArgumentError("right_on", right_on, f"expected as many columns as in on: {len(keys)}.")
    if how not in HOWS:
        raise ArgumentError("how", how, f"expected one of {', '.join(HOWS)}.")
    facts = {"right": right.fingerprint, "on": keys, "right_on": right_keys, "how": how, "suffix": suffix}
    left_codes, right_codes = _key_codes(left, right, keys, right_keys)
    if how in ("semi", "anti"):
        found = np.isin(left_codes, right_codes[right_codes >= 0]) == (how == "semi")
        joined = replace(left, rows=compose(left.rows, tightest(np.flatnonzero(found))))
    else:
        pairs = _pairs(left_codes, right_codes, how)
        joined = _joined(left, right, (keys, right_keys), pairs, suffix)
    return replace(joined, fingerprint=left.fingerprint.derive("join", **facts))


def _names(given: str | Sequence[str], view: View) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    if not names:
        raise ArgumentError("on", given, "expected at least one column.")
    view.require(names)
    return names


def _key_codes(left: View, right: View, keys: list[str], right_keys: list[str]) -> tuple[Codes, Codes]:
    """Equal codes for equal keys in both views, and -1 where a key is null."""
    columns = []
    missing = np.zeros(len(left) + len(right), dtype=bool)
    for key, right_key in zip(keys, right_keys, strict=True):
        mine, other = _comparable(left, key, right, right_key)
        both = pa.chunked_array([*mine.chunks, *other.chunks], mine.type)
        columns.append(both)
        missing |= both.is_null().to_numpy()
    codes = joint_codes(columns)
    codes[missing] = -1
    return codes[: len(left)], codes[len(left) :]


def _comparable(left: View, key: str, right: View, right_key: str) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Two key columns cast to a common type; labels with different names, or labels and text, are compared as text."""
    mine, other = left.features[key], right.features[right_key]
    columns = left.column(key), right.column(right_key)
    if mine != other and all(isinstance(feature, ClassLabel) or feature in _TEXTS for feature in (mine, other)):
        return _as_text(columns[0], mine), _as_text(columns[1], other)
    common = mine if mine == other else unite(_without_names(mine), _without_names(other), name=key)
    if isinstance(common, ClassLabel):
        return columns
    first, second = _recast(columns[0], mine, common, key), _recast(columns[1], other, common, right_key)
    return as_keys(first, common), as_keys(second, common)


def _recast(column: pa.ChunkedArray, before: Any, feature: Any, name: str) -> pa.ChunkedArray:
    """The column in a type that holds the keys of both views; a cast to `Json` would parse texts."""
    if any_leaf(feature, (Json,)):
        return widened(column, _without_names(before), feature, name)
    return cast_column(column, feature, name)


def _without_names(feature: Any) -> Any:
    return Value("int64") if isinstance(feature, ClassLabel) else feature


def _as_text(column: pa.ChunkedArray, feature: Any) -> pa.ChunkedArray:
    if not isinstance(feature, ClassLabel):
        return column.cast(pa.large_string())
    labels = pc.if_else(pc.less(column, 0), pa.scalar(None, pa.int64()), column)
    return pa.chunked_array([pa.array(feature.names, pa.large_string()).take(labels.combine_chunks())])


def _pairs(left: Codes, right: Codes, how: str) -> tuple[Indices, Indices]:
    """Matching row indices of both sides, -1 for a row without a match."""
    if how == "right":
        mine, other = _pairs(right, left, "left")
        return other, mine
    known = np.flatnonzero(right >= 0)
    order, starts = by_code(right[known], size=1 + max(left.max(initial=-1), right.max(initial=-1)))
    counts = np.where(left >= 0, starts[left + 1] - starts[left], 0)
    width = counts if how == "inner" else np.maximum(counts, 1)
    mine = np.repeat(np.arange(len(left)), width)
    turn = np.arange(len(mine)) - np.repeat(np.cumsum(width) - width, width)
    places = np.where(counts[mine] > 0, starts[left[mine]] + turn, len(known))
    other = np.append(known[order], -1)[places]
    if how == "outer":
        lonely = np.setdiff1d(np.arange(len(right)), other)
        mine, other = np.append(mine, np.full(len(lonely), -1)), np.append(other, lonely)
    return mine, other


def _joined(
    left: View, right: View, keys: tuple[list[str], list[str]], pairs: tuple[Indices, Indices], suffix: str
) -> View:
    mine, other = pairs
    payload = {
        name: f"{name}{suffix}" if name in left.features else name for name in right.features if name not in keys[1]
    }
    features = {**left.features, **{new: right.features[name] for name, new in payload.items()}}
    if len(features) < len(left.features) + len(payload):
        raise ColumnNamesError(payload.values(), left.features, f"with suffix={suffix!r} some would be there twice")
    parts: list[Part] = []
    own = left.column_names
    if (mine < 0).any():
        own = [name for name in own if name not in keys[0]]
        part, key_features = _keys_of_either(left, right, keys, pairs)
        parts.append(part)
        features.update(key_features)
    parts += _shown(left.parts(own), mine)
    parts += _shown(_renamed(right, payload).parts(list(payload.values())), other)
    table = side_by_side(tuple(parts), tuple(features))
    return replace(left, table=table, rows=range(len(mine)), features=Features(features))


def _renamed(view: View, names: dict[str, str]) -> View:
    table = view.table.select(list(names)).renamed(list(names.values()))
    return replace(view, table=table, features=Features({new: view.features[name] for name, new in names.items()}))


def _shown(parts: tuple[Part, ...], indices: Indices) -> list[Part]:
    """Tables seen through these rows of them, -1 being a row of nulls."""
    if not (indices < 0).any():
        return [(table, compose(rows, tightest(indices))) for table, rows in parts]
    return [(with_null_row(table), np.append(as_array(rows), table.num_rows)[indices]) for table, rows in parts]


def _keys_of_either(
    left: View, right: View, keys: tuple[list[str], list[str]], pairs: tuple[Indices, Indices]
) -> tuple[Part, dict[str, Any]]:
    """The key columns, from `right` where `left` has no row."""
    features = {}
    for key, right_key in zip(*keys, strict=True):
        mine, other = left.features[key], right.features[right_key]
        features[key] = mine if mine == other else _key_feature(mine, other, key)
    tables = [
        ArrowTable(
            pa.table({key: _as_key(view, name, features[key]) for key, name in zip(keys[0], names, strict=True)})
        )
        for view, names in ((left, keys[0]), (right, keys[1]))
    ]
    mine, other = pairs
    return (stacked(tables), tightest(np.where(mine < 0, len(left) + other, mine))), features


def _key_feature(mine: Any, other: Any, key: str) -> Any:
    if all(isinstance(feature, ClassLabel) or feature in _TEXTS for feature in (mine, other)):
        return Value("large_string") if Value("large_string") in (mine, other) else Value("string")
    return unite(_without_names(mine), _without_names(other), name=key)


def _as_key(view: View, name: str, feature: Any) -> pa.ChunkedArray:
    column = view.column(name)
    if isinstance(view.features[name], ClassLabel) and feature in _TEXTS:
        return _as_text(column, view.features[name]).cast(feature.pa_type)
    return column if isinstance(feature, ClassLabel) else _recast(column, view.features[name], feature, name)
