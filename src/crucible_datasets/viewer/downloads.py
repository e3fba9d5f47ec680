"""The rows of a question as a file, some at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import msgspec

from crucible_datasets.viewer.answers import NotFoundHereError

_ROWS_AT_ONCE = 5_000
TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


def pieces(rows: Any, kind: str) -> Iterator[bytes]:
    """The file, piece by piece."""
    if kind not in TYPES:
        raise NotFoundHereError(f"There is no download {kind!r}; there are {', '.join(TYPES)}.")
    if kind == "parquet":
        return _parquet(rows)
    return (
        _written(rows.select(range(at, min(at + _ROWS_AT_ONCE, len(rows)))), kind, at == 0)
        for at in range(0, max(len(rows), 1), _ROWS_AT_ONCE)
    )


def _written(rows: Any, kind: str, first: bool) -> bytes:
    sink = io.BytesIO()
    if kind == "jsonl" and _holds_bytes(rows):
        sink.writelines(msgspec.json.encode(row, enc_hook=str) + b"\n" for row in rows)  # bytes as base64
    elif kind == "jsonl":
        rows.to_json(sink, lines=True)
    else:
        rows.to_csv(sink, header=first)
    return sink.getvalue()


def _holds_bytes(rows: Any) -> bool:
    """Whether there are bytes, as those of media, anywhere: JSON does not know them."""
    return any("binary" in str(kind) for kind in rows.features.arrow_schema.types)


def _parquet(rows: Any) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = rows.features.arrow_schema
    sink = _Pieces()
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), schema) as writer:
        for table in rows.with_format("arrow").iter(_ROWS_AT_ONCE):
            writer.write_table(table.cast(schema))
            yield sink.taken()
    yield sink.taken()


class _Pieces(io.RawIOBase):
    """A file that is written to, and whose content is taken away from time to time."""

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
