"""`to_parquet`, `to_json`, `to_csv`, `to_text`, `to_arrow`, `to_sql`: rows written to files of other formats.

Rows go to the format's writer in blocks, so memory is bounded by the block size. With several workers, threads write
blocks into memory, which are joined in order.
"""

from __future__ import annotations

import inspect
import io
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import chain, islice, repeat
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets import progress
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features import Features
from crucible_datasets.formats.base import FORMATS
from crucible_datasets.formats.prefetch import ahead
from crucible_datasets.formats.sql_write import write_sql
from crucible_datasets.ops import through_pandas
from crucible_datasets.ops.blocks import blocks, require_batch_size
from crucible_datasets.ops.destination import Path, StorageOptions, size_at, written_or_handed
from crucible_datasets.records import dataclass
from crucible_datasets.tables.view import View

Write = Callable[..., int]


@dataclass(frozen=True)
class Flow:
    """Rows of a stream, as tables of a given number of rows; the total is unknown."""

    features: Features
    blocks: Callable[[int | None], Iterator[pa.Table]]


Rows = View | Flow


def to_parquet(
    rows: Rows,
    target: Path | BinaryIO,
    batch_size: int | None = None,
    storage_options: StorageOptions = None,
    **options: Any,
) -> int:
    """Write Parquet with `batch_size` rows per row group; the size of the rows in bytes, uncompressed."""
    require_batch_size(batch_size)
    write = _writer("parquet", batch_size=batch_size, **options)
    with written_or_handed(target, storage_options, None) as stream:
        return write(_blocks(rows, "Parquet"), rows.features, stream)


def to_arrow(rows: Rows, target: Path | BinaryIO, storage_options: StorageOptions = None) -> int:
    """Write an Arrow IPC stream; the number of bytes."""
    with written_or_handed(target, storage_options, None) as stream:
        return _writer("arrow")(_blocks(rows, "Arrow"), rows.features, stream)


def to_json(
    rows: Rows,
    target: Path | BinaryIO,
    batch_size: int | None = None,
    num_proc: int | None = None,
    storage_options: StorageOptions = None,
    compression: str | None = "infer",
    **options: Any,
) -> int:
    """Write JSON Lines, or as the options of pandas' `to_json` say; the number of bytes before compression."""
    after = _goes_after(options)
    lines = options.get("orient", "records") == "records" and options.get("lines", True) is not False
    if after and not lines:
        raise ArgumentError("mode", "a", "only JSON Lines can be written after others.")
    only_pandas = options.get("orient") == "table"
    write = partial(through_pandas.write_json, **options) if only_pandas else _writer("json", **options)
    with written_or_handed(target, storage_options, compression, after) as stream:
        tables = _blocks(rows, "JSON", batch_size)
        return _written(tables, rows.features, stream, write, write, _workers(num_proc) if lines else 1)


def to_csv(
    rows: Rows,
    target: Path | BinaryIO,
    batch_size: int | None = None,
    num_proc: int | None = None,
    storage_options: StorageOptions = None,
    compression: str | None = "infer",
    **options: Any,
) -> int:
    """Write CSV with a header, or as the options of pandas' `to_csv` say; the number of bytes before compression."""
    after = _goes_after(options)
    if after and size_at(target, storage_options):
        options = {"header": False, **options}
    joins = not options.get("index") and options.get("encoding", "utf-8") == "utf-8"
    first, later = _writer("csv", **options), _writer("csv", **{**options, "header": False})
    with written_or_handed(target, storage_options, compression, after) as stream:
        tables = _blocks(rows, "CSV", batch_size)
        return _written(tables, rows.features, stream, first, later, _workers(num_proc) if joins else 1)


def to_text(
    rows: Rows,
    target: Path | BinaryIO,
    column: str = "text",
    storage_options: StorageOptions = None,
    compression: str | None = "infer",
) -> int:
    """Write one value of a column per line; the number of bytes before compression."""
    only = Features({column: rows.features[column]})
    tables = (table.select([column]) for table in _blocks(rows, "text"))
    with written_or_handed(target, storage_options, compression) as stream:
        return _writer("text")(tables, only, stream)


def to_sql(
    rows: Rows, name: str, con: Any, batch_size: int | None = None, num_proc: int | None = None, **options: Any
) -> int:
    """Write a table of a database in one transaction; the number of rows.

    A transaction belongs to one connection, so with several workers one writes while another reads the next rows.
    """
    tables = _blocks(rows, "SQL", batch_size)
    following = ahead(tables, most=_workers(num_proc) - 1) if _workers(num_proc) > 1 else tables
    is_known = options.keys() <= inspect.signature(write_sql).parameters.keys()
    write = write_sql if is_known else through_pandas.write_sql
    with closing(following):
        return write(following, rows.features, name, con, **options)


def _goes_after(options: dict[str, Any]) -> bool:
    """Whether to append to the file; removes `mode` from the options."""
    mode = options.pop("mode", "w")
    if mode not in ("w", "a"):
        raise ArgumentError("mode", mode, "expected 'w' to replace what is there, or 'a' to write after it.")
    return bool(mode == "a")


def _workers(num_proc: int | None) -> int:
    if num_proc is not None and num_proc < 1:
        raise ArgumentError("num_proc", num_proc, "at least one is needed.")
    return num_proc or 1


def _writer(name: str, **options: Any) -> Write:
    """The writer of a format with options; pandas is used for options that only it knows."""
    write = FORMATS[name].write
    if write is None:
        raise ArgumentError("format", name, "this format can be read but not written.")
    parameters = inspect.signature(write).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    if not takes_all and not options.keys() <= parameters.keys():
        write = {"csv": through_pandas.write_csv, "json": through_pandas.write_json}[name]
    return partial(write, **options)


def _blocks(rows: Rows, kind: str, batch_size: int | None = None) -> Generator[pa.Table]:
    """The rows as tables, with a progress bar; at least one table, possibly empty."""
    if isinstance(rows, View):
        tables, total = blocks(rows, batch_size), len(rows)
    else:
        tables, total = rows.blocks(batch_size), None
    with progress.bar(total=total, desc=f"Writing {kind}", unit=" examples") as bar:
        for table in tables:
            yield table
            bar.update(len(table))


def _written(
    tables: Iterator[pa.Table], features: Features, stream: BinaryIO, first: Write, later: Write, workers: int
) -> int:
    """Write the blocks, with a header on the first if requested; the number of bytes."""
    if workers == 1:
        return first(tables, features, stream)
    return sum(map(stream.write, _pieces(tables, features, workers, first, later)))


def _pieces(
    tables: Iterator[pa.Table], features: Features, num_proc: int, first: Write, later: Write
) -> Iterator[memoryview]:
    """The bytes of each block, in order, prepared a few blocks in advance."""
    writers = chain([first], repeat(later))
    with ThreadPoolExecutor(num_proc) as pool:
        tasks = (pool.submit(_piece, write, table, features) for write, table in zip(writers, tables, strict=False))
        waiting: deque[Future[memoryview]] = deque(islice(tasks, num_proc + 1))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(islice(tasks, 1))


def _piece(write: Write, table: pa.Table, features: Features) -> memoryview:
    stream = io.BytesIO()
    write([table], features, stream)
    return stream.getbuffer()
