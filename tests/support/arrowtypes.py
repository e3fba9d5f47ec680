"""Columns of every type that Arrow's writers produce: seven values each, nulls and edge cases among them."""

from __future__ import annotations

import decimal
import math
import uuid

import numpy as np
import pyarrow as pa

TEXTS = ["é日本", None, "", "🙂 a text longer than twelve bytes", "42", "null", "2020-01-01"]
JSONS = ['{"a":1}', None, '"42"', "[1]", "null", '{"b":[null,"🙂"]}', '""']
NUMBERS = [0, None, 1000, -3600, 86_399_000, 2000, 3000]
SOME_NULL = pa.array([True, False, True, False, False, True, False])
_ENDS = pa.array([0, 2, None, 2, 3, 5, 7, 7], pa.int32())

texts = pa.array(TEXTS)
byte_texts = [None if text is None else text.encode() for text in TEXTS]
categories = texts.dictionary_encode()
runs = pa.RunEndEncodedArray.from_arrays([2, 3, 7], ["a", None, "b"])
json = pa.ExtensionArray.from_storage(pa.json_(), pa.array(JSONS))
maps = pa.array(
    [[("a", 1), ("b", 2)], None, [], [("c", None)], [("a", 1)], [("d", 4), ("d", 5)], []],
    pa.map_(pa.string(), pa.int64()),
)
union = pa.UnionArray.from_dense(
    pa.array([0, 1, 0, 1, 0, 1, 0], pa.int8()),
    pa.array([0, 0, 1, 1, 2, 2, 3], pa.int32()),
    [pa.array(range(4)), pa.array(["a", "b", "c"])],
)


def _dictionary(values: pa.Array, index: pa.DataType | None = None) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1, 0, 2, 2], index or pa.int32()), values)


def _struct(*children: pa.Array) -> pa.Array:
    return pa.StructArray.from_arrays(children, [f"f{number}" for number in range(len(children))], mask=SOME_NULL)


def _decimals(make: object, precision: int) -> pa.Array:
    numbers = ["1.10", None, "-99999.99", "0", "0.01", "5", "7"]
    return pa.array([number and decimal.Decimal(number) for number in numbers], make(precision, 2))


