"""JSON text → tables whose types hold every value exactly. Arrow parses, we unite.

Arrow pads objects whose keys differ, reads integers beside fractions as doubles and drops the zone of times. So each
piece of text is parsed by one call, the result is checked, and columns at fault are built from Python values instead.
Pieces are united by the same rules as files: keys that differ become `Json`, and text that looks like a date is a
timestamp only if all pieces agree.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json as arrow_json

from crucible_datasets import config
from crucible_datasets.exceptions import ColumnNamesError, LimitExceededError, ValueTypeError
from crucible_datasets.features import Features
from crucible_datasets.features.dtypes import is_list
from crucible_datasets.features.encode import column_of, holding, recast, widened
from crucible_datasets.features.infer import infer_column, mixed_feature
from crucible_datasets.features.names import require_name
from crucible_datasets.features.shred import array_of
from crucible_datasets.features.storage import (
    children,
    chunked,
    feature_of,
    one_array,
    rebuilt,
    storage_type,
    to_extension,
)
from crucible_datasets.features.types import Json, LargeList, List, Value, any_leaf
from crucible_datasets.features.unite import agreed_dates, are_times, is_time, unite
from crucible_datasets.formats.arrow import require_readable_names
from crucible_datasets.formats.json.rows import (
    Problem,
    Row,
    dumps,
    encoder_for,
    parsed_rows,
    unreadable_line,
)
from crucible_datasets.formats.json.structure import gaps_in, has_null_line

ERRORS = (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, UnicodeDecodeError)
_FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError)
_MANY_KEYS = 1000
_DEEPEST_TYPE = 50  # Arrow cannot write types that nest deeper than 64
_TIME = pa.timestamp("s")
_NULL = Value("null")
_LARGEST = np.array([2.0**53]).view(np.int64)[0]  # doubles from it on may be integers with other digits
_MINUS_ZERO = np.iinfo(np.int64).min
# Integers that doubles may change: long ones, and -0, which has no sign. Also matches some texts.
_INEXACT = re.compile(rb"(?<![0-9.])[0-9]{16,}+(?![.eE])|-0[,}\]\s]")


@dataclass
class Parser:
    """Turns pieces of JSON text, of complete rows, into tables.

    `features` are the declared types. `expected` are the types of other rows of the dataset, of which one thing
    matters: where they say text, text that looks like a date stays text.
    """

    name: str
    features: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, Any] | None = None
    on_mixed_types: str | None = "use_json"

    def __post_init__(self) -> None:
        self.explicit = {
            name: arrow for name, feature in self.features.items() if (arrow := _readable_type(feature)) is not None
        }
        self.decimals = {name for name, feature in self.features.items() if "decimal" in str(feature)}
        self.encoded = {name for name, feature in self.features.items() if any_leaf(feature, (Json,))} | self.decimals

    def parse(
        self,
        text: bytes,
        offset: int = 0,
        projected: Mapping[str, pa.DataType] | None = None,
        has_nulls: bool | None = None,
    ) -> tuple[pa.Table | None, Problem | None]:
        """The rows of a text, and the problem behind them, if any.

        The text begins at byte `offset` of the file. Of `projected` columns, if given, the types are known already,
        and no others are needed. `has_nulls` says whether some rows may be null.
        """
        try:
            if has_null_line(text) if has_nulls is None else has_nulls:
                raise pa.ArrowInvalid("a row is null")  # Arrow 26 crashes if it is the first one of a block
            self._require_narrow(text)
            return self._checked(self._arrow_table(text, projected), text), None
        except ERRORS as error:
            reason = str(error)
        problem = unreadable_line(text, self.name, offset)
        if problem is None:
            return self.row_by_row(text, reason)
        readable = text[: problem.offset]
        table, earlier = (
            (None, None) if not readable or readable.isspace() else self.parse(readable, offset, projected, has_nulls)
        )
        if earlier is not None:
            earlier.at_end = False
        return table, earlier or problem

    def table_of(self, rows: Sequence[Row], encode: Callable[[Any], str]) -> pa.Table:
        """Parsed rows as a table with the types of their values."""
        names = dict.fromkeys(name for row in rows for name in row)
        if not names:
            return _empty_rows(len(rows))
        for name in names:
            try:
                require_name(name)
            except ColumnNamesError as error:
                raise ColumnNamesError([name], (), f"{error.reason}, in {self.name}") from error
        return pa.table({name: self._column([row.get(name) for row in rows], name, encode) for name in names})

    def joined(self, tables: Sequence[pa.Table], text: bytes, spans: Sequence[tuple[int, int]]) -> pa.Table:
        """The rows of pieces of a text, which begin and end at these bytes, as a table of their common types."""
        if not any(table.num_columns for table in tables):
            return _empty_rows(sum(table.num_rows for table in tables))
        if all(table.schema.equals(tables[0].schema) for table in tables):
            return pa.concat_tables(tables)
        features = [Features.from_arrow_schema(table.schema) for table in tables]
        agreed = agreed_dates(features, self.on_mixed_types)
        if agreed is not None:
            parser = replace(self, expected=agreed)
            tables = [parser.parse(text[start:end])[0] for start, end in spans]
            features = [Features.from_arrow_schema(table.schema) for table in tables]
        names = dict.fromkeys(name for table in tables for name in table.column_names)
        columns = {name: self._united(tables, features, name) for name in names}
        return pa.table(columns)

    def _united(self, tables: Sequence[pa.Table], features: Sequence[Features], name: str) -> pa.ChunkedArray:
        feature = self.features.get(name)
        convert = widened if feature is None else recast
        parts = [
            (chunked(table[name]), types[name])
            if types.get(name, _NULL) != _NULL
            else (pa.chunked_array([pa.nulls(table.num_rows)]), _NULL)
            for table, types in zip(tables, features, strict=True)
        ]
        if feature is None:
            feature = reduce(
                lambda left, right: unite(left, right, self.on_mixed_types, name), (part[1] for part in parts)
            )
            if self.on_mixed_types is not None:
                feature = reduce(lambda wide, part: holding(part[0], part[1], wide), parts, feature)
        chunks = [chunk for column, before in parts for chunk in convert(column, before, feature, name).chunks]
        return to_extension(pa.chunked_array(chunks, storage_type(feature)), feature)

    def _arrow_table(self, text: bytes, projected: Mapping[str, pa.DataType] | None) -> pa.Table:
        if projected is not None:
            try:
                return self._arrow(
                    text, {**projected, **{n: self.explicit[n] for n in projected if n in self.explicit}}, "ignore"
                )
            except ERRORS:
                pass  # a type may have to be widened
        return self._arrow(text, self.explicit, "infer")

    def _arrow(self, text: bytes, explicit: Mapping[str, pa.DataType], others: str) -> pa.Table:
        # Everything must be in one block of Arrow's: it promotes types across blocks, and parses what follows the last
        # line end as a block of its own.
        return arrow_json.read_json(
            pa.BufferReader(text if text.endswith(b"\n") else text + b"\n"),
            read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(text) + 2),
            parse_options=arrow_json.ParseOptions(
                explicit_schema=pa.schema(explicit) if explicit else None, unexpected_field_behavior=others
            ),
        )

    def _checked(self, table: pa.Table, text: bytes) -> pa.Table:
        """The table with other columns in place of those in which Arrow may have changed values."""
        require_readable_names(table.schema)
        table.validate(full=True)
        uneven = {*_uneven_columns(table, text)} - self.features.keys()
        others = {
            *(self.encoded & {*table.column_names}),
            *_inexact_columns(table, text),
            *(column.name for column in table.schema if _depth(column.type) > _DEEPEST_TYPE),
            *(name for name in {*table.column_names} & self.features.keys() if self._is_not_declared(table, name)),
        }
        columns = self._dates(table, text, uneven | others)
        if uneven or others:
            rows, problem = self._rows(text)
            if problem is not None or not all(isinstance(row, dict) for row in rows):
                raise pa.ArrowInvalid("not a row in each line")
            encode = encoder_for(text)
            for name in uneven - others:
                values = [row.get(name) for row in rows]
                columns[name] = self._split_keys(table[name], values, name, encode)
            columns |= {name: self._column([row.get(name) for row in rows], name, encode) for name in others}
        if not columns:
            return table
        return pa.table(
            {name: columns.get(name, column) for name, column in zip(table.column_names, table.columns, strict=True)}
        )

    def _is_not_declared(self, table: pa.Table, name: str) -> bool:
        """Whether Arrow's type of a column cannot show its values as its declared type does."""
        return _is_not_declared(table.schema.field(name).type, self.features[name])

    def _split_keys(
        self, column: pa.ChunkedArray, values: list[Any], name: str, encode: Callable[[Any], str]
    ) -> pa.ChunkedArray:
        """A column that Arrow padded with nulls, with Json where the keys of its objects differ."""
        if has_time(column.type):
            return self._column(values, name, encode)
        try:
            array, feature = _with_json(one_array(column), values, encode)
        except _FAILURES:
            return self._column(values, name, encode)  # whose error names the row
        return to_extension(chunked(array), feature)

    def _dates(self, table: pa.Table, text: bytes, others: set[str]) -> dict[str, pa.ChunkedArray]:
        """Columns in which Arrow read times that must be text."""
        timed = [column for column in table.schema if has_time(column.type) and column.name not in others]
        if not timed:
            return {}
        has_zones = _may_have_zones(text)
        doubtful = {}
        for column in timed:
            if (declared := self.features.get(column.name)) is not None:
                doubtful[column.name] = _with_declared_text(column.type, declared, has_zones)
            elif has_zones or not are_times(feature_of(column.type), (self.expected or {}).get(column.name)):
                doubtful[column.name] = _with_text(column.type)
        doubtful = {name: arrow for name, arrow in doubtful.items() if arrow != table.schema.field(name).type}
        if not doubtful:
            return {}
        texts = self._arrow(text, doubtful, "ignore")
        return {
            name: texts[name] if name in self.features else self._dated(texts[name], feature_of(arrow), name)
            for name, arrow in doubtful.items()
        }

    def _dated(self, column: pa.ChunkedArray, feature: Any, name: str) -> pa.ChunkedArray:
        """The column in its extension type, with times where all texts look like them."""
        array, feature = _with_times(one_array(column), feature, (self.expected or {}).get(name))
        return to_extension(chunked(array), feature)

    def row_by_row(self, text: bytes, refusal: str = "") -> tuple[pa.Table | None, Problem | None]:
        """What `parse` returns, without Arrow's parser."""
        rows, problem = self._rows(text)
        for index, row in enumerate(rows):
            if row is not None and not isinstance(row, dict):
                reason = f"expected an object in each row, found {dumps(row):.40}."
                rows, problem = rows[:index], Problem(reason, None)
                break
        if not rows:
            return None, problem or Problem(refusal, 0)
        return self.table_of([row or {} for row in rows], encoder_for(text)), problem

    def _rows(self, text: bytes) -> tuple[list[Any], Problem | None]:
        """The values of a text, with all digits of fractions in columns of decimals."""
        rows, problem = parsed_rows(text)
        return (self.with_decimals(rows, parsed_rows(text, decimals=True)[0]) if self.decimals else rows), problem

    def with_decimals(self, rows: Sequence[Any], exact: Sequence[Any]) -> list[Any]:
        """The rows with the values that `exact` rows have in columns of decimals."""
        return [
            {**row, **{name: other[name] for name in self.decimals if name in row}} if isinstance(row, dict) else row
            for row, other in zip(rows, exact, strict=True)
        ]

    def _column(self, values: list[Any], name: str, encode: Callable[[Any], str]) -> pa.ChunkedArray:
        feature = self.features.get(name)
        if feature is not None:
            _require_whole(values, feature, name)
            return to_extension(column_of([_as_text(value, feature) for value in values], feature, name), feature)
        try:
            column = chunked(array_of(values))
            feature = feature_of(column.type)
        except _FAILURES:
            column, feature = self._mixed(values, name, encode)
        if _depth(column.type) > _DEEPEST_TYPE:
            feature = Json()
            column = chunked(array_of([None if value is None else encode(value) for value in values]))
        return self._dated(column, feature, name)

    def _mixed(self, values: list[Any], name: str, encode: Callable[[Any], str]) -> tuple[pa.ChunkedArray, Any]:
        """Values of different types, or objects with different keys."""
        if self.on_mixed_types is None:
            return infer_column(values, name)
        feature = mixed_feature(values)
        try:
            texts = [_with_texts(feature, value, encode) for value in values]
            return chunked(array_of(texts, storage_type(feature))), feature
        except _FAILURES:
            return column_of(values, feature, name), feature  # whose error names the row

    def _require_narrow(self, text: bytes) -> None:
        """Raise if the rows have too many different keys. Arrow itself raises for nested objects that do."""
        gaps = gaps_in(text, len(text))
        if gaps is None:
            return
        names = {name for row in parsed_rows(text)[0] if isinstance(row, dict) for name in row}
        if len(names) >= gaps[1] // 2 or self.on_mixed_types != "use_json":
            what = f"the table of {gaps[0]:,} rows with {gaps[1]:,} different keys"
            raise LimitExceededError(self.name, what, config.MAX_DECODED_BYTES, "config.MAX_DECODED_BYTES")
        raise pa.ArrowInvalid("objects with too many different keys")


