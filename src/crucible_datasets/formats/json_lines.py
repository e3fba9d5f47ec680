"""Tables → JSON Lines, a column at a time: values become JSON text, and texts are joined to lines.

A value's text is described by pieces: texts that all values share, such as `{"role":`, and arrays with a text per
value. Nested values bring pieces of their own, and all pieces are joined at once, so that no text is copied twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.features.dtypes import is_list, is_text
from crucible_datasets.features.types import Json, LargeList, List
from crucible_datasets.formats.arrow_text import LARGE, characters_of, compacted, data_of, float_texts, joined, text

Pieces = list[str | pa.Array]


def json_lines(columns: dict[str, pa.ChunkedArray], features: Any) -> memoryview:
    """One line per row. The columns are of types that JSON has."""
    members = ((name, compacted(column), features[name]) for name, column in columns.items())
    return data_of(_joined([*_object(members), "\n"]))


def json_texts(array: pa.Array, feature: Any) -> pa.Array:
    """The JSON text of each value."""
    return _joined(_pieces(array, feature))


def _joined(pieces: Pieces) -> pa.Array:
    runs: Pieces = []
    for piece in pieces:
        if runs and isinstance(piece, str) and isinstance(runs[-1], str):
            runs[-1] += piece
        else:
            runs.append(piece)
    return runs[0] if len(runs) == 1 else joined(*(text(run) if isinstance(run, str) else run for run in runs))


def _pieces(array: pa.Array, feature: Any) -> Pieces:
    """The pieces of the JSON text of each value."""
    pieces = _pieces_of_present(array, feature)
    if array.null_count and array.type.num_fields:
        return [pc.if_else(array.is_valid(), _joined(pieces), text("null"))]
    if any(not isinstance(piece, str) and piece.null_count for piece in pieces):
        return [pc.fill_null(_joined(pieces), text("null"))]
    return pieces


def _pieces_of_present(array: pa.Array, feature: Any) -> Pieces:
    """The same for values that are not null. Other numbers and texts have null among their pieces."""
    kind = array.type
    if isinstance(feature, Json):
        # Line ends inside a JSON text have no meaning, but in JSON Lines they would begin another row.
        texts = array.cast(LARGE)
        return [pc.replace_substring(texts, "\n", " ") if (characters_of(texts) == 10).any() else texts]
    if pa.types.is_null(kind):
        return [pa.nulls(len(array), LARGE)]
    if is_text(kind):
        return ['"', _escaped(array.cast(LARGE)), '"']
    if pa.types.is_boolean(kind):
        return [pc.if_else(array, text("true"), text("false"))]
    if pa.types.is_floating(kind):
        return [float_texts(pc.if_else(pc.is_finite(array), array, pa.nulls(1, kind)[0]))]
    if pa.types.is_struct(kind) and not kind.num_fields:
        return [pc.if_else(array.is_valid(), text("{}"), text("null"))]
    if pa.types.is_struct(kind):
        inner = feature if isinstance(feature, dict) else {}
        fields = ((field.name, pc.struct_field(array, [place])) for place, field in enumerate(kind))
        return _object((name, values, inner.get(name)) for name, values in fields)
    return ["[", *_items(array, feature), "]"] if is_list(kind) else [array.cast(LARGE)]


def _object(members: Iterable[tuple[str, pa.Array, Any]]) -> Pieces:
    """The pieces of objects with these members: a name, the values, their feature."""
    pieces: Pieces = []
    for name, values, feature in members:
        pieces += [("," if pieces else "{") + json.dumps(name, ensure_ascii=False) + ":", *_pieces(values, feature)]
    return [*pieces, "}"]


def _escaped(array: pa.Array) -> pa.Array:
    data = characters_of(array)
    controls = np.unique(data[data < 32]) if data.size and data.min() < 32 else ()
    # Backslashes first: the other replacements insert backslashes.
    for character in (chr(byte) for byte in (*(byte for byte in b'\\"' if (data == byte).any()), *controls)):
        array = pc.replace_substring(array, character, json.dumps(character)[1:-1])
    return array


def _items(array: pa.Array, feature: Any) -> Pieces:
    """The items of lists, with commas between them."""
    inner = feature.feature if isinstance(feature, (List, LargeList)) else None
    # `flatten` drops values under nulls and outside the slice, so lengths are computed again.
    items = json_texts(array.flatten(), inner)
    zero = pa.Array.from_buffers(pa.int64(), 1, [None, pa.py_buffer(bytes(8))])
    lengths = pc.fill_null(pc.list_value_length(array).cast(pa.int64()), zero[0])
    offsets = pa.concat_arrays([zero, pc.cumulative_sum(lengths)])
    return [pc.binary_join(pa.LargeListArray.from_arrays(offsets, items), text(","))]
