"""Case-insensitive search in all texts of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.tables.rows import true_rows
from crucible_datasets.viewer.arrays import flat
from crucible_datasets.viewer.blocks import rows_at_once

_ROWS_AT_ONCE = 20_000


def rows_with(dataset: Any, wanted: str) -> np.ndarray:
    """The numbers of the rows that contain the text; reads only columns with texts, in blocks."""
    arrow = dataset.with_format("arrow")
    names = [field.name for field in arrow.select(range(0))[:].schema if _has_text(field.type)]
    if not names:
        return np.zeros(0, dtype=np.int64)
    found, start = [], 0
    texts = arrow.select_columns(names)
    for table in texts.iter(rows_at_once(texts, _ROWS_AT_ONCE)):
        mask = np.zeros(table.num_rows, dtype=bool)
        for column in table.columns:
            for place, chunk in zip(np.cumsum([0, *map(len, column.chunks)]), column.chunks, strict=False):
                mask[place + _matching(chunk, wanted)] = True
        found.append(np.flatnonzero(mask) + start)
        start += table.num_rows
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def _has_text(kind: pa.DataType) -> bool:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return True
    if isinstance(kind, pa.BaseExtensionType):
        return _has_text(kind.storage_type)
    return (
        any(_has_text(kind.field(each).type) for each in range(kind.num_fields)) if pa.types.is_nested(kind) else False
    )


def _matching(values: Any, wanted: str) -> np.ndarray:
    """The positions of the values that contain the text, also in nested values."""
    kind = values.type
    if isinstance(kind, pa.BaseExtensionType):
        return _matching(values.storage, wanted)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return true_rows(pc.match_substring(values, wanted, ignore_case=True))
    if pa.types.is_struct(kind):
        inside = [
            _matching(values.field(each), wanted) for each in range(kind.num_fields) if _has_text(kind.field(each).type)
        ]
        return np.unique(np.concatenate(inside)) if inside else np.zeros(0, dtype=np.int64)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        parents = flat(pc.list_parent_indices(values))
        return np.unique(parents[_matching(values.flatten(), wanted)])
    return np.zeros(0, dtype=np.int64)
