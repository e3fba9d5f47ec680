"""The type of a column that a function returned.

A column of the input keeps its type as long as all values fit it. Within a block only values of the same family
(integers, floats, text) are cast to the input's type right away: whether text should become integers again can only be
decided when all rows are known, which is done when the blocks are assembled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
from crucible_datasets.features.types import any_leaf

TypedColumn = tuple[pa.ChunkedArray, Any]
_OWN_FORM = (ClassLabel, Json, Media, ArrayXD)
_FAMILIES = ("int", "uint", "float", "large_string", "string", "large_binary", "binary", "timestamp", "duration")
_RELATED = {"uint": "int", "large_string": "string", "large_binary": "binary"}


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
        # A struct without some fields of the input's type still fits: these fields are null.
        column, feature = infer_column(values, name, self.on_mixed_types if original is None else None)
        if original is None or feature == original or not is_related(feature, original):
            return column, feature
        return _cast_or_left(column, feature, original)

    def _of_own_form(self, values: Any, original: Any, name: str) -> TypedColumn:
        try:
            return column_of(values, original, name), original
        except (DatasetsError, pa.ArrowException, ValueError, TypeError):
            column, feature = infer_column(values, name, self.on_mixed_types)
            if isinstance(original, ClassLabel) and (feature == Value("string") or is_related(feature, Value("int64"))):
                raise  # an unknown label is an error, not another type
            return column, feature


def is_related(found: Any, original: Any) -> bool:
    """Whether a type differs from another only in width or nulls."""
    if found == original or found == Value("null"):
        return True
    if isinstance(found, dict) and isinstance(original, dict):
        return found.keys() <= original.keys() and all(is_related(found[name], original[name]) for name in found)
    if isinstance(found, (List, LargeList)) and isinstance(original, (List, LargeList)):
        return is_related(found.feature, original.feature)
    if isinstance(found, Value) and isinstance(original, Value):
        return _family(found.dtype) == _family(original.dtype)
    return False


def _family(dtype: str) -> str:
    name = next((family for family in _FAMILIES if dtype.startswith(family)), dtype)
    return _RELATED.get(name, name)


def _cast_or_left(column: pa.ChunkedArray, feature: Any, original: Any) -> TypedColumn:
    try:
        return cast_column(column, original), original
    except CastError:
        return column, feature


def may_become(found: Any, original: Any) -> bool:
    """Whether values of a type are cast back to the input's type. Numbers never become text."""
    if isinstance(found, dict) and isinstance(original, dict):
        return found.keys() <= original.keys() and all(may_become(found[name], original[name]) for name in found)
    if isinstance(found, (List, LargeList)) and isinstance(original, (List, LargeList)):
        return may_become(found.feature, original.feature)
    if isinstance(original, Value) and _family(original.dtype) in ("string", "binary"):
        return isinstance(found, Value) and _family(found.dtype) in ("string", "binary", "null")
    return True
