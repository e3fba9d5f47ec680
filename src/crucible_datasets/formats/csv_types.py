"""Columns of text → columns of integers, floats, booleans or text, by the rules of pandas, or of declared features.

Certain words mean "missing". Without features, a column has the first of the types integer, float, boolean and text
that fits all its other values, over all rows of all files. Integers with missing values become floats. Where that
would lose digits they stay integers, and integers beside fractions are text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError, CastError
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.classlabel import ClassLabel
from crucible_datasets.features.storage import to_extension
from crucible_datasets.features.types import Value
from crucible_datasets.formats.arrow_text import word_set
from crucible_datasets.formats.csv_bytes import may_hold_bytes, surely_lacks

MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
TRUE, FALSE = ("True", "TRUE", "true"), ("False", "FALSE", "false")
TEXT = pa.large_string()
KINDS = ("int64", "uint64", "float64", "bool")
FLOATS = ("float64", "bool")
_KIND_OF = {"double": "float64"}
_SPACES_AND_PLUS = b" \t\n\v\f\r+"
_FEW = 100  # first rows, which are enough to recognize most text columns
_EXACT = 2**53  # smaller integers are exact as doubles


@dataclass(frozen=True)
class Types:
    """Types that are known before a file is read: the features of its columns, or what other rows have."""

    dtype: Any = None  # what the caller has set
    features: Mapping[str, Any] = field(default_factory=dict)
    inferred: Mapping[str, pa.DataType] = field(default_factory=dict)

    def of(self, name: str) -> pa.DataType | None:
        """The Arrow type that the caller has set for a column."""
        dtype = self.dtype.get(name) if isinstance(self.dtype, Mapping) else self.dtype
        return None if dtype is None else type_named(dtype)


@dataclass(frozen=True)
class Words:
    """Words with a meaning: missing values, booleans, separators of numbers."""

    missing: tuple[str, ...] = MISSING
    missing_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # for single columns
    true: tuple[str, ...] = TRUE
    false: tuple[str, ...] = FALSE
    thousands: str | None = None
    decimal: str = "."

    def missing_in(self, name: str) -> tuple[str, ...]:
        return self.missing_of.get(name, self.missing)


def words_of(
    na_values: Any,
    keep_default_na: bool,
    na_filter: bool,
    true_values: Iterable[str] | None,
    false_values: Iterable[str] | None,
    thousands: str | None,
    decimal: str,
    names: list[str],
) -> Words:
    """The words that the options of `read` define."""
    default = MISSING if keep_default_na else ()
    missing_of = {}
    if isinstance(na_values, Mapping):
        missing_of = {
            names[name] if isinstance(name, int) and name < len(names) else str(name): (*default, *_spelled(words))
            for name, words in na_values.items()
        }
    missing = (*default, *_spelled(() if isinstance(na_values, Mapping) or na_values is None else na_values))
    return Words(
        missing if na_filter else (),
        missing_of if na_filter else {},
        (*TRUE, *(true_values or ())),
        (*FALSE, *(false_values or ())),
        thousands,
        decimal,
    )


def _spelled(words: Any) -> list[str]:
    several = [words] if isinstance(words, (str, int, float)) else list(words)
    # A number means itself in every spelling.
    return [text for word in several for text in ([str(word)] if isinstance(word, str) else _number(word))]


def _number(number: float) -> list[str]:
    return [str(number), str(float(number)), *([str(int(number))] if float(number).is_integer() else [])]


@dataclass
class ColumnType:
    """The type of a column: its feature, the type that the caller has set, or what fits all values seen so far."""

    name: str
    words: Words
    kinds: tuple[str, ...] = KINDS
    feature: Any = None
    dtype: pa.DataType | None = None
    inferred: pa.DataType | None = None  # from rows before these, which must fit it
    has_missing: bool = False
    inexact: bool = False  # whether there are integers that are not exact as doubles
    empty: bool = True
    _last: tuple[Any, pa.ChunkedArray, dict[str, pa.ChunkedArray]] = (None, None, {})  # the last column and its types

    @property
    def is_open(self) -> bool:
        """Whether the type depends on the values."""
        return self.feature is None and self.dtype is None and self.inferred is None

    def see(self, column: pa.ChunkedArray) -> None:
        """Take more values into account."""
        values = self._present(column)
        self._last = column, values, {}
        self.has_missing = self.has_missing or values.null_count > 0
        if values.null_count == len(values):
            return
        self.empty = False
        if not self.kinds:
            return
        numbers, fitting = self._numeric(values), []
        for kind in self.kinds:
            if kind == "float64" and "int64" in fitting:
                fitting.append(kind)  # an integer is also a float
            elif self._fits(values, numbers, kind):
                fitting.append(kind)
        self.kinds = tuple(fitting)

    def arrow(self) -> pa.DataType:
        """The type that fits all values seen, unless it is set."""
        fixed = self.dtype or self.inferred
        if fixed is not None:
            return fixed
        if self.empty:
            return pa.null()
        if not self.kinds or (self.kinds[0] == "float64" and self.inexact):
            return TEXT
        if self.kinds[0] in ("int64", "uint64") and self.has_missing and not self.inexact:
            return pa.float64()
        return pa.type_for_alias(self.kinds[0])

    def convert(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """The values as that type."""
        if self.feature is not None:
            return to_extension(
                cast_column(self._spelled(self._present(column)), self.feature, self.name), self.feature
            )
        arrow, parsed = self.arrow(), dict[str, pa.ChunkedArray]()
        if column is self._last[0]:
            _, values, parsed = self._last
        else:
            values = self._present(column)
        if self.inferred is not None and arrow != TEXT:
            return self._as_before(values, arrow)
        if pa.types.is_null(arrow):
            return pa.chunked_array([pa.nulls(len(column))])
        if pa.types.is_boolean(arrow):
            return self._truth(values)
        if pa.types.is_large_string(arrow) or pa.types.is_string(arrow):
            return pc.call("cast", values, target_type=arrow)
        number = parsed[str(arrow)] if str(arrow) in parsed else _cast(self._numeric(values), arrow)
        if number is None:
            raise ArgumentError("dtype", str(arrow), f"column {self.name!r} holds other values.")
        return _without_minus_zero(number, values) if arrow == pa.float64() else number

    def _as_before(self, values: pa.ChunkedArray, arrow: pa.DataType) -> pa.ChunkedArray:
        """The values as the type that rows before them have; an error that names the first value of another type."""
        fitting = self._fitting(values, arrow)
        if fitting is not None:
            return fitting.convert(values)
        start, stop = 0, len(values)  # the first value at fault is among these
        while stop - start > 1:
            middle = (start + stop) // 2
            start, stop = (start, middle) if self._fitting(values.slice(0, middle), arrow) is None else (middle, stop)
        is_number = arrow != pa.bool_() and self._fitting(values, pa.float64()) is not None
        source = "float64" if is_number else "string"
        raise CastError(self.name, source, str(arrow), f"{values[start].as_py()[:80]!r}", start)

    def _fitting(self, values: pa.ChunkedArray, arrow: pa.DataType) -> ColumnType | None:
        """The type of a column of these values, if it is this one or they fit it."""
        column = ColumnType(self.name, self.words, (_KIND_OF.get(str(arrow), str(arrow)),))
        column.see(values)
        is_exact = bool(column.kinds) and not (pa.types.is_floating(arrow) and column.inexact)
        column.dtype = arrow
        return column if is_exact else None

    def _spelled(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        """The values of a declared feature, in the spelling that all of them share."""
        arrow = self.feature.pa_type if isinstance(self.feature, Value) else pa.null()
        is_number = any(check(arrow) for check in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal))
        if is_number and (self.words.thousands or self.words.decimal != "."):
            return self._numeric(values)
        if pa.types.is_boolean(arrow) and len(self.words.true) + len(self.words.false) > len(TRUE) + len(FALSE):
            known = pc.is_in(values, value_set=word_set((*self.words.true, *self.words.false)))
            return pc.if_else(known, pc.cast(self._truth(values), values.type), values)
        return values

    def _present(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        words = self.words.missing_in(self.name)
        if isinstance(self.feature, ClassLabel):
            words = tuple(word for word in words if not word or word not in self.feature.names)
        if not words or surely_lacks(column, words):
            return column
        missing = pc.call("is_in", column, value_set=word_set(words))
        none = pa.nulls(1, column.type)[0]
        return pc.call("if_else", missing, none, column) if _any(missing) else column

    def _numeric(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        """The texts in the spelling that Arrow parses as numbers."""
        if self.words.thousands:
            values = _ungrouped(values, self.words.thousands)
        if self.words.decimal != ".":
            values = pc.replace_substring(pc.replace_substring(values, ".", "#"), self.words.decimal, ".")
        if _first(values).strip()[:1] not in "+-.0123456789iInN":
            return values  # not a number, so the column is not numeric
        spaced = may_hold_bytes(values, _SPACES_AND_PLUS)
        if spaced and _any(pc.call("match_substring_regex", values, pattern=r"^[\s+]|\s$")):
            values = pc.replace_substring_regex(pc.utf8_trim_whitespace(values), r"^\+([\d.])", r"\1")
        return values

    def _fits(self, values: pa.ChunkedArray, numbers: pa.ChunkedArray, kind: str) -> bool:
        if kind == "bool":
            known = (*self.words.true, *self.words.false)
            return _first(values) in known and _are_in(values, word_set(known))
        arrow = pa.type_for_alias(kind)
        if len(numbers) > _FEW and _cast(numbers.slice(0, _FEW), arrow) is None:
            return False
        converted = _cast(numbers, arrow)
        if converted is None:
            return False
        self._last[2][str(converted.type)] = converted
        # Arrow accepts any spelling of NaN.
        if kind == "float64" and _any(pc.call("is_nan", converted)):
            return False
        low, high = pc.call("min_max", converted).as_py().values()
        if not self.inexact and (high >= _EXACT or low <= -_EXACT):
            self.inexact = kind != "float64" or _has_inexact_integers(numbers, converted)
        return True

    def _truth(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        true = pc.is_in(values, value_set=word_set(self.words.true))
        return pc.if_else(pc.is_null(values), pa.nulls(1, pa.bool_())[0], true)


def _without_minus_zero(floats: pa.ChunkedArray, texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """The floats with 0.0 for the integer -0, which has no sign where all numbers of a file are integers."""
    zeros = pc.call("invert", pc.call("cast", floats, target_type=pa.bool_()))
    if not _any(zeros) or not may_hold_bytes(texts, b"-"):
        return floats
    is_zero = pc.call("match_substring_regex", texts, pattern=r"^\s*-0+\s*$")
    return pc.if_else(is_zero, pc.call("abs", floats), floats) if _any(is_zero) else floats


def _has_inexact_integers(texts: pa.ChunkedArray, floats: pa.ChunkedArray) -> bool:
    """Whether integers are too big to be exact as doubles."""
    is_big = pc.call("greater_equal", pc.call("abs", floats), _EXACT)
    is_integer = pc.call("match_substring_regex", texts, pattern=r"^-?\d+$")
    return _any(pc.call("and_kleene", is_big, is_integer))


def whole_numbers(column: pa.ChunkedArray) -> list[Any]:
    """The column as integers if all its texts are integers, else unchanged."""
    numbers = None if column.null_count else _cast(pc.utf8_trim_whitespace(column), pa.int64())
    return (column if numbers is None else numbers).to_pylist()


def _first(values: pa.ChunkedArray) -> str:
    return next((text.as_py() for chunk in values.chunks for text in chunk if text.is_valid), "")


def _ungrouped(values: pa.ChunkedArray, mark: str) -> pa.ChunkedArray:
    """The numbers without thousands separators; other texts unchanged."""
    sign = re.escape(mark)
    grouped = pc.match_substring_regex(values, rf"^\s*[+-]?\d[\d{sign}]*[^{sign}]*$")
    return pc.if_else(grouped, pc.replace_substring(values, mark, ""), values)


def _are_in(values: pa.ChunkedArray, known: pa.Array) -> bool:
    return _all(pc.call("or", pc.call("is_null", values), pc.call("is_in", values, value_set=known)))


def _any(truths: pa.ChunkedArray) -> bool:
    return bool(pc.call("any", truths).as_py())


def _all(truths: pa.ChunkedArray) -> bool:
    return bool(pc.call("all", truths).as_py())


def _cast(texts: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    try:
        numbers = pc.call("cast", texts, target_type=kind)
    except pa.ArrowInvalid:
        return None
    # Arrow reads 0x10 as an integer; in CSV it is text.
    hexadecimal = pa.types.is_integer(kind) and may_hold_bytes(texts, b"xX")
    if hexadecimal and _any(pc.call("match_substring", texts, pattern="x", ignore_case=True)):
        return None
    return numbers


def type_named(dtype: Any) -> pa.DataType:
    """The Arrow type of a `dtype` as pandas and numpy spell it."""
    if isinstance(dtype, pa.DataType):
        return dtype
    if dtype in (str, object, "str", "string", "object"):
        return TEXT
    try:
        return pa.from_numpy_dtype(np.dtype(dtype))
    except (TypeError, pa.ArrowNotImplementedError) as error:
        raise ArgumentError("dtype", dtype, "expected a numpy or Arrow type, or str.") from error
