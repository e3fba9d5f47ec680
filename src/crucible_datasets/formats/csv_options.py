"""Checks of the options of `csv.read`, and the dialect they describe."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.formats.csv_records import Dialect

_ENGINES = (None, "c", "python", "pyarrow")
_PRECISIONS = (None, "high", "legacy", "round_trip")


def require_known(options: Mapping[str, Any]) -> None:
    """Raise for a value that an option does not accept."""
    for name, (holds, expected) in _RULES.items():
        if not holds(options[name]):
            raise ArgumentError(name, options[name], expected)


def dialect_of(
    sep: str | None,
    quotechar: str | None,
    quoting: int,
    escapechar: str | None,
    doublequote: bool,
    skipinitialspace: bool,
    dialect: Any,
    **others: Any,
) -> Dialect:
    """How fields are separated: by `dialect` (a name or class of Python's `csv`) if given, else by the options."""
    if dialect is not None:
        try:
            found = csv.get_dialect(dialect) if isinstance(dialect, str) else dialect
        except csv.Error as error:
            raise ArgumentError("dialect", dialect, f"expected one of {', '.join(csv.list_dialects())}.") from error
        sep, quotechar, quoting = found.delimiter, found.quotechar, found.quoting
        escapechar, doublequote, skipinitialspace = found.escapechar, found.doublequote, found.skipinitialspace
    quote = None if quoting == csv.QUOTE_NONE else quotechar
    if quoting != csv.QUOTE_NONE and not _one_sign(quote):
        raise ArgumentError("quotechar", quotechar, "expected one character; for none pass quoting=csv.QUOTE_NONE.")
    return Dialect(sep, quote, escapechar, doublequote, skipinitialspace, **others)


def _absent(value: Any) -> bool:
    return value is None


def _none(value: Any) -> bool:
    return not value


def _yes(value: Any) -> bool:
    return value is True


def _one_sign(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 1


def _sign_or_none(value: Any) -> bool:
    return value is None or _one_sign(value)


def _text_or_none(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _at_least(least: int) -> Callable[[Any], bool]:
    def holds(value: Any) -> bool:
        return value is None or (isinstance(value, (int, float)) and value >= least and value == int(value))

    return holds


def _among(*known: Any) -> Callable[[Any], bool]:
    return lambda value: value in known


def _words(value: Any) -> bool:
    return value is None or (isinstance(value, Iterable) and not isinstance(value, str))


def _lines(value: Any) -> bool:
    return not isinstance(value, int) or value >= 0


def _columns(value: Any) -> bool:
    if value is None or callable(value):
        return True
    if isinstance(value, str) or not isinstance(value, Iterable):
        return False
    kinds = {type(column) for column in value}
    return kinds <= {str} or (kinds <= {int} and all(column >= 0 for column in value))


def _functions(value: Any) -> bool:
    return value is None or (isinstance(value, Mapping) and all(map(callable, value.values())))


def _bad_lines(value: Any) -> bool:
    return callable(value) or value in ("error", "warn", "skip")


_BAD_LINES = "pass on_bad_lines='skip' or 'warn' instead."
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "prefix": (_absent, "columns without names are numbered; rename them."),
    "mangle_dupe_cols": (_yes, "columns of one name are numbered; pass names."),
    "error_bad_lines": (_yes, _BAD_LINES),
    "warn_bad_lines": (_yes, _BAD_LINES),
    "skipfooter": (_none, "a file is read from its start on; cut the last rows off with nrows or select."),
    "engine": (_among(*_ENGINES), "expected 'c', 'python' or 'pyarrow', which all read the same rows."),
    "float_precision": (_among(*_PRECISIONS), "expected 'high', 'legacy' or 'round_trip', which all keep every digit."),
    "on_bad_lines": (_bad_lines, "expected 'error', 'warn', 'skip' or a function of a record."),
    "quoting": (_among(0, 1, 2, 3), "expected one of csv.QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC, QUOTE_NONE."),
    "sep": (_text_or_none, "expected text."),
    "delimiter": (_text_or_none, "expected text."),
    "names": (_words, "expected a list of names."),
    "column_names": (_words, "expected a list of names."),
    "thousands": (_sign_or_none, "expected one character."),
    "decimal": (_one_sign, "expected one character."),
    "comment": (_sign_or_none, "expected one character."),
    "escapechar": (_sign_or_none, "expected one character."),
    "lineterminator": (lambda value: value == "\r\n" or _sign_or_none(value), "expected one character."),
    "nrows": (_at_least(0), "expected a number of rows."),
    "chunksize": (_at_least(1), "expected a number of rows, at least 1."),
    "skiprows": (_lines, "expected a number of lines, their numbers, or a function of a number."),
    "true_values": (_words, "expected a list of words."),
    "false_values": (_words, "expected a list of words."),
    "converters": (_functions, "expected a dict of columns and functions of a text."),
    "usecols": (_columns, "expected names of columns, their places, or a function of a name."),
    "index_col": (lambda value: value is not True, "expected a column, several, None, or False for no row names."),
}
