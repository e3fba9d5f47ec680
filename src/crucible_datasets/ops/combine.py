"""Several views as one: concatenated by rows or columns, or interleaved.

Data is shared: Arrow tables are stacked by reference, and row indices are shifted to where each table begins. Only
columns that must change their type are copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import (
    AlignmentError,
    ArgumentError,
    ColumnLengthError,
    ColumnNamesError,
    FeaturesMismatchError,
)
from crucible_datasets.features import Features, LargeList, List, Value
from crucible_datasets.features.bounds import together
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.storage import storage_type
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops.interleaving import interleaved_rows
from crucible_datasets.outputs.base import PYTHON, Format
from crucible_datasets.splits import NamedSplit
from crucible_datasets.tables.rows import Rows, as_array, is_whole, tightest
from crucible_datasets.tables.stack import is_read_late, stacked
from crucible_datasets.tables.table import ArrowTable, SideBySide, Table, side_by_side
from crucible_datasets.tables.view import View

_NULL = Value("null")


def concatenate(
    views: Sequence[View], axis: int = 0, info: DatasetInfo | None = None, split: NamedSplit | str | None = None
) -> View:
    """The rows (axis 0) or the columns (axis 1) of several views; views without rows are ignored.

    On axis 0 a column that some views lack is null there, and columns of nulls adopt the type of the others. Structs
    must have the same fields, in any order.
    """
    if not views:
        raise ArgumentError("datasets", list(views), "there is nothing to concatenate.")
    if axis not in (0, 1):
        raise ArgumentError("axis", axis, "expected 0 (rows) or 1 (columns).")
    filled = [view for view in views if len(view)]
    if not filled:
        return views[0]
    kinds = [view.features for view in filled]
    features = beside_each_other(kinds) if axis else aligned(kinds)
    table, rows = _columns(filled, features) if axis else _rows(filled, features)
    others = [view.fingerprint for view in filled[1:]]
    return View(
        table,
        rows,
        features,
        fingerprint=filled[0].fingerprint.derive("concatenate", axis=int(axis), others=others),
        info=_info(filled, features, info),
        split=NamedSplit(split) if isinstance(split, str) else split,
        format=_common_format(filled),
        media_roots=together([view.media_roots for view in filled]),
    )


def interleave(
    views: Sequence[View],
    probabilities: Sequence[float] | None = None,
    seed: int | None = None,
    info: DatasetInfo | None = None,
    split: NamedSplit | str | None = None,
    stopping_strategy: str = "first_exhausted",
) -> View:
    """Rows of several views in turn, or each from a view drawn by probability.

    It stops when the first view is exhausted (`first_exhausted`); when all are, restarting those that are exhausted
    earlier (`all_exhausted`); or when all are, skipping those (`all_exhausted_without_replacement`).
    """
    if not views:
        raise ArgumentError("datasets", list(views), "there is nothing to interleave.")
    rows = interleaved_rows([len(view) for view in views], probabilities, seed, stopping_strategy)
    return concatenate(views, info=info, split=split).moved(tightest(rows), "interleave")


def _info(views: Sequence[View], features: Features, given: DatasetInfo | None) -> DatasetInfo:
    if given is None:
        # Datasets with different columns are different datasets: only descriptive texts are kept.
        given = DatasetInfo.from_merge([replace(view.info, features=view.features) for view in views])
    elif given.features is not None and set(given.features) != set(features):
        raise FeaturesMismatchError(given.features, features, "The features of `info` have other columns")
    return replace(given, features=None)


def _common_format(views: Sequence[View]) -> Format:
    first, *others = [view.format.as_dict(view.column_names) for view in views]
    return views[0].format if all(other == first for other in others) else PYTHON


def aligned(several: Sequence[Features]) -> Features:
    """The columns of all views, each with a common feature."""
    features: dict[str, Any] = {}
    for more in several:
        for name, feature in more.items():
            features[name] = _adopted(features[name], feature, name) if name in features else feature
    return Features(features)


def _adopted(left: Any, right: Any, place: str) -> Any:
    if left == right or right == _NULL:
        return left
    if left == _NULL:
        return right
    if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
        return {name: _adopted(left[name], right[name], f"{place}.{name}") for name in left}
    if isinstance(left, List) and isinstance(right, List) and left.length == right.length:
        return List(_adopted(left.feature, right.feature, place), length=left.length)
    if isinstance(left, LargeList) and isinstance(right, LargeList):
        return LargeList(_adopted(left.feature, right.feature, place))
    raise AlignmentError(place, str(left), str(right))


def _rows(views: Sequence[View], features: Features) -> tuple[Table, Rows]:
    """The tables stacked, and the rows to show of them."""
    first = views[0]
    if all(view.table is first.table and view.features == features for view in views):
        return first.table, tightest(np.concatenate([as_array(view.rows) for view in views]))
    tables: list[Table] = []
    shown: list[Rows] = []
    starts: dict[int, int] = {}  # of tables whose rows are scattered, so that no table is stacked twice
    end = 0
    for view in views:
        table, rows = _piece(view, features)
        start = starts.get(id(view.table)) if isinstance(rows, np.ndarray) else None
        if start is None:
            start, end = end, end + table.num_rows
            tables.append(table)
        if isinstance(rows, np.ndarray):
            starts[id(view.table)] = start
        shown.append(range(start, start + len(rows)) if isinstance(rows, range) else rows + start)
    whole = all(isinstance(rows, range) for rows in shown)
    return stacked(tables), range(end) if whole else np.concatenate([as_array(rows) for rows in shown])


def _piece(view: View, features: Features) -> tuple[Table, Rows]:
    """A table with the columns of `features`, and the rows of it that the view shows.

    Scattered rows keep the whole table, unless values must be cast: then only those rows are.
    """
    if is_read_late(view.table) and _fits(view, features):
        table = view.table.select(list(features))
        if isinstance(view.rows, np.ndarray):
            return table, view.rows
        whole = is_whole(view.rows, table.num_rows)
        return table if whole else SideBySide(((table, view.rows),), tuple(features)), range(len(view))
    files = view.table.files
    if isinstance(view.table, ArrowTable) and isinstance(view.rows, np.ndarray) and not _needs_cast(view, features):
        return ArrowTable(_with_features(view.table.table, features), files), view.rows
    return ArrowTable(_with_features(view.read(), features), files), range(len(view))


def _fits(view: View, features: Features) -> bool:
    """Whether the table has all columns of `features`, with these types."""
    types = {field.name: field.type for field in view.table.schema}
    return all(types.get(name) == storage_type(feature) for name, feature in features.items())


def _needs_cast(view: View, features: Features) -> bool:
    types = {field.name: field.type for field in view.table.schema}
    return any(
        name in types and not pa.types.is_null(types[name]) and types[name] != storage_type(feature)
        for name, feature in features.items()
    )


def _with_features(table: pa.Table, features: Features) -> pa.Table:
    columns = dict(zip(table.column_names, table.columns, strict=True))
    return pa.table(
        {name: _column(columns.get(name), table.num_rows, name, feature) for name, feature in features.items()}
    )


def _column(column: pa.ChunkedArray | None, num_rows: int, name: str, feature: Any) -> pa.ChunkedArray:
    target = storage_type(feature)
    if column is None:
        return pa.chunked_array([pa.nulls(num_rows, target)])
    # Equal types need no cast, and labels were checked before.
    return column if column.type == target else cast_column(column, feature, name)


def beside_each_other(several: Sequence[Features]) -> Features:
    """The columns of all views, whose names must differ."""
    features: dict[str, Any] = {}
    for more in several:
        if repeated := [name for name in more if name in features]:
            raise ColumnNamesError(repeated, features, "more than one dataset has them; rename or remove them first")
        features.update(more)
    return Features(features)


def _columns(views: Sequence[View], features: Features) -> tuple[Table, Rows]:
    """All columns side by side, each table seen through its own rows."""
    for view in views:
        if len(view) != len(views[0]):
            raise ColumnLengthError(next(iter(view.features), ""), len(view), len(views[0]))
    parts = tuple(part for view in views for part in view.parts(view.column_names))
    return side_by_side(parts, tuple(features)), range(len(views[0]))
