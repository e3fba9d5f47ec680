"""The rows of a query as a file, in pieces."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

from crucible_datasets.viewer.blocks import rows_at_once
from crucible_datasets.viewer.errors import NotFoundHereError

_ROWS_AT_ONCE = 5_000
TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


def pieces(rows: Any, kind: str, formula_safe: bool = True) -> Iterator[bytes]:
    """The pieces of the file; CSV is protected against formula injection, unless `formula_safe` is false."""
    if kind not in TYPES:
        raise NotFoundHereError(f"There is no download {kind!r}. Available: {', '.join(TYPES)}.")
    written = _parquet(rows) if kind == "parquet" else _lines(rows) if kind == "jsonl" else _csv(rows, formula_safe)
    # An error in the first rows becomes an error response; later, the file can only be truncated.
    return chain([next(written, b"")], written)


def _blocks(rows: Any) -> Iterator[Any]:
    count = rows_at_once(rows, _ROWS_AT_ONCE)
    for at in range(0, len(rows), count):
        yield rows.select(range(at, min(at + count, len(rows))))


def _lines(rows: Any) -> Iterator[bytes]:
    holds_bytes = _holds_bytes(rows)
    for block in _blocks(rows):
        sink = io.BytesIO()
        if holds_bytes:
            sink.writelines(msgspec.json.encode(row, enc_hook=str) + b"\n" for row in block)  # bytes as base64
        else:
            block.to_json(sink, lines=True)
        yield sink.getvalue()


def _csv(rows: Any, formula_safe: bool) -> Iterator[bytes]:
    from crucible_datasets.evaluation.exports.escaping import for_spreadsheets

    head = io.StringIO(newline="")
    names = [for_spreadsheets(name) if formula_safe else name for name in rows.column_names]
    csv.writer(head, lineterminator="\n").writerow(names)
    above = head.getvalue().encode("utf-8", "backslashreplace")
    for block in _blocks(rows):
        sink = io.BytesIO()
        (_without_formulas(block) if formula_safe else block).to_csv(sink, header=False)
        yield above + sink.getvalue()
        above = b""
    yield above


def _without_formulas(rows: Any) -> Any:
    """The same rows, with texts that spreadsheets do not evaluate."""
    import pyarrow as pa

    from crucible_datasets import Dataset
    from crucible_datasets.evaluation.exports.escaping import for_spreadsheets

    table = rows.with_format("arrow")[:]
    for place, column in enumerate(table.schema):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            texts = (None if text is None else for_spreadsheets(text) for text in table.column(place).to_pylist())
            table = table.set_column(place, column, pa.array(texts, column.type))
    return Dataset(table)


def _holds_bytes(rows: Any) -> bool:
    """Whether any column contains bytes, such as media, which JSON does not have."""
    return any("binary" in str(kind) for kind in rows.features.arrow_schema.types)


def _parquet(rows: Any) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = rows.features.arrow_schema
    sink = _Pieces()
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), schema) as writer:
        for table in rows.with_format("arrow").iter(rows_at_once(rows, _ROWS_AT_ONCE)):
            writer.write_table(table.cast(schema))
            yield sink.taken()
    yield sink.taken()


class _Pieces(io.RawIOBase):
    """A file to write to, whose content is taken in pieces."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def write(self, content: Any) -> int:
        self._waiting.append(bytes(content))
        self._at += len(self._waiting[-1])
        return len(self._waiting[-1])

    def taken(self) -> bytes:
        content, self._waiting = b"".join(self._waiting), []
        return content