def _empty_rows(num_rows: int) -> pa.Table:
    """A table of rows without columns."""
    return pa.table({"": pa.nulls(num_rows)}).select([])


def _with_times(array: pa.Array, feature: Any, expected: Any) -> tuple[pa.Array, Any]:
    """The array, and its feature, with timestamps in place of texts that all look like times without a zone."""
    if isinstance(feature, dict) and feature:
        inner = expected if isinstance(expected, dict) else dict.fromkeys(feature, expected)
        parts = [
            _with_times(child, item, inner.get(key))
            for child, (key, item) in zip(children(array), feature.items(), strict=True)
        ]
        arrow = pa.struct([pa.field(key, kid.type) for key, (kid, _) in zip(feature, parts, strict=True)])
        kids = [kid for kid, _ in parts]
        return rebuilt(array, kids, arrow), {key: item for key, (_, item) in zip(feature, parts, strict=True)}
    if isinstance(feature, List) and pa.types.is_list(array.type):
        inner = expected.feature if isinstance(expected, (List, LargeList)) else expected
        items, item = _with_times(array.values, feature.feature, inner)
        return rebuilt(array, [items], pa.list_(items.type)), List(item)
    if feature != Value("string") or not (expected in (None, _NULL) or is_time(expected)):
        return array, feature
    texts = array.drop_null()
    try:
        return (array.cast(_TIME), Value("timestamp[s]")) if len(texts) and texts[:1].cast(_TIME) else (array, feature)
    except pa.ArrowInvalid:
        return array, feature


