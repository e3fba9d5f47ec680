"""Tables → comma-separated values, column by column: cells become text, are quoted, and joined to lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, ColumnNotFoundError
from crucible_datasets.features.classlabel import ClassLabel
from crucible_datasets.features.dtypes import is_text
from crucible_datasets.features.storage import chunked
from crucible_datasets.formats.arrow_text import LARGE, compacted, data_of, float_texts, joined, parts, text, texts

_MINIMAL, _ALL, _NONNUMERIC, _NONE = range(4)


def write(
    tables: Iterable[pa.Table],
    features: Any,
    stream: BinaryIO,
    *,
    sep: str = ",",
    na_rep: object = "",
    float_format: str | Callable[[float], str] | None = None,
    columns: Sequence[str] | None = None,
    header: bool | Sequence[str] | None = True,
    index: bool = False,
    index_label: str | bool | None = None,
    quoting: int = _MINIMAL,
    quotechar: str = '"',
    lineterminator: str = "\n",
    date_format: str | None = None,
    doublequote: bool = True,
    escapechar: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
) -> int:
    """Write the tables; the number of bytes."""
    names = list(features) if columns is None else list(columns)
    for name in names:
        if name not in features:
            raise ColumnNotFoundError(name, features)
    titles = list(header) if isinstance(header, (list, tuple)) else names
    if len(titles) != len(names):
        raise ArgumentError("header", header, f"there are {len(names)} columns to name.")
    missing = "" if na_rep is None else str(na_rep)
    style = (quoting, quotechar, date_format, doublequote, escapechar, decimal, lineterminator)
    cells = _Cells(sep, missing, float_format, *style)
    written, count = 0, 0
    if header:
        labels = [str(index_label or ""), *titles] if index and index_label is not False else titles
        named = [cells.quoted(texts([label]), len(labels) == 1, numeric=False) for label in labels]
        written += stream.write(_encoded(_lines(named, sep, lineterminator), encoding, first=True))
    for table in parts(tables):
        columns_ = [cells.of(_spelled(table[name], features[name]), len(names) == 1 and not index) for name in names]
        if index:
            columns_.insert(0, texts(map(str, range(count, count + table.num_rows))).cast(LARGE))
        count += table.num_rows
        written += stream.write(_encoded(_lines(columns_, sep, lineterminator), encoding, first=not written))
    return written


def _spelled(column: pa.ChunkedArray, feature: Any) -> pa.ChunkedArray:
    """The column; of labels whose numbers are names of others, the names."""
    if not isinstance(feature, ClassLabel) or all(feature.str2int(str(id)) == id for id in range(len(feature.names))):
        return column
    codes = pa.array([-1, *range(len(feature.names))])
    texts_of_codes = pa.array(["-1", *(name or str(id) for id, name in enumerate(feature.names))], LARGE)
    return pc.take(texts_of_codes, pc.index_in(chunked(column), codes))


def _lines(columns: list[pa.Array], sep: str, end: str) -> memoryview:
    """The cells of each row joined to a line, and all lines concatenated."""
    if not columns or not len(columns[0]):
        return memoryview(b"")
    return data_of(joined(joined(*columns, sep=sep) if len(columns) > 1 else columns[0], text(end)))


def _encoded(lines: memoryview, encoding: str, first: bool) -> bytes | memoryview:
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        return lines
    encoded = bytes(lines).decode().encode(encoding)
    # The byte order mark is written at the start of the file only.
    return encoded if first else encoded.removeprefix("".encode(encoding))


def _formatter(pattern: Any) -> Callable[[float], str] | None:
    if isinstance(pattern, str):
        return pattern.__mod__ if "%" in pattern else pattern.format
    return pattern


def _replacement(escape: str) -> str:
    return ("\\\\" if escape == "\\" else escape) + r"\1"


class _Cells:
    """Converts values to cells: the text between separators."""

    def __init__(
        self,
        sep: str,
        na_rep: str,
        float_format: str | Callable[[float], str] | None,
        quoting: int,
        quotechar: str,
        date_format: str | None,
        doublequote: bool,
        escapechar: str | None,
        decimal: str,
        end: str,
    ) -> None:
        for name, sign in (("sep", sep), ("quotechar", quotechar), ("decimal", decimal)):
            if len(sign) != 1:
                raise ArgumentTypeError(name, sign, "expected one character.")
        if quoting not in range(4):
            raise ArgumentTypeError("quoting", quoting, "expected a constant of Python's csv, from 0 to 3.")
        if not doublequote and not escapechar:
            raise ArgumentError("doublequote", doublequote, "quotes that are not doubled need an escapechar.")
        self.na_rep, self.date_format, self.decimal = na_rep, date_format, decimal
        self.float_format = _formatter(float_format)
        self.quoting, self.quote, self.escape = quoting, quotechar, escapechar
        self.inner = quotechar * 2 if doublequote else f"{escapechar}{quotechar}"
        special = dict.fromkeys((sep, quotechar, "\r", "\n", *end))
        self.special = [character.encode() for character in special]
        self.pattern = f"[{re.escape(''.join(special))}]"

    def of(self, column: pa.ChunkedArray, alone: bool) -> pa.Array:
        """The cells of a column; `alone` if it is the only column, so that an empty cell needs quotes."""
        column = chunked(column)
        cells = self._texts(column)
        numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        numeric = numeric or (pa.types.is_boolean(column.type) and self.quoting == _NONNUMERIC)
        if not cells.null_count:
            return self.quoted(cells, alone, numeric)
        missing = self.quoted(texts([self.na_rep]), alone, numeric=False)[0]
        return pc.if_else(pc.is_null(cells), missing, self.quoted(pc.fill_null(cells, text("")), alone, numeric))

    def quoted(self, cells: pa.Array, alone: bool, numeric: bool) -> pa.Array:
        """The texts, quoted where needed."""
        cells = cells.cast(LARGE)
        if self.quoting == _NONE:
            return self._escaped(cells, alone)
        if numeric and self.quoting in (_MINIMAL, _NONNUMERIC) and self.decimal == ".":
            return pc.if_else(pc.equal(cells, text("")), text(self.quote * 2), cells) if alone else cells
        if self.quoting in (_ALL, _NONNUMERIC):
            return self._between_quotes(cells)
        data = bytes(data_of(cells))
        if not alone and not any(character in data for character in self.special):
            return cells
        needed = pc.match_substring_regex(cells, self.pattern)
        if alone:
            needed = pc.or_(needed, pc.match_substring_regex(cells, "^[ \t]*$"))  # a line of blanks is no row
        return pc.if_else(needed, self._between_quotes(cells), cells) if pc.any(needed).as_py() else cells

    def _escaped(self, cells: pa.Array, alone: bool) -> pa.Array:
        """The texts without quotes, with special characters escaped."""
        escape = self.escape or ""
        special = f"[{re.escape(escape)}{self.pattern[1:]}"
        bare = pc.match_substring_regex(cells, f"^$|{special}" if alone else special)
        if not escape and pc.any(bare).as_py():
            raise ArgumentError("quoting", self.quoting, "a cell needs quotes, or an escapechar before what is in it.")
        return pc.replace_substring_regex(cells, f"({special})", _replacement(escape)) if escape else cells

    def _between_quotes(self, cells: pa.Array) -> pa.Array:
        if self.quote.encode() in bytes(data_of(cells)):
            cells = pc.replace_substring(cells, self.quote, self.inner)
        return joined(text(self.quote), cells, text(self.quote))

    def _texts(self, column: pa.ChunkedArray) -> pa.Array:
        kind = column.type
        if is_text(kind):
            return compacted(column.cast(LARGE))
        array = compacted(column)
        if pa.types.is_boolean(kind):
            return pc.if_else(array, text("True"), text("False"))
        if pa.types.is_floating(kind):
            return self._floats(array)
        if pa.types.is_timestamp(kind):
            return self._moments(array)
        if pa.types.is_integer(kind) or pa.types.is_date32(kind) or pa.types.is_null(kind):
            return array.cast(LARGE)
        return pa.array([None if value is None else str(value) for value in array.to_pylist()], LARGE)

    def _floats(self, array: pa.Array) -> pa.Array:
        if self.float_format is not None:
            values = array.to_pylist()
            cells = pa.array(
                [None if value is None or value != value else self.float_format(value) for value in values], LARGE
            )
        else:
            # A float must be read back as a float.
            cells = float_texts(pc.if_else(pc.is_nan(array), pa.nulls(1, array.type)[0], array))
        return cells if self.decimal == "." else pc.replace_substring(cells, ".", self.decimal)

    def _moments(self, array: pa.Array) -> pa.Array:
        zone = "%z" if array.type.tz else ""
        if self.date_format is not None:
            return pc.strftime(array, self.date_format)
        for unit in ("s", "ms", "us"):  # %S shows fractions of a second in the unit of the type
            with suppress(pa.ArrowInvalid):
                array = array.cast(pa.timestamp(unit, array.type.tz))
                break
        cells = pc.strftime(array, f"%Y-%m-%d %H:%M:%S{zone}")
        return pc.replace_substring_regex(cells, r"([+-]\d\d)(\d\d)$", r"\1:\2") if zone else cells
