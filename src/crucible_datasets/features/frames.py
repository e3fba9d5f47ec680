"""Data frames of pandas and Polars → Arrow tables.

Cells that are Python objects follow the rules of lists of Python values. Arrow alone would pad objects whose keys
differ with nulls, and read cells of Polars' type Object as bytes, which are addresses of memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from crucible_datasets.features.encode import TYPES_OF_POLARS, column_of
from crucible_datasets.features.infer import as_list, infer_column
from crucible_datasets.features.storage import to_extension


def arrow_of_pandas(
    frame: Any,
    preserve_index: bool | None = None,
    features: Mapping[str, Any] | None = None,
    on_mixed_types: str | None = None,
) -> pa.Table:
    """The rows of a pandas data frame, with the types of `features` where cells are objects."""
    positions = [position for position, dtype in enumerate(frame.dtypes) if dtype.name == "object"]
    others = frame.copy(deep=False)
    for position in positions:
        others.isetitem(position, None)
    table = pa.Table.from_pandas(others, preserve_index=preserve_index)
    for position in positions:
        name = table.column_names[position]
        column = _of_objects(as_list(frame.iloc[:, position]), name, features or {}, on_mixed_types)
        table = table.set_column(position, name, column)
    return table


def arrow_of_polars(
    frame: Any, features: Mapping[str, Any] | None = None, on_mixed_types: str | None = None
) -> pa.Table:
    """The rows of a Polars data frame, with the types of `features` where cells are objects."""
    objects = [name for name, dtype in frame.schema.items() if TYPES_OF_POLARS.search(str(dtype))]
    if not objects:
        return frame.to_arrow()
    others = frame.drop(objects).to_arrow()
    return pa.table(
        {
            name: _of_objects(frame[name].to_list(), name, features or {}, on_mixed_types)
            if name in objects
            else others[name]
            for name in frame.columns
        }
    )


def _of_objects(
    values: list[Any], name: str, features: Mapping[str, Any], on_mixed_types: str | None
) -> pa.ChunkedArray:
    if name in features:
        return to_extension(column_of(values, features[name], name), features[name])
    return to_extension(*infer_column(values, name, on_mixed_types))