def has_time(arrow: pa.DataType) -> bool:
    """Whether a type contains timestamps."""
    if pa.types.is_struct(arrow):
        return any(has_time(item.type) for item in arrow)
    return has_time(arrow.value_type) if is_list(arrow) else pa.types.is_timestamp(arrow)


def _with_text(arrow: pa.DataType) -> pa.DataType:
    """The type with strings in place of timestamps."""
    if pa.types.is_struct(arrow):
        return pa.struct([pa.field(item.name, _with_text(item.type)) for item in arrow])
    if is_list(arrow):
        return pa.list_(_with_text(arrow.value_type))
    return pa.string() if pa.types.is_timestamp(arrow) else arrow


def _is_not_declared(arrow: pa.DataType, feature: Any) -> bool:
    """Whether objects have keys that their declared type lacks, text is no text, or integers are doubles."""
    if isinstance(feature, Value):
        if _is_text(feature):
            return not (pa.types.is_string(arrow) or pa.types.is_null(arrow) or pa.types.is_timestamp(arrow))
        return pa.types.is_integer(feature.pa_type) and pa.types.is_floating(arrow)
    if pa.types.is_struct(arrow) and isinstance(feature, dict):
        return any(item.name not in feature or _is_not_declared(item.type, feature[item.name]) for item in arrow)
    return is_list(arrow) and _is_not_declared(arrow.value_type, getattr(feature, "feature", None))


