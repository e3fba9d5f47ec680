"""Tables → JSON Lines, a column at a time: values become JSON text, and texts are joined to lines."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.features.dtypes import is_list, is_text
from crucible_datasets.features.types import Json, LargeList, List
from crucible_datasets.formats.arrow_text import LARGE, characters_of, compacted, data_of, joined, text, with_point


def json_lines(columns: dict[str, pa.ChunkedArray], features: Any) -> memoryview:
    """One line per row. The columns are of types that JSON has."""
    fields = [
        joined(text(("{" if not place else ",") + _key(name)), json_texts(compacted(column), features[name]))
        for place, (name, column) in enumerate(columns.items())
    ]
    return data_of(joined(*fields, text("}\n")))


def json_texts(array: pa.Array, feature: Any) -> pa.Array:
    """The JSON text of each value."""
    texts = _present(array, feature)
    return pc.fill_null(texts, text("null")) if texts.null_count else texts


def _key(name: str) -> str:
    return json.dumps(name, ensure_ascii=False) + ":"


def _present(array: pa.Array, feature: Any) -> pa.Array:
    """The same with null for null."""
    kind = array.type
    if isinstance(feature, Json):
        # Line ends between the parts of a JSON text mean nothing; between lines they mean another row.
        texts = array.cast(LARGE)
        return pc.replace_substring(texts, "\n", " ") if (characters_of(texts) == 10).any() else texts
    if pa.types.is_null(kind):
        return pa.nulls(len(array), LARGE)
    if is_text(kind):
        return joined(text('"'), _escaped(array.cast(LARGE)), text('"'))
    if pa.types.is_boolean(kind):
        return pc.if_else(array, text("true"), text("false"))
    if pa.types.is_floating(kind):
        finite = pc.if_else(pc.is_finite(array), array, pa.nulls(1, kind)[0])
        return with_point(finite.cast(LARGE))
    if pa.types.is_struct(kind):
        return _objects(array, feature)
    return _lists(array, feature) if is_list(kind) else array.cast(LARGE)


def _escaped(array: pa.Array) -> pa.Array:
    data = characters_of(array)
    controls = np.unique(data[data < 32]) if data.size and data.min() < 32 else ()
    # Backslashes first: the others bring their own.
    for character in (chr(byte) for byte in (*(byte for byte in b'\\"' if (data == byte).any()), *controls)):
        array = pc.replace_substring(array, character, json.dumps(character)[1:-1])
    return array


def _objects(array: pa.Array, feature: Any) -> pa.Array:
    if not array.type.num_fields:
        made = pc.if_else(array.is_valid(), text("{}"), text("null"))
    else:
        parts: list[Any] = []
        for place, field in enumerate(array.type):
            inner = feature.get(field.name) if isinstance(feature, dict) else None
            parts += [text(("{" if not place else ",") + _key(field.name))]
            parts += [json_texts(pc.struct_field(array, [place]), inner)]
        made = joined(*parts, text("}"))
    return pc.if_else(array.is_valid(), made, text("null")) if array.null_count else made


def _lists(array: pa.Array, feature: Any) -> pa.Array:
    inner = feature.feature if isinstance(feature, (List, LargeList)) else None
    # `flatten` leaves out what lies under nulls and outside the slice, so lengths are counted anew.
    items = json_texts(array.flatten(), inner)
    zero = pa.Array.from_buffers(pa.int64(), 1, [None, pa.py_buffer(bytes(8))])
    lengths = pc.fill_null(pc.list_value_length(array).cast(pa.int64()), zero[0])
    offsets = pa.concat_arrays([zero, pc.cumulative_sum(lengths)])
    lists = pa.LargeListArray.from_arrays(offsets, items)
    made = joined(text("["), pc.binary_join(lists, text(",")), text("]"))
    return pc.if_else(array.is_valid(), made, pa.nulls(1, LARGE)[0]) if array.null_count else made
