"""The common feature of two: the smallest one that holds the values of both.

Null adopts any type, structs are merged by field, integers and floats widen, lists unite their items. Types without a
common one are an error, or `Json` on request (`use_json`); so are structs with different fields (`use_json_for_keys`).
"""

from __future__ import annotations

from typing import Any

from crucible_datasets.exceptions import CastError
from crucible_datasets.features.types import Json, LargeList, List, Value

_NULL = Value("null")
_BITS = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16, 32, 64)}
_FAMILIES = (["float16", "float32", "float64"], ["string", "large_string"], ["binary", "large_binary"])


def unite(left: Any, right: Any, on_mixed_types: str | None = None, name: str | None = None) -> Any:
    """The smallest feature that holds the values of both.

    >>> unite({"a": Value("int32")}, {"a": Value("int64"), "b": Value("string")})
    {'a': Value('int64'), 'b': Value('string')}
    """
    if left == right or right == _NULL:
        return left
    if left == _NULL:
        return right
    if isinstance(left, dict) and isinstance(right, dict):
        if on_mixed_types == "use_json_for_keys" and left.keys() != right.keys():
            return Json()
        fields = dict.fromkeys([*left, *right])
        return {key: unite(left.get(key, _NULL), right.get(key, _NULL), on_mixed_types, name) for key in fields}
    if isinstance(left, (List, LargeList)) and isinstance(right, (List, LargeList)):
        return _list_of(left, right, unite(left.feature, right.feature, on_mixed_types, name))
    if isinstance(left, Value) and isinstance(right, Value) and (wide := _wider(left.dtype, right.dtype)):
        return Value(wide)
    if isinstance(left, Json) or isinstance(right, Json) or on_mixed_types is not None:
        return Json()
    raise CastError(name, str(left), str(right), "no type holds the values of both.")


def _list_of(left: List | LargeList, right: List | LargeList, item: Any) -> List | LargeList:
    if isinstance(left, LargeList) or isinstance(right, LargeList):
        return LargeList(item)
    return List(item, length=left.length if left.length == right.length else -1)


def _wider(left: str, right: str) -> str | None:
    for family in ([left], *_FAMILIES):
        if left in family and right in family:
            return max(left, right, key=family.index)
    if left in _BITS and right in _BITS:
        return _integer_holding(left, right)
    return "float64" if {left, right} <= {*_BITS, *_FAMILIES[0]} else None


def _integer_holding(left: str, right: str) -> str:
    if left[0] == right[0]:
        return max(left, right, key=lambda name: _BITS[name])
    # A signed type holds an unsigned one of half its width; for uint64 only float64 is left.
    bits = max(2 * _BITS[name] if name[0] == "u" else _BITS[name] for name in (left, right))
    return f"int{bits}" if bits <= 64 else "float64"