def _with_declared_text(arrow: pa.DataType, feature: Any, has_zones: bool) -> pa.DataType:
    """The type with strings in place of timestamps that are not declared as times, or as times without a zone."""
    if pa.types.is_struct(arrow):
        fields = feature if isinstance(feature, dict) else {}
        return pa.struct(
            [(item.name, _with_declared_text(item.type, fields.get(item.name), has_zones)) for item in arrow]
        )
    if is_list(arrow):
        return pa.list_(_with_declared_text(arrow.value_type, getattr(feature, "feature", None), has_zones))
    if not pa.types.is_timestamp(arrow):
        return arrow
    declared = feature.pa_type if isinstance(feature, Value) else pa.string()
    is_time = pa.types.is_temporal(declared) and not (has_zones and getattr(declared, "tz", None) is None)
    return arrow if is_time else pa.string()


def _with_json(array: pa.Array, values: list[Any], encode: Callable[[Any], str]) -> tuple[pa.Array, Any]:
    """The array of these values, and its feature, with JSON text in place of objects whose keys differ."""
    arrow = array.type
    if pa.types.is_struct(arrow):
        names = [item.name for item in arrow]
        objects = [value for value in values if value is not None]
        if not names or any(len(value) != len(names) for value in objects):  # keys of values are fields of the type
            return pa.array([None if value is None else encode(value) for value in values], pa.string()), Json()
        parts = []
        for name, child in zip(names, children(array), strict=True):
            items = (
                [None if value is None else value[name] for value in values] if pa.types.is_nested(child.type) else []
            )
            parts.append(_with_json(child, items, encode))
        arrays = [part for part, _ in parts]
        fields = [pa.field(name, part.type) for name, part in zip(names, arrays, strict=True)]
        return rebuilt(array, arrays, pa.struct(fields)), {
            name: feature for name, (_, feature) in zip(names, parts, strict=True)
        }
    if is_list(arrow) and pa.types.is_nested(arrow.value_type):
        items = [item for value in values if value is not None for item in value]
        if len(items) != len(array.values):
            raise pa.ArrowInvalid("items that no list holds")
        child, feature = _with_json(array.values, items, encode)
        return rebuilt(array, [child], pa.list_(child.type)), List(feature)
    return array, feature_of(arrow)


