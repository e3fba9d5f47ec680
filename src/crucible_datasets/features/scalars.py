"""One value → the Python type of its column, exactly: `"3"` becomes 3 in an int64 column, `"x"` and 2.5 are errors."""

from __future__ import annotations

import datetime as dt
import decimal
import re
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.features.dtypes import is_text

_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|infinity)|nan", re.IGNORECASE)
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def as_type(value: Any, arrow: pa.DataType) -> Any:
    """The value as the Python type of an Arrow type; a `ValueError` if it would change."""
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, pa.Scalar):
        value = value.as_py()
    if pa.types.is_boolean(arrow):
        return as_bool(value)
    if pa.types.is_integer(arrow):
        return _as_integer(value)
    if pa.types.is_floating(arrow):
        return _as_float(value)
    if pa.types.is_decimal(arrow):
        return _as_decimal(value)
    if is_text(arrow):
        return _as_text(value)
    if pa.types.is_date(arrow) and isinstance(value, dt.datetime):
        return _as_date(value)
    return value


def as_bool(value: Any) -> bool:
    """A truth value, or a word or number that stands for one.

    >>> as_bool("false"), as_bool("Yes"), as_bool(1)
    (False, True, True)
    """
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    raise ValueError(f"expected True or False, or one of the words {', '.join(_WORDS)}.")


def _as_integer(value: Any) -> int:
    if isinstance(value, str):
        if not _INTEGER.fullmatch(value.strip()):
            raise ValueError("it is no whole number.")
        return int(value)
    number = int(value)
    if number != value:
        raise ValueError("it is no whole number.")
    return number


def _as_float(value: Any) -> float:
    if isinstance(value, str) and not _FLOAT.fullmatch(value.strip()):
        raise ValueError("it is no number.")
    number = float(value)
    if isinstance(value, int) and number != value:
        raise ValueError("a float cannot hold it exactly.")
    return number


def _as_decimal(value: Any) -> decimal.Decimal | int:
    if isinstance(value, (decimal.Decimal, int)):
        return value
    if isinstance(value, (str, float)) and _FLOAT.fullmatch(str(value).strip()):
        number = decimal.Decimal(str(value).strip())
        if number.is_finite():
            return number
    raise ValueError("it is no decimal number.")


def _as_text(value: Any) -> str:
    return value.decode() if isinstance(value, (bytes, bytearray)) else str(value)


def _as_date(value: dt.datetime) -> dt.date:
    if value.time() != dt.time() or value.tzinfo is not None:
        raise ValueError("a date cannot hold its time.")
    return value.date()
