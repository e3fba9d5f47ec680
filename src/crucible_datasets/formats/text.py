"""Plain text: a row per line, per paragraph, or one for the whole file."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ArgumentError, ValueTypeError
from crucible_datasets.features.dtypes import is_text
from crucible_datasets.features.storage import chunked
from crucible_datasets.formats.base import Filters, Format
from crucible_datasets.formats.streams import BLOCK, name_of, require_encoding, require_size, undecodable, utf8_blocks

_LINE_FEED = 10
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
    if sample_by == "document":
        batches: Iterator[pa.Array] = _document(stream, encoding, encoding_errors)
    else:
        blocks = utf8_blocks(stream, chunksize, encoding, encoding_errors)
        batches = _paragraphs(blocks) if sample_by == "paragraph" else _lines(blocks, keep_linebreaks)
    empty = True
    for batch in batches:
        empty = False
        yield pa.table({name: batch})
    if empty:
        yield pa.table({name: pa.nulls(0, pa.string())})


def _document(stream: BinaryIO, encoding: str, encoding_errors: str | None) -> Iterator[pa.Array]:
    text = io.TextIOWrapper(cast(Any, stream), encoding=encoding, errors=encoding_errors)
    try:
        yield pa.array([text.read()], pa.string())
    except UnicodeError as error:
        raise undecodable(name_of(stream), error) from error
    finally:
        text.detach()


def _lines(blocks: Iterable[bytes], keep_linebreaks: bool) -> Iterator[pa.Array]:
    for block in blocks:
        characters = np.frombuffer(block, np.uint8)
        stops: Any = np.flatnonzero(characters == _LINE_FEED)
        if keep_linebreaks:
            stops = stops + 1
        else:
            stops, characters = stops - np.arange(len(stops)), characters[characters != _LINE_FEED]
        last = [] if block.endswith(b"\n") else [len(characters)]
        offsets = np.concatenate(([0], stops, last)).astype(np.int32)
        yield pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(characters))


def _paragraphs(blocks: Iterable[bytes]) -> Iterator[pa.Array]:
    rest = ""
    for block in blocks:
        *complete, rest = (rest + block.decode()).split("\n\n")
        if complete := [paragraph for paragraph in complete if paragraph]:
            yield pa.array(complete, pa.string())
    if rest:
        yield pa.array([rest], pa.string())


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