def _may_have_zones(text: bytes) -> bool:
    """Whether a text may end with the zone of a time: `10:00Z`, `10:00+01`, `T10+0100` or ` 10:00:00-01:00`."""
    characters = np.frombuffer(text, np.uint8)
    if (characters[np.flatnonzero(characters[:-1] == ord("Z")) + 1] == ord('"')).any():
        return True
    signs = np.flatnonzero((characters == ord("+")) | (characters == ord("-")))
    signs = signs[signs > 2]
    before = characters[signs - 3]
    return bool(((before == ord(":")) | (before == ord("T")) | (before == ord(" "))).any())


def _inexact_columns(table: pa.Table, text: bytes) -> list[str]:
    """The columns of doubles of which some may be integers that are no doubles, or -0, the integer without a sign."""
    names = [
        name
        for name, column in zip(table.column_names, table.columns, strict=True)
        if any(_has_doubtful_doubles(chunk) for chunk in column.chunks)
    ]
    return names if names and _INEXACT.search(text) else []


def _has_doubtful_doubles(array: pa.Array) -> bool:
    arrow = array.type
    if pa.types.is_struct(arrow) or is_list(arrow):
        return any(map(_has_doubtful_doubles, children(array)))
    if not pa.types.is_float64(arrow) or not len(array):
        return False
    bits = np.frombuffer(array.buffers()[1], np.int64, len(array), array.offset * 8)
    return bool(((bits & np.iinfo(np.int64).max) >= _LARGEST).any() or (bits == _MINUS_ZERO).any())


def _uneven_columns(table: pa.Table, text: bytes) -> list[str]:
    """The columns whose objects lack keys that others have, or are empty.

    Arrow reads both a missing key and a null as null. But a key that is in every object occurs in the text that many
    times, and counting occurrences is cheaper than parsing again. Keys that occur twice in an object are an error of
    Arrow's.
    """
    if not any(pa.types.is_nested(arrow) for arrow in table.schema.types):
        return []
    objects: Counter[str] = Counter()
    doubtful: dict[str, set[str]] = defaultdict(set)
    uneven = set()
    for name, column in zip(table.column_names, table.columns, strict=True):
        for chunk in column.chunks:
            if not _count(chunk, objects, doubtful[name]):
                uneven.add(name)
    if sum(map(len, doubtful.values())) > _MANY_KEYS:  # each of which would be counted in the whole text
        return [name for name in table.column_names if name in uneven or doubtful[name]]
    nulls = {name: column.null_count for name, column in zip(table.column_names, table.columns, strict=True)}
    return [
        name
        for name in table.column_names
        if name in uneven or not all(_in_all(key, objects[key], nulls, table, text) for key in doubtful[name])
    ]


