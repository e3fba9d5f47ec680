"""One file of a sample → the value that a row shows, without Arrow where the result is the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crucible_datasets.exceptions import DatasetsError
from crucible_datasets.features import List, Value
from crucible_datasets.formats.webdataset.columns import fixed_feature, values

_EXACT = {"string": str, "int64": int, "float64": float, "bool": bool}
_TEXT, _INTEGER = Value("string"), Value("int64")
_LARGEST = 1 << 63


class UnsureError(Exception):
    """The value may differ from what Arrow would give."""


def cell_maker(extension: str, feature: Any) -> Callable[[bytes], Any] | None:
    """A function from the content of a file to its value; None if Arrow is needed."""
    fixed = fixed_feature(extension)
    if extension.lower().endswith("gz") or (fixed is not None and fixed != feature):
        return None
    if fixed == _TEXT:
        return _text
    if fixed == _INTEGER:
        return _integer
    if fixed is not None:
        return None
    return lambda content: exactly(_value(extension, content), feature)


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UnsureError from error


def _integer(content: bytes) -> int:
    try:
        found = int(content)
    except ValueError as error:
        raise UnsureError from error
    if not -_LARGEST <= found < _LARGEST:
        raise UnsureError
    return found


def _value(extension: str, content: bytes) -> Any:
    try:
        return values(extension, [content], [""], "")[0]
    except DatasetsError as error:
        raise UnsureError from error


def exactly(value: Any, feature: Any) -> Any:
    """A value that a column of the feature would return unchanged, with None for missing fields.

    >>> exactly({"a": 1}, {"a": Value("int64"), "b": Value("string")})
    {'a': 1, 'b': None}
    """
    if value is None:
        return None
    if type(feature) is Value:
        if type(value) is _EXACT.get(feature.dtype) and (type(value) is not int or -_LARGEST <= value < _LARGEST):
            return value
    elif type(feature) is dict:
        if type(value) is dict and feature.keys() >= value.keys():
            return {name: exactly(value.get(name), kind) for name, kind in feature.items()}
    elif type(feature) is List and feature.length == -1 and type(value) is list:
        return [exactly(item, feature.feature) for item in value]
    raise UnsureError
