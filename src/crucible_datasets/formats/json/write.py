"""Tables → JSON text: JSON Lines, or one document in the layout that `orient` names.

Times become milliseconds since 1970, decimals and times of day text, NaN and infinities
null. Text is written as UTF-8 and numbers with all their digits.

JSON Lines are made a column at a time. A value's text is described by pieces: texts that all values share, such as
`{"role":`, and arrays with a text per value. Nested values bring pieces of their own, and all pieces are joined at
once, so that no text is copied twice.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError, ValueTypeError
from crucible_datasets.features import jsontext
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.dtypes import is_bytes, is_list, is_text
from crucible_datasets.features.storage import children, chunked, rebuilt
from crucible_datasets.features.types import Json, LargeList, List, any_leaf
from crucible_datasets.formats.arrow_text import (
    LARGE,
    characters_of,
    compacted,
    data_of,
    float_texts,
    joined,
    parts,
    text,
)

_ROWS = 2000
_ORIENTS = ("records", "split", "columns", "index", "values")
Encode = Callable[[Any], bytes]
Pieces = list[str | pa.Array]


def write(
    tables: Iterable[pa.Table],
    features: Any,
    stream: BinaryIO,
    *,
    orient: str = "records",
    lines: bool | None = None,
    indent: int | None = None,
    force_ascii: bool = False,
    index: bool | None = None,
) -> int:
    """Write the tables; the number of bytes."""
    if orient not in _ORIENTS:
        raise ArgumentError("orient", orient, f"expected one of {', '.join(_ORIENTS)}.")
    lines = orient == "records" if lines is None else lines
    if lines and orient != "records":
        raise ArgumentError("lines", lines, "JSON Lines have the orient 'records'.")
    if index and orient in ("records", "values"):
        raise ArgumentError("index", index, f"orient {orient!r} has no place for row numbers.")
    if index is False and orient in ("columns", "index"):
        raise ArgumentError("index", index, f"orient {orient!r} tells rows by their numbers.")
    if lines and not indent and not force_ascii:
        return sum(stream.write(json_lines(columns, features)) for columns in _columns(tables, features))
    encode = _encoder(indent, force_ascii)
    rows = _rows(tables, features)
    written = 0
    for part in _lines(rows, encode) if lines else _document(rows, list(features), orient, encode, bool(index)):
        written += stream.write(part)
    return written


def _encoder(indent: int | None, force_ascii: bool) -> Encode:
    try:
        fast = importlib.import_module("orjson")
    except ImportError:
        fast = None
    if fast is None or force_ascii or indent not in (None, 0, 2):
        spaces: dict[str, Any] = {"indent": indent} if indent else {"separators": (",", ":")}
        return partial(_encode_slowly, json.JSONEncoder(ensure_ascii=force_ascii, allow_nan=False, **spaces).encode)
    option = fast.OPT_NON_STR_KEYS | (fast.OPT_INDENT_2 if indent else 0)
    return partial(_encode_fast, fast.dumps, option)


def _encode_fast(dumps: Any, option: int, value: Any) -> bytes:
    try:
        return dumps(value, None, option)
    except TypeError:  # integers beyond 64 bits
        return jsontext.dumps(_finite(value)).encode()


def _encode_slowly(encode: Callable[[Any], str], value: Any) -> bytes:
    try:
        return encode(value).encode()
    except ValueError:  # NaN or infinity
        return encode(_finite(value)).encode()


def _finite(value: Any) -> Any:
    """The value with null for NaN and infinities, as pandas writes them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value


def _columns(tables: Iterable[pa.Table], features: Any) -> Iterator[dict[str, pa.ChunkedArray]]:
    for part in parts(table for table in tables if table.num_columns):
        yield {name: jsonable(part[name], features[name], name) for name in part.column_names}


def _rows(tables: Iterable[pa.Table], features: Any) -> Iterator[list[dict[str, Any]]]:
    for table in tables:
        columns = {name: jsonable(table[name], features[name], name) for name in table.column_names}
        plain = pa.table(columns) if columns else table
        decoders = {
            name: decode
            for name, feature in features.items()
            if any_leaf(feature, (Json,)) and (decode := decoder(feature))
        }
        for batch in plain.to_batches(_ROWS):
            rows = batch.to_pylist()
            for name, decode in decoders.items():
                for row in rows:
                    row[name] = decode(row[name])
            yield rows