COLUMNS: dict[str, pa.Array] = {
    "string_view": texts.cast(pa.string_view()),
    "binary_view": pa.array(byte_texts, pa.binary_view()),
    "large_string": texts.cast(pa.large_string()),
    "large_binary": pa.array(byte_texts, pa.large_binary()),
    "list_view": pa.array([[1, 2], None, [], [3], [None], [4, 5, 6], [7]], pa.list_view(pa.int64())),
    "large_list_view": pa.array([["a"], None, [], ["c"], [None], ["d", "e"], []], pa.large_list_view(pa.string())),
    "list_view in disorder": pa.ListViewArray.from_arrays(
        [4, 0, 0, 2, 2, 5, 1], [2, 0, 3, 1, 3, 1, 2], pa.array([0, 1, 2, 3, 4, 5])
    ),
    "run_end_encoded": runs,
    "runs in a struct": _struct(runs),
    "dictionary": categories,
    "ordered dictionary": categories.cast(pa.dictionary(pa.int8(), pa.string(), ordered=True)),
    "dictionary with uint64": categories.cast(pa.dictionary(pa.uint64(), pa.string())),
    "dictionary of numbers with null": _dictionary(pa.array([10, 20, None])),
    "dictionary of structs": _dictionary(pa.array([{"a": 1}, {"a": 2}, None])),
    "dictionary of lists": _dictionary(pa.array([[1], [2, 3], None])),
    "dictionary of views": _dictionary(pa.array(["a", "b", None], pa.string_view())),
    "list of dictionaries": pa.ListArray.from_arrays(_ENDS, categories),
    "dictionaries below null structs": _struct(categories, pa.ListArray.from_arrays(_ENDS, categories)),
    "views below null structs": _struct(texts.cast(pa.string_view())),
    "list of views": pa.ListArray.from_arrays(_ENDS, texts.cast(pa.string_view())),
    "time32[s]": pa.array([0, None, 1, 3600, 86_399, 2, 3], pa.time32("s")),
    "time32[ms]": pa.array([0, None, 1000, 3600, 86_399_000, 2, 3], pa.time32("ms")),
    "time64[us]": pa.array([0, None, 1000, 3600, 86_399_000_001, 2, 3], pa.time64("us")),
    "time64[ns]": pa.array([0, None, 1001, 3601, 7, 2, 3], pa.time64("ns")),
    **{f"duration[{unit}]": pa.array(NUMBERS, pa.duration(unit)) for unit in ("s", "ms", "us", "ns")},
    **{f"timestamp[{unit}]": pa.array(NUMBERS, pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")},
    **{f"timestamp[{unit}, UTC]": pa.array(NUMBERS, pa.timestamp(unit, "UTC")) for unit in ("s", "us")},
    "timestamp[us, zone]": pa.array(NUMBERS, pa.timestamp("us", "Europe/Berlin")),
    "timestamp[us, offset]": pa.array(NUMBERS, pa.timestamp("us", "+05:30")),
    "timestamps at the ends": pa.array(
        [253_402_300_799_999_999, None, -62_135_596_800_000_000, -1, 1, 2, 3], pa.timestamp("us")
    ),
    "date32": pa.array([0, None, -1, 20_000, -719_162, 2_932_896, 1], pa.date32()),
    "date64": pa.array([0, None, -86_400_000, 172_800_000, 0, 0, 0], pa.date64()),
    "decimal32": _decimals(pa.decimal32, 9),
    "decimal64": _decimals(pa.decimal64, 18),
    "decimal128": _decimals(pa.decimal128, 38),
    "decimal256": _decimals(pa.decimal256, 76),
    "decimal of thousands": pa.array([decimal.Decimal(11_000), None, *[decimal.Decimal(0)] * 5], pa.decimal128(5, -3)),
    "float16": pa.array(np.array([0, 1.5, -0.0, np.inf, np.nan, 65_504, 2], np.float16)),
    "float32": pa.array([0.1, None, -0.0, math.inf, math.nan, -math.inf, 2], pa.float32()),
    "float64": pa.array([0.1, None, -0.0, math.inf, math.nan, -math.inf, 2], pa.float64()),
    "uint64": pa.array([2**64 - 1, None, 0, 1, 2, 3, 4], pa.uint64()),
    "int64": pa.array([2**63 - 1, None, -(2**63), 1, 2, 3, 4], pa.int64()),
    "bool": pa.array([True, None, False, True, True, False, None]),
    "fixed_size_binary": pa.array([b"abcd", None, bytes(4), b"efgh", b"1234", b"\xff" * 4, b"wxyz"], pa.binary(4)),
    "bytes of no length": pa.array([b"", None, b"", b"", b"", b"", b""], pa.binary(0)),
    "fixed_size_list": pa.array([[1, 2], None, [3, None], [5, 6], [7, 8], None, [9, 10]], pa.list_(pa.int32(), 2)),
    "lists of no length": pa.array([[], None, [], [], [], [], []], pa.list_(pa.int32(), 0)),
    "fixed_size_list of views": pa.FixedSizeListArray.from_arrays(
        pa.concat_arrays([texts.cast(pa.string_view())] * 2), 2
    ),
    "map": maps,
    "map in a struct": _struct(maps),
    "null": pa.nulls(7),
    "list of nulls": pa.array([[None], None, [], [None, None], [], [], []], pa.list_(pa.null())),
    "struct of nulls": _struct(pa.nulls(7)),
    "uuid": pa.array([None if number == 1 else uuid.UUID(int=number) for number in range(7)], pa.uuid()),
    "json": json,
    "large json": pa.ExtensionArray.from_storage(pa.json_(pa.large_string()), pa.array(JSONS, pa.large_string())),
    "json view": pa.ExtensionArray.from_storage(pa.json_(pa.string_view()), pa.array(JSONS, pa.string_view())),
    "json below null structs": _struct(json),
    "list of json": pa.ListArray.from_arrays(_ENDS, json),
    "bool8": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, None, 1, 2, -1, 0, 1], pa.int8())),
    "opaque": pa.ExtensionArray.from_storage(pa.opaque(pa.binary(), "type", "vendor"), pa.array(byte_texts)),
    "tensor": pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(42, dtype=np.float32).reshape(7, 2, 3)),
    "empty struct": pa.array([{}, None, {}, {}, {}, {}, {}], pa.struct([])),
    "list of empty structs": pa.array([[{}], None, [], [{}, None], [{}], [], []], pa.list_(pa.struct([]))),
    "deep": pa.array([{"a": [{"b": [{"c": [row, None]}]}]} if row % 3 else None for row in range(7)]),
    "large_list of structs": pa.array(
        [[{"a": 1, "b": "x"}], None, [], [None], [{"a": None, "b": None}], [{"a": 2, "b": "y"}] * 2, []],
        pa.large_list(pa.struct([("a", pa.int8()), ("b", pa.large_string())])),
    ),
}
# Types of which one column cannot hold the values.
REFUSED: dict[str, pa.Array] = {
    "interval": pa.array([(1, 2, 3), None, *[(0, 0, 0)] * 5], pa.month_day_nano_interval()),
    "dense union": union,
    "sparse union": pa.UnionArray.from_sparse(
        pa.array([0, 1, 0, 1, 0, 1, 0], pa.int8()), [pa.array(range(7)), pa.array(list("abcdefg"))]
    ),
    "union in a struct": _struct(union),
    "fields of one name": pa.StructArray.from_arrays([texts, texts], ["a", "a"]),
}
