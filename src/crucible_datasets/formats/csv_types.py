"""Columns of text → columns of integers, floats, booleans or text, by the rules of pandas.

Certain words mean "missing". A column has the first of the types integer, float, boolean and text that fits all its
other values, over all rows of the file. Integers with missing values among the first rows become floats, unless that
would lose digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError
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
_SPACES_AND_PLUS = b" \t\n\v\f\r+"
_FEW = 100  # first rows, which are enough to recognize most text columns
_EXACT = 2**53  # integers up to this size are exact as doubles


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
    """The types that fit all values of a column seen so far."""

    name: str
    words: Words
    first_rows: int
    wanted: pa.DataType | None = None  # set by the caller
    kinds: tuple[str, ...] = KINDS
    rows: int = 0
    early_missing: bool = False
    inexact: bool = False
    empty: bool = True
    _last: tuple[Any, pa.ChunkedArray, dict[str, pa.ChunkedArray]] = (None, None, {})  # the last column and its types

    def see(self, column: pa.ChunkedArray) -> None:
        """Take more values into account."""
        values = self._present(column)
        self._last = column, values, {}
        if values.slice(0, max(0, self.first_rows - self.rows)).null_count:
            self.early_missing = True
        self.rows += len(column)
        if values.null_count == len(values) or not self.kinds or self.wanted is not None:
            self.empty = self.empty and values.null_count == len(values)
            return
        self.empty = False
        numbers, kept = self._numeric(values), []
        for kind in self.kinds:
            if kind == "float64" and "int64" in kept:
                kept.append(kind)  # an integer is also a float
            elif self._fits(values, numbers, kind):
                kept.append(kind)
        self.kinds = tuple(kept)

    def arrow(self) -> pa.DataType:
        """The type that fits all values seen."""
        if self.wanted is not None:
            return self.wanted
        if self.empty:
            return pa.null()
        if not self.kinds:
            return TEXT
        if self.kinds[0] in ("int64", "uint64") and self.early_missing and not self.inexact:
            return pa.float64()
        return pa.type_for_alias(self.kinds[0])

    def convert(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """The values as that type."""
        kind, known = self.arrow(), dict[str, pa.ChunkedArray]()
        if column is self._last[0]:
            _, values, known = self._last
        else:
            values = self._present(column)
        if pa.types.is_null(kind):
            return pa.chunked_array([pa.nulls(len(column))])
        if pa.types.is_boolean(kind):
            return self._truth(values)
        if pa.types.is_large_string(kind) or pa.types.is_string(kind):
            return pc.call("cast", values, target_type=kind)
        number = known[str(kind)] if str(kind) in known else _cast(self._numeric(values), kind)
        if number is None:
            raise ArgumentError("dtype", str(kind), f"column {self.name!r} holds other values.")
        return number

    def _present(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        words = self.words.missing_in(self.name)
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
        if kind != "float64":
            low, high = pc.call("min_max", converted).as_py().values()
            self.inexact = self.inexact or high > _EXACT or low < -_EXACT
            return True
        # Arrow accepts any spelling of NaN, and integers that are not exact as doubles.
        if _any(pc.call("is_nan", converted)):
            return False
        low, high = pc.call("min_max", converted).as_py().values()
        huge = high > _EXACT or low < -_EXACT
        return not (huge and _all(pc.call("match_substring_regex", numbers, pattern=r"^-?\d+$")))

    def _truth(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        true = pc.is_in(values, value_set=word_set(self.words.true))
        return pc.if_else(pc.is_null(values), pa.nulls(1, pa.bool_())[0], true)


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