def _lines(batches: Iterable[list[dict[str, Any]]], encode: Encode) -> Iterator[bytes]:
    for rows in batches:
        if rows:
            yield b"\n".join([*map(encode, rows), b""])


def _document(
    batches: Iterable[list[dict[str, Any]]], names: list[str], orient: str, encode: Encode, index: bool
) -> Iterator[bytes]:
    rows = chain.from_iterable(batches)
    if orient == "columns":
        held = list(rows)
        yield encode({name: {str(at): row[name] for at, row in enumerate(held)} for name in names}) + b"\n"
        return
    start, end, part = _layout(orient, names, encode)
    yield start
    count = 0
    for count, row in enumerate(rows, 1):
        yield (b"," if count > 1 else b"") + part(count - 1, row)
    yield (b'],"index":' + encode(list(range(count))) + b"}\n") if index and orient == "split" else end


def _layout(orient: str, names: list[str], encode: Encode) -> tuple[bytes, bytes, Callable[[int, Any], bytes]]:
    """How a document begins and ends, and what a row is in it."""
    if orient == "index":
        return b"{", b"}\n", lambda at, row: b'"%d":%s' % (at, encode(row))
    if orient == "records":
        return b"[", b"]\n", lambda at, row: encode(row)
    begin = b'{"columns":' + encode(names) + b',"data":[' if orient == "split" else b"["
    return begin, b"]}\n" if orient == "split" else b"]\n", lambda at, row: encode(list(row.values()))


def jsonable(column: pa.ChunkedArray, feature: Any, name: str) -> pa.ChunkedArray:
    """The column in types that JSON has."""
    column = chunked(column)
    target = _json_type(column.type)
    if target == column.type:
        return column
    try:
        return pa.chunked_array([_converted(chunk, target) for chunk in column.chunks], type=target)
    except pa.ArrowInvalid as error:
        raise ValueTypeError(name, None, str(feature), "JSON", str(error)) from error


def _json_type(arrow: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(arrow):
        return pa.struct([pa.field(field.name, _json_type(field.type)) for field in arrow])
    if pa.types.is_fixed_size_list(arrow):
        return pa.list_(_json_type(arrow.value_type), arrow.list_size)
    if is_list(arrow):
        make = pa.large_list if pa.types.is_large_list(arrow) else pa.list_
        return make(_json_type(arrow.value_type))
    if pa.types.is_timestamp(arrow) or pa.types.is_date(arrow) or pa.types.is_duration(arrow):
        return pa.int64()
    if pa.types.is_decimal(arrow) or pa.types.is_time(arrow):
        return pa.string()
    return pa.large_string() if is_bytes(arrow) or pa.types.is_fixed_size_binary(arrow) else arrow


def _converted(array: pa.Array, target: pa.DataType) -> pa.Array:
    arrow = array.type
    if arrow == target:
        return array
    if pa.types.is_struct(arrow):
        kids = zip(children(array), [field.type for field in target], strict=True)
        return rebuilt(array, [_converted(child, kind) for child, kind in kids], target)
    if is_list(arrow):
        return rebuilt(array, [_converted(array.values, target.value_type)], target)
    if pa.types.is_time(arrow) or pa.types.is_decimal(arrow):
        return pa.array([None if value is None else str(value) for value in array.to_pylist()], target)
    if pa.types.is_date(arrow):
        return array.cast(pa.timestamp("ms")).cast(target)
    if target == pa.int64():
        return _milliseconds(array)
    return (array.cast(pa.large_binary()) if pa.types.is_fixed_size_binary(arrow) else array).cast(target)


def _milliseconds(array: pa.Array) -> pa.Array:
    """The whole milliseconds up to each time or duration."""
    unit, count = array.type.unit, array.cast(pa.int64())
    if unit in ("s", "ms"):
        return pc.multiply_checked(count, 1000) if unit == "s" else count
    divisor = 1000 if unit == "us" else 1_000_000
    quotient = pc.divide(count, divisor)  # towards zero
    return pc.subtract(quotient, pc.greater(pc.multiply(quotient, divisor), count).cast(pa.int64()))


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
