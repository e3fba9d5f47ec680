"""Tables → JSON text: JSON Lines, or one document in the layout that `orient` names.

Times become milliseconds since 1970, decimals and times of day text, NaN and infinities
null. Text is written as UTF-8 and numbers with all their digits.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError, ValueTypeError
from crucible_datasets.features import jsontext
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.dtypes import is_bytes, is_list
from crucible_datasets.features.storage import children, chunked, rebuilt
from crucible_datasets.features.types import Json, any_leaf
from crucible_datasets.formats.arrow_text import parts
from crucible_datasets.formats.json_lines import json_lines

_ROWS = 2000
_ORIENTS = ("records", "split", "columns", "index", "values")
Encode = Callable[[Any], bytes]


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
    if pa.types.is_duration(arrow):
        return array.cast(pa.duration("ms"), safe=False).cast(target)
    if target == pa.int64():
        zone = arrow.tz if pa.types.is_timestamp(arrow) else None
        return array.cast(pa.timestamp("ms", zone), safe=False).cast(target)
    return (array.cast(pa.large_binary()) if pa.types.is_fixed_size_binary(arrow) else array).cast(target)
