"""The common feature of two: the smallest one that gives back the values of both.

Null adopts any type. Types widen within their family: integers, floats, decimals, text, bytes, dates and times. Structs
are united field by field. Objects with different keys become `Json`; so do different types on request. `Json` has no
form for dates, bytes, decimals and media: these are an error beside any other type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import CastError
from crucible_datasets.features.types import Json, LargeList, List, Value, with_item, with_leaves

_NULL = Value("null")
_SIGNED, _UNSIGNED = (["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"])
_FLOATS = ["float16", "float32", "float64"]
DATES = ["date32", "date64"]
_FAMILIES = (_SIGNED, _UNSIGNED, _FLOATS, DATES, ["string", "large_string"], ["binary", "large_binary"])
_JSON_VALUES = {"null", "bool", "string", "large_string", *_SIGNED, *_UNSIGNED, *_FLOATS}
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}  # of the longest integer of so many bits
_TIME = re.compile(r"(?P<name>timestamp|duration|time32|time64)\[(?P<unit>s|ms|us|ns)(?:,\s*tz=(?P<zone>[^\]]+))?\]")
_UNITS = ["s", "ms", "us", "ns"]
_MOST_DIGITS = 76  # of a decimal256


def unite(left: Any, right: Any, on_mixed_types: str | None = None, name: str | None = None, keys: str = "json") -> Any:
    """The smallest feature that holds the values of both.

    `keys` says what structs with different fields become: `"json"`, `"error"`, or `"null"` (all fields, null where one
    is missing).

    >>> unite({"a": Value("int32")}, {"a": Value("int64")})
    {'a': Value('int64')}
    >>> unite({"x": Value("string")}, {"y": Value("string")})
    Json(decode=True)
    """
    if left == right or right == _NULL:
        return left
    if left == _NULL:
        return right
    if isinstance(left, dict) and isinstance(right, dict) and (left.keys() == right.keys() or keys == "null"):
        fields = dict.fromkeys([*left, *right])
        return {key: unite(left.get(key, _NULL), right.get(key, _NULL), on_mixed_types, name, keys) for key in fields}
    if isinstance(left, (List, LargeList)) and isinstance(right, (List, LargeList)):
        return _list_of(left, right, unite(left.feature, right.feature, on_mixed_types, name, keys))
    if isinstance(left, Value) and isinstance(right, Value) and (dtype := common_dtype(left.dtype, right.dtype)):
        return Value(dtype)
    if isinstance(left, dict) and isinstance(right, dict):
        becomes_json, reason = keys == "json", "their fields differ"
    else:
        becomes_json, reason = on_mixed_types is not None or Json() in (left, right), "no type holds the values of both"
    if not becomes_json:
        raise CastError(name, str(left), str(right), f"{reason}.")
    for feature in (left, right):
        if not has_json_form(feature):
            raise CastError(name, str(left), str(right), f"{reason}, and {feature} has no exact form in Json.")
    return Json()


def json_for_other_keys(feature: Any, found: Any, name: str | None = None) -> Any:
    """The feature of a column after values of another type are added: `Json` where their objects have other keys.

    >>> json_for_other_keys({"x": Value("int8")}, {"y": Value("int8")}), json_for_other_keys(Value("int8"), Json())
    (Json(decode=True), Value('int8'))
    """
    if isinstance(feature, (List, LargeList)) and isinstance(found, (List, LargeList)):
        return with_item(feature, json_for_other_keys(feature.feature, found.feature, name))
    if not isinstance(feature, dict) or not isinstance(found, (dict, Json)):
        return feature
    if isinstance(found, dict) and found.keys() == feature.keys():
        return {key: json_for_other_keys(feature[key], found[key], name) for key in feature}
    return unite(feature, Json(), name=name)


def is_lossless(source: Any, target: Any) -> bool:
    """Whether a column of `target` gives back every value of a `source` column that can be cast to it safely."""
    if source in (target, _NULL):
        return True
    if isinstance(source, dict) and isinstance(target, dict):
        return source.keys() == target.keys() and all(is_lossless(source[key], target[key]) for key in source)
    if isinstance(source, (List, LargeList)) and isinstance(target, (List, LargeList)):
        is_wider = _list_of(source, target, target.feature) == target
        return is_wider and is_lossless(source.feature, target.feature)
    if isinstance(source, Value) and isinstance(target, Value):
        return common_dtype(source.dtype, target.dtype) == target.dtype
    return False


def adopt(feature: Any, other: Any) -> Any:
    """`feature`, with its nulls, at any depth, replaced by the types that `other` has there."""
    if feature == _NULL:
        return other
    if isinstance(feature, dict) and isinstance(other, dict) and feature.keys() == other.keys():
        return {name: adopt(feature[name], other[name]) for name in feature}
    if isinstance(feature, (List, LargeList)) and isinstance(other, (List, LargeList)):
        return with_item(feature, adopt(feature.feature, other.feature))
    return feature


def may_fit(source: Any, target: Any) -> bool:
    """Whether values of `source` can have the same Python form as values of `target`; whether they fit, each one tells.

    >>> may_fit(Value("int64"), Value("int8")), may_fit(Value("string"), Value("int64"))
    (True, False)
    """
    if is_lossless(source, target):
        return True
    if isinstance(source, dict) and isinstance(target, dict):
        return source.keys() == target.keys() and all(may_fit(source[name], target[name]) for name in source)
    if isinstance(source, (List, LargeList)) and isinstance(target, (List, LargeList)):
        return may_fit(source.feature, target.feature)
    if isinstance(target, Json):
        return has_json_form(source)
    return isinstance(source, Value) and isinstance(target, Value) and _is_same_family(source.dtype, target.dtype)


def _is_same_family(left: str, right: str) -> bool:
    if any(left in family and right in family for family in (*_FAMILIES, [*_SIGNED, *_UNSIGNED])):
        return True
    if left.startswith("decimal") and right.startswith("decimal"):
        return True
    first, second = _TIME.fullmatch(left), _TIME.fullmatch(right)
    if first is None or second is None:
        return False
    return first["name"].rstrip("3264") == second["name"].rstrip("3264") and first["zone"] == second["zone"]


def agreed_dates(parts: Sequence[Mapping[str, Any]], on_mixed_types: str | None) -> dict[str, Any] | None:
    """The common types of all parts of a dataset, if text that looks like a date must stay text in some of them.

    A timestamp is one only where all parts agree: beside text, numbers or objects with other keys it is text.
    """
    agreed = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        features = [part[name] for part in parts if name in part]
        if any(map(_has_times, features)):
            texts = (with_leaves(feature, _text_for_time) for feature in features)
            common = reduce(lambda left, right: unite(left, right, on_mixed_types, name), texts)
            agreed[name] = _with_common_times(common, features)
    is_changed = any(not are_times(part[name], agreed[name]) for part in parts for name in part if name in agreed)
    return agreed if is_changed else None


def _has_times(feature: Any) -> bool:
    if isinstance(feature, dict):
        return any(map(_has_times, feature.values()))
    if isinstance(feature, (List, LargeList)):
        return _has_times(feature.feature)
    return is_time(feature)


def is_time(feature: Any) -> bool:
    return isinstance(feature, Value) and pa.types.is_timestamp(feature.pa_type)


def _text_for_time(feature: Any) -> Any:
    return Value("string") if is_time(feature) else feature


def _with_common_times(common: Any, features: Sequence[Any]) -> Any:
    """The common type, with times wherever all features have them."""
    features = [feature for feature in features if feature != _NULL]
    if isinstance(common, Value) and features and all(map(is_time, features)):
        return features[0]
    if isinstance(common, dict) and all(isinstance(feature, dict) for feature in features):
        return {key: _with_common_times(item, [feature[key] for feature in features]) for key, item in common.items()}
    if isinstance(common, List) and all(isinstance(feature, List) for feature in features):
        return List(_with_common_times(common.feature, [feature.feature for feature in features]))
    return common


def are_times(feature: Any, expected: Any) -> bool:
    """Whether other rows allow the times of a feature to be times."""
    if expected is None or expected == _NULL:
        return True
    if isinstance(feature, dict):
        inner = expected if isinstance(expected, dict) else dict.fromkeys(feature, expected)
        return all(are_times(item, inner.get(key)) for key, item in feature.items())
    if isinstance(feature, (List, LargeList)):
        return are_times(feature.feature, expected.feature if isinstance(expected, (List, LargeList)) else expected)
    return not is_time(feature) or is_time(expected)


def has_json_form(feature: Any) -> bool:
    """Whether every value of a feature can be written as JSON exactly, but for NaN and infinities."""
    if isinstance(feature, dict):
        return all(map(has_json_form, feature.values()))
    if isinstance(feature, (List, LargeList)):
        return has_json_form(feature.feature)
    return isinstance(feature, Json) or (isinstance(feature, Value) and feature.dtype in _JSON_VALUES)


def _list_of(left: List | LargeList, right: List | LargeList, item: Any) -> List | LargeList:
    if isinstance(left, LargeList) or isinstance(right, LargeList):
        return LargeList(item)
    return List(item, length=left.length if left.length == right.length else -1)


def common_dtype(left: str, right: str) -> str | None:
    """The dtype that holds the values of both; None if there is none."""
    for family in ([left], *_FAMILIES):
        if left in family and right in family:
            return max(left, right, key=family.index)
    integers = [dtype for dtype in (left, right) if dtype in _SIGNED or dtype in _UNSIGNED]
    if len(integers) == 2:
        return _integer_holding(*integers)
    if len(integers) == 1 and (left in _FLOATS or right in _FLOATS):
        return "float64"
    return _wider_decimal(left, right) or _wider_time(left, right)


def _integer_holding(left: str, right: str) -> str:
    signed, unsigned = (left, right) if left in _SIGNED else (right, left)
    # A signed type holds an unsigned one of half its width. Beside uint64, the cast finds negative values.
    bits = max(_bits(signed), 2 * _bits(unsigned))
    return f"int{bits}" if bits <= 64 else "uint64"


def _bits(integer: str) -> int:
    return int(integer.rpartition("int")[2])


def _wider_decimal(left: str, right: str) -> str | None:
    sizes = [_digits(dtype) for dtype in (left, right)]
    if not any("decimal" in dtype for dtype in (left, right)) or None in sizes:
        return None
    scale = max(size[1] for size in sizes if size)
    precision = max(size[0] - size[1] for size in sizes if size) + scale
    if precision > _MOST_DIGITS:
        return None
    return f"decimal{128 if precision <= 38 else 256}({precision}, {scale})"


def _digits(dtype: str) -> tuple[int, int] | None:
    """The precision and scale of a decimal or an integer."""
    if dtype in _SIGNED or dtype in _UNSIGNED:
        return _DIGITS[_bits(dtype)], 0
    arrow = Value(dtype).pa_type
    return (arrow.precision, arrow.scale) if pa.types.is_decimal(arrow) else None


def _wider_time(left: str, right: str) -> str | None:
    first, second = _TIME.fullmatch(left), _TIME.fullmatch(right)
    if first is None or second is None:
        return _timestamp_of_date(left, right, first or second)
    unit = max(first["unit"], second["unit"], key=_UNITS.index)
    match first["name"].rstrip("3264"), second["name"].rstrip("3264"):
        case "time", "time":
            return f"time{32 if unit in ('s', 'ms') else 64}[{unit}]"
        case "duration", "duration":
            return f"duration[{unit}]"
        case "timestamp", "timestamp" if first["zone"] == second["zone"] is None:
            return f"timestamp[{unit}]"
        case "timestamp", "timestamp" if first["zone"] and second["zone"]:
            # An instant is the same in every zone.
            return f"timestamp[{unit}, tz={first['zone'] if first['zone'] == second['zone'] else 'UTC'}]"
    return None


def _timestamp_of_date(left: str, right: str, time: re.Match[str] | None) -> str | None:
    is_date = left in DATES or right in DATES
    return time[0] if is_date and time and time["name"] == "timestamp" and time["zone"] is None else None