def _count(array: pa.Array, objects: Counter[str], doubtful: set[str]) -> bool:
    """Count the objects that could have each key, and collect keys with nulls; False if there are empty objects."""
    if is_list(array.type):
        return not pa.types.is_nested(array.type.value_type) or _count(array.flatten(), objects, doubtful)
    if not pa.types.is_struct(array.type):
        return True
    even = array.type.num_fields > 0
    for item, items in zip(array.type, array.flatten(), strict=True):
        objects[item.name] += len(array) - array.null_count
        if items.null_count > array.null_count:
            doubtful.add(item.name)
        even = _count(items, objects, doubtful) and even
    return even


def _in_all(key: str, objects: int, nulls: Mapping[str, int], table: pa.Table, text: bytes) -> bool:
    if key in nulls:
        if nulls[key]:
            return False
        objects += table.num_rows
    quoted = json.dumps(key, ensure_ascii=False).encode() + b":"
    count = text.count(quoted)
    # Behind a backslash, the first quote is the last but one of another key.
    return count >= objects and count - (text.count(b"\\" + quoted) if b"\\" in text else 0) == objects


def _depth(arrow: pa.DataType) -> int:
    if pa.types.is_struct(arrow):
        return 1 + max((_depth(item.type) for item in arrow), default=0)
    return 1 + _depth(arrow.value_type) if is_list(arrow) else 0


def _with_texts(feature: Any, value: Any, encode: Callable[[Any], str]) -> Any:
    """The value with JSON text wherever the feature says `Json`."""
    if value is None:
        return None
    if isinstance(feature, Json):
        return encode(value)
    if isinstance(feature, dict):
        return {name: _with_texts(feature[name], item, encode) for name, item in value.items()}
    if isinstance(feature, (List, LargeList)) and any_leaf(feature, (Json,)):
        return [_with_texts(feature.feature, item, encode) for item in value]
    return value


def _readable_type(feature: Any) -> pa.DataType | None:
    """The Arrow type that a feature can be parsed as directly; None if values must be parsed first and cast then."""
    return storage_type(feature) if _is_readable(feature) else None


def _is_readable(feature: Any) -> bool:
    if isinstance(feature, dict):
        return bool(feature) and all(map(_is_readable, feature.values()))
    if isinstance(feature, List):
        return feature.length < 0 and _is_readable(feature.feature)
    if isinstance(feature, LargeList) or not isinstance(feature, Value):
        return False
    arrow = feature.pa_type
    return (
        pa.types.is_string(arrow) or pa.types.is_boolean(arrow) or pa.types.is_integer(arrow) or arrow == pa.float64()
    )


def _require_whole(values: Sequence[Any], feature: Any, column: str) -> None:
    """Raise for numbers with a fraction in an integer column, as Arrow does; Python would truncate them."""
    for row, value in enumerate(values):
        if (fraction := _fraction(value, feature)) is not None:
            raise ValueTypeError(column, row, str(fraction), str(feature), "it is no whole number.")


def _fraction(value: Any, feature: Any) -> float | None:
    if isinstance(feature, dict):
        inner = [(value.get(name), kind) for name, kind in feature.items()] if isinstance(value, dict) else []
    elif isinstance(feature, (List, LargeList)):
        inner = [(item, feature.feature) for item in value] if isinstance(value, list) else []
    elif isinstance(value, float) and isinstance(feature, Value) and pa.types.is_integer(feature.pa_type):
        return None if value.is_integer() else value
    else:
        return None
    return next((fraction for pair in inner if (fraction := _fraction(*pair)) is not None), None)


def _as_text(value: Any, feature: Any) -> Any:
    """The value with JSON text in place of whatever else is declared as text."""
    if value is None:
        return None
    if isinstance(feature, dict) and isinstance(value, dict):
        return {name: _as_text(item, feature.get(name)) for name, item in value.items()}
    if isinstance(feature, (List, LargeList)) and isinstance(value, list):
        return [_as_text(item, feature.feature) for item in value]
    return _text_of(value) if _is_text(feature) and not isinstance(value, str) else value


def _text_of(value: Any) -> str | None:
    """The JSON text of a value; None for NaN, with which other programs write that a text is missing."""
    if _is_finite(value):
        return dumps(value)
    # msgspec writes null for an infinity.
    return None if value != value else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return all(map(_is_finite, value)) if isinstance(value, list) else not isinstance(value, float) or isfinite(value)


def _is_text(feature: Any) -> bool:
    return isinstance(feature, Value) and (
        pa.types.is_string(feature.pa_type) or pa.types.is_large_string(feature.pa_type)
    )
