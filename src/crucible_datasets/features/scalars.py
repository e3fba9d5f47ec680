"""Text and Python scalars → values of a primitive type, exactly: `"3"` becomes 3 in an int64 column, `"x"` is an error.

`as_type` converts one value, `parse_texts` a column of text; both accept the same spellings. Blanks around a text are
ignored, as is a plus sign. Nothing is rounded but what a float cannot hold.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import CastError
from crucible_datasets.features.dtypes import is_text

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,4})?", re.IGNORECASE)
_NO_NUMBER = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)  # but a float
_DURATION = re.compile(r"(?:(-?[0-9]+) days?,? ?)?([+-]?)(?:([0-9]+):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?)?")
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
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
        return _as_float(value, arrow)
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
        text = value.strip()
        if _INTEGER.fullmatch(text):
            return int(text)
        if not _DECIMAL.fullmatch(text):
            raise ValueError("it is no whole number.")
        value = decimal.Decimal(text)
    number = int(value)
    if number != value:
        raise ValueError("it is no whole number.")
    return number


def _as_float(value: Any, arrow: pa.DataType) -> float:
    is_word = isinstance(value, str) and _NO_NUMBER.fullmatch(value.strip())
    if isinstance(value, str) and not is_word and not _DECIMAL.fullmatch(value.strip()):
        raise ValueError("it is no number.")
    number = float(value)
    if isinstance(value, int) and pa.scalar(number).cast(arrow).cast(pa.float64()).as_py() != value:
        raise ValueError("a float cannot hold it exactly.")
    if isinstance(value, str) and math.isinf(number) and not is_word:
        raise ValueError("it is too big for a float.")
    return number


def _as_decimal(value: Any) -> decimal.Decimal | int:
    if isinstance(value, (decimal.Decimal, int)):
        return value
    if isinstance(value, (str, float)) and _DECIMAL.fullmatch(str(value).strip()):
        return decimal.Decimal(str(value).strip())
    raise ValueError("it is no decimal number.")


def _as_text(value: Any) -> str:
    return value.decode() if isinstance(value, (bytes, bytearray)) else str(value)


def _as_date(value: dt.datetime) -> dt.date:
    if value.time() != dt.time() or value.tzinfo is not None:
        raise ValueError("a date cannot hold its time.")
    return value.date()


def parse_texts(texts: pa.Array, arrow: pa.DataType) -> pa.Array:
    """A column of text as a primitive type; the error names the first text that is no value of it."""
    for spelled in (texts, _without_blanks(texts, arrow)):
        try:
            parsed = _parse_by_arrow(spelled, arrow)
        except (pa.ArrowException, ValueError):
            continue
        if _are_numbers(spelled, parsed):
            return parsed
    # Texts that differ are few where Arrow refuses some: words, mistakes.
    codes = texts.dictionary_encode()
    values = pa.concat_arrays([pa.nulls(0, arrow), *_values(codes, arrow)])
    return values.take(codes.indices)


def _values(codes: pa.DictionaryArray, arrow: pa.DataType) -> Iterator[pa.Array]:
    for code, text in enumerate(codes.dictionary.to_pylist()):
        try:
            value = _parse_by_arrow(pa.array([_normal(text, arrow)], pa.string()), arrow)
            if pa.types.is_floating(arrow) and math.isinf(value[0].as_py()) and not _NO_NUMBER.fullmatch(text.strip()):
                raise ValueError("it is too big for a float.")
            yield value
        except (ValueError, pa.ArrowException) as error:
            row = pc.index(codes.indices, pa.scalar(code, codes.indices.type)).as_py()
            raise CastError(None, "string", str(arrow), f"{_short(text)}: {_reason(error, arrow)}", row) from error


def _parse_by_arrow(texts: pa.Array, arrow: pa.DataType) -> pa.Array:
    if pa.types.is_time(arrow):
        moments = pc.binary_join_element_wise(pa.scalar("1970-01-01", texts.type), texts, pa.scalar(" ", texts.type))
        return moments.cast(pa.timestamp(arrow.unit)).cast(arrow)
    if pa.types.is_duration(arrow):
        return pa.array([None if text is None else _units(text, arrow.unit) for text in texts.to_pylist()], arrow)
    return texts.cast(arrow)


def _without_blanks(texts: pa.Array, arrow: pa.DataType) -> pa.Array:
    """The texts without what is around numbers: blanks, a plus sign, and for integers a fraction of zeros."""
    texts = pc.replace_substring_regex(pc.utf8_trim_whitespace(texts), r"^\+([0-9.])", r"\1")
    return pc.replace_substring_regex(texts, r"^(-?[0-9]+)\.0*$", r"\1") if pa.types.is_integer(arrow) else texts


def _are_numbers(texts: pa.Array, parsed: pa.Array) -> bool:
    """Whether Arrow has read nothing else: hexadecimal digits as integers, or infinity for what is too big."""
    if pa.types.is_integer(parsed.type):
        data = texts.buffers()[2]
        has_x = data is not None and re.search(b"[xX]", memoryview(data)) is not None
        return not has_x or not pc.any(pc.match_substring(texts, "x", ignore_case=True)).as_py()
    if pa.types.is_floating(parsed.type):
        infinite = texts.filter(pc.is_inf(parsed))
        return all(_NO_NUMBER.fullmatch(text) for text in pc.unique(infinite).to_pylist() if text is not None)
    return True


def _normal(text: str, arrow: pa.DataType) -> str:
    """The text in a spelling that Arrow reads."""
    text = text.strip()
    if pa.types.is_boolean(arrow):
        return str(as_bool(text))
    if pa.types.is_integer(arrow):
        return str(_as_integer(text))
    if pa.types.is_decimal(arrow):
        return str(_as_decimal(text))
    if pa.types.is_floating(arrow):
        _as_float(text, arrow)
        return text.removeprefix("+")
    return text


def _units(text: str, unit: str) -> int:
    """A duration as Python and pandas write it, `1 day, 2:03:04.5`, in units of its type."""
    match = _DURATION.fullmatch(text.strip())
    if match is None or not any(match.group(1, 3)):
        raise ValueError("expected a duration such as 1 day, 2:03:04.5.")
    days, sign, hours, minutes, seconds, fraction = (group or "0" for group in match.groups())
    time = (int(hours) * 60 + int(minutes)) * 60 + int(seconds)
    nanoseconds = time * 10**9 + int(fraction.ljust(9, "0") if fraction != "0" else 0)
    total = int(days) * 86_400 * 10**9 + (-nanoseconds if sign == "-" else nanoseconds)
    if total % _NANOSECONDS[unit]:
        raise ValueError(f"it has fractions of the unit {unit}.")
    return total // _NANOSECONDS[unit]


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:79] + "…")


def _reason(error: Exception, arrow: pa.DataType) -> str:
    return f"{arrow} cannot hold it." if isinstance(error, pa.ArrowException) else str(error)
