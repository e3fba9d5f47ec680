"""The type of a column that a function returned.

A column of the input keeps its type as long as all values fit it exactly; only floats are rounded to its width. Within
a block only values of the same family (integers, floats, text) are cast to the input's type right away: whether floats
should become integers again can only be decided when all rows are known, which is done when the blocks are assembled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import CastError, DatasetsError
from crucible_datasets.features import ClassLabel, Features, Json, LargeList, List, Value
from crucible_datasets.features.arrays import ArrayXD
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.infer import infer_column
from crucible_datasets.features.media import Media
from crucible_datasets.features.storage import chunked
from crucible_datasets.features.types import any_leaf, is_identical, with_item
from crucible_datasets.features.unite import DATES, common_dtype
from crucible_datasets.ops.mapping.equality import is_same

TypedColumn = tuple[pa.ChunkedArray, Any]
_OWN_FORM = (ClassLabel, Json, Media, ArrayXD)


@dataclass(frozen=True)
class Typing:
    """The features of the input, and those that the user gave."""

    originals: Mapping[str, Any]
    wanted: Features | None = None
    on_mixed_types: str | None = "use_json"
    keeps_types: bool = True  # whether a column of the input keeps its type if possible

    def column(self, values: Any, name: str) -> TypedColumn:
        """Returned values as a column."""
        if isinstance(values, list) and any(type(value).__module__.startswith("polars") for value in values[:1]):
            values = [value.to_list() if hasattr(value, "to_list") else value for value in values]
        if self.wanted is not None and name in self.wanted:
            return column_of(values, self.wanted[name], name), self.wanted[name]
        if not len(values):  # nulls have no type, so later values need not have the input's
            return chunked(pa.nulls(0)), Value("null")
        original = self.originals.get(name) if self.keeps_types else None
        if original is not None and any_leaf(original, _OWN_FORM):
            return self._of_own_form(values, original, name)
        column, feature = infer_column(values, name, self.on_mixed_types)
        if original is None or is_identical(feature, original) or not is_related(feature, original):
            return column, feature
        try:
            return cast_exactly(column, feature, original, name), original
        except CastError:
            return column, feature

    def _of_own_form(self, values: Any, original: Any, name: str) -> TypedColumn:
        if not _have_all_keys(values, original):
            return infer_column(values, name, self.on_mixed_types)
        try:
            return column_of(values, original, name), original
        except (DatasetsError, pa.ArrowException, ValueError, TypeError):
            column, feature = infer_column(values, name, self.on_mixed_types)
            if isinstance(original, ClassLabel) and (feature == Value("string") or is_related(feature, Value("int64"))):
                raise  # an unknown label is an error, not another type
            return column, feature


def _have_all_keys(values: Iterable[Any], feature: Any) -> bool:
    """Whether all objects have every key of their type, which would be padded with nulls."""
    if isinstance(feature, dict):
        objects = [value for value in values if isinstance(value, Mapping)]
        return all(value.keys() >= feature.keys() for value in objects) and all(
            _have_all_keys((value[key] for value in objects), inner) for key, inner in feature.items()
        )
    if isinstance(feature, (List, LargeList)) and _has_objects(feature):
        lists = (value for value in values if isinstance(value, (list, tuple)))
        return _have_all_keys(chain.from_iterable(lists), feature.feature)
    return True


def _has_objects(feature: Any) -> bool:
    return isinstance(feature, dict) or (isinstance(feature, (List, LargeList)) and _has_objects(feature.feature))


def is_related(found: Any, original: Any) -> bool:
    """Whether a type differs from another only in width. Nulls are of no type: other blocks may tell theirs."""
    return _matches(found, original, _differs_in_width, with_nulls=False)


def may_become(found: Any, original: Any) -> bool:
    """Whether values of a type are cast back to the input's type, if they all fit. Text never becomes a number."""
    return _matches(found, original, _share_numbers, with_nulls=True)


def _matches(found: Any, original: Any, is_match: Callable[[str, str], bool], with_nulls: bool) -> bool:
    """Whether types are nested alike, with matching dtypes at their leaves."""
    if found == original:
        return True
    if found == Value("null"):
        return with_nulls
    if isinstance(found, dict) and isinstance(original, dict):
        # Objects with other keys would be padded with nulls.
        inner = ((found[key], original.get(key)) for key in found)
        return found.keys() == original.keys() and all(_matches(*pair, is_match, with_nulls) for pair in inner)
    if isinstance(found, (List, LargeList)) and isinstance(original, (List, LargeList)):
        return _matches(found.feature, original.feature, is_match, with_nulls)
    if isinstance(found, Value) and isinstance(original, Value):
        return is_match(found.dtype, original.dtype)
    return not any_leaf(found, (Json,)) and any_leaf(original, (ClassLabel, Media, ArrayXD))


def _differs_in_width(found: str, original: str) -> bool:
    return _family(found) == _family(original) and common_dtype(found, original) is not None


def _share_numbers(found: str, original: str) -> bool:
    return common_dtype(found, original) is not None and not (found.startswith("timestamp") and original in DATES)


def _family(dtype: str) -> str:
    return dtype.rstrip("0123456789").removeprefix("large_").removeprefix("u").partition("[")[0].partition("(")[0]


def cast_exactly(column: pa.ChunkedArray, before: Any, original: Any, name: str | None = None) -> pa.ChunkedArray:
    """A column with the input's type; a `CastError` if a value would change. Floats take the input's width."""
    narrow = _with_nulls_and_floats_of(before, original)
    column = cast_column(column, narrow, name)
    result = cast_column(column, original, name)
    is_checked = any_leaf(original, _OWN_FORM) or narrow == original
    if not is_checked and not is_same(cast_column(result, narrow, name), column):
        raise CastError(name, str(before), str(original), "values would change.")
    return result


def _with_nulls_and_floats_of(found: Any, original: Any) -> Any:
    """A type whose floats have the width of the input's floats, and whose nulls have the input's type."""
    if found == Value("null"):
        return original
    if isinstance(found, dict) and isinstance(original, dict):
        return {key: _with_nulls_and_floats_of(found[key], original[key]) for key in found}
    if isinstance(found, (List, LargeList)) and isinstance(original, (List, LargeList)):
        return with_item(found, _with_nulls_and_floats_of(found.feature, original.feature))
    is_float = isinstance(found, Value) and isinstance(original, Value) and found.dtype.startswith("float")
    return original if is_float and original.dtype.startswith("float") else found
