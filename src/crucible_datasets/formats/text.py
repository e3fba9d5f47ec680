"""Plain text: a row per line, per paragraph, or one for the whole file."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, cast

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError, ValueTypeError
from crucible_datasets.features.dtypes import is_text
from crucible_datasets.features.storage import chunked
from crucible_datasets.formats.base import Filters, Format
from crucible_datasets.formats.streams import BLOCK, name_of, require_encoding, require_size, undecodable

_WAYS = ("line", "paragraph", "document")


def read(
    stream: BinaryIO,
    *,
    columns: list[str] | None = None,
    filters: Filters = None,
    features: Any = None,
    encoding: str = "utf-8",
    encoding_errors: str | None = None,
    chunksize: int = BLOCK,
    keep_linebreaks: bool = False,
    sample_by: str = "line",
) -> Iterator[pa.Table]:
    """Yield tables of one column, named `text` or as the only feature."""
    if sample_by not in _WAYS:
        raise ArgumentError("sample_by", sample_by, f"expected one of {', '.join(_WAYS)}.")
    require_encoding(encoding, encoding_errors)
    require_size("chunksize", chunksize)
    name = next(iter(features)) if features else "text"
    text = io.TextIOWrapper(cast(Any, stream), encoding=encoding, errors=encoding_errors)
    try:
        if sample_by == "document":
            batches: Iterable[list[str]] = [[text.read()]]
        elif sample_by == "paragraph":
            batches = _paragraphs(text, chunksize)
        else:
            batches = _lines(text, chunksize, keep_linebreaks)
        empty = True
        for batch in batches:
            empty = False
            yield pa.table({name: pa.array(batch, pa.string())})
        if empty:
            yield pa.table({name: pa.nulls(0, pa.string())})
    except UnicodeError as error:
        raise undecodable(name_of(stream), error) from error
    finally:
        text.detach()


def _lines(text: io.TextIOWrapper, size: int, keep_linebreaks: bool) -> Iterator[list[str]]:
    # `splitlines` would also split at form feeds and other characters that do not end a line.
    while batch := text.read(size):
        batch += text.readline()
        lines = batch.split("\n")
        last = lines.pop()
        if keep_linebreaks:
            lines = [line + "\n" for line in lines]
        yield [*lines, last] if last else lines


def _paragraphs(text: io.TextIOWrapper, size: int) -> Iterator[list[str]]:
    rest = ""
    while batch := text.read(size):
        *whole, rest = (rest + batch + text.readline()).split("\n\n")
        if whole := [paragraph for paragraph in whole if paragraph]:
            yield whole
    if rest:
        yield [rest]


def write(
    tables: Iterable[pa.Table], features: Any, stream: BinaryIO, *, column: str | None = None, encoding: str = "utf-8"
) -> int:
    """Write one text column, a line per row; the number of bytes."""
    name = column or ("text" if "text" in features else next(iter(features), "text"))
    written = 0
    for table in tables:
        values = chunked(table[name])
        if not (is_text(values.type) or pa.types.is_null(values.type)):
            raise ValueTypeError(name, None, str(values.type), "lines of text", "cast the column to a string first.")
        if pc.any(pc.match_substring(values.cast(pa.string()), "\n")).as_py():
            raise ValueTypeError(name, None, "a text with a line break", "one line", "write JSON or CSV instead.")
        lines = [value or "" for value in values.to_pylist()]
        written += stream.write("".join(line + "\n" for line in lines).encode(encoding))
    return written


FORMAT = Format("text", (".txt",), read, write)
