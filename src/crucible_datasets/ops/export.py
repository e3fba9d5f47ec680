"""`to_parquet`, `to_json`, `to_csv`, `to_text`, `to_arrow`, `to_sql`: the rows of a view in a file of another kind.

Rows go to the format's writer in blocks, so memory is bounded by the block. Where several
workers help, each block is written into memory by a thread of its own, and joined in order.
"""

from __future__ import annotations

import inspect
import io
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain, islice, repeat
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets import progress
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features import Features
from crucible_datasets.formats.base import FORMATS
from crucible_datasets.formats.sql import write_sql
from crucible_datasets.ops import through_pandas
from crucible_datasets.ops.blocks import blocks, require_batch_size
from crucible_datasets.ops.destination import Path, StorageOptions, written_or_handed
from crucible_datasets.tables.view import View

Write = Callable[..., int]


def to_parquet(
    view: View,
    target: Path | BinaryIO,
    batch_size: int | None = None,
    storage_options: StorageOptions = None,
    **options: Any,
) -> int:
    """Parquet, `batch_size` rows to a row group. Gives the bytes of the rows before compression."""
    require_batch_size(batch_size)
    write = _writer("parquet", batch_size=batch_size, **options)
    with written_or_handed(target, storage_options, None) as stream:
        return write(_counted(blocks(view), len(view), "Parquet"), view.features, stream)


def to_arrow(view: View, target: Path | BinaryIO, storage_options: StorageOptions = None) -> int:
    """An Arrow stream. Gives the bytes written."""
    with written_or_handed(target, storage_options, None) as stream:
        return _writer("arrow")(_counted(blocks(view), len(view), "Arrow"), view.features, stream)


def to_json(
    view: View,
    target: Path | BinaryIO,
    batch_size: int | None = None,
    num_proc: int | None = None,
    storage_options: StorageOptions = None,
    compression: str | None = "infer",
    **options: Any,
) -> int:
    """JSON Lines, or what the options of pandas' `to_json` ask for. Gives the bytes written, before compression."""
    # Rows become JSON under the interpreter's lock: several threads take a tenth longer than one.
    write = _writer("json", **options)
    with written_or_handed(target, storage_options, compression) as stream:
        return write(_counted(blocks(view, batch_size), len(view), "JSON"), view.features, stream)


def to_csv(
    view: View,
    target: Path | BinaryIO,
    batch_size: int | None = None,
    num_proc: int | None = None,
    storage_options: StorageOptions = None,
    compression: str | None = "infer",
    **options: Any,
) -> int:
    """CSV with a header, or as the options of pandas' `to_csv` say. Gives the bytes written, before compression."""
    if options.pop("mode", "w") != "w":
        raise ArgumentError("mode", "a", "a file is written whole; to append, concatenate the datasets and write both.")
    joins = not options.get("index") and options.get("encoding", "utf-8") == "utf-8"
    first, later = _writer("csv", **options), _writer("csv", **{**options, "header": False})
    with written_or_handed(target, storage_options, compression) as stream:
        tables = _counted(blocks(view, batch_size), len(view), "CSV")
        if not joins or not num_proc or num_proc <= 1:
            return first(tables, view.features, stream)
        return sum(map(stream.write, _pieces(tables, view.features, num_proc, first, later)))


def to_text(
    view: View,
    target: Path | BinaryIO,
    column: str = "text",
    storage_options: StorageOptions = None,
    compression: str | None = "infer",
) -> int:
    """One value of a column to a line. Gives the bytes written, before compression."""
    only = Features({column: view.features[column]})
    tables = (table.select([column]) for table in _counted(blocks(view), len(view), "text"))
    with written_or_handed(target, storage_options, compression) as stream:
        return _writer("text")(tables, only, stream)


def to_sql(view: View, name: str, con: Any, batch_size: int | None = None, **options: Any) -> int:
    """A table of a database, all rows or none. Gives the number of rows."""
    if options.keys() <= inspect.signature(write_sql).parameters.keys():
        tables = _counted(blocks(view, batch_size), len(view), "SQL")
        return write_sql(tables, view.features, name, con, **options)
    return through_pandas.write_sql(blocks(view, batch_size), view.features, name, con, **options)


def _writer(name: str, **options: Any) -> Write:
    """The writer of a format, with options; those that only pandas knows are left to pandas."""
    write = FORMATS[name].write
    if write is None:
        raise ArgumentError("format", name, "this format can be read but not written.")
    parameters = inspect.signature(write).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    if not takes_all and not options.keys() <= parameters.keys():
        write = {"csv": through_pandas.write_csv, "json": through_pandas.write_json}[name]
    return partial(write, **options)


def _counted(tables: Iterable[pa.Table], num_rows: int, kind: str) -> Iterator[pa.Table]:
    with progress.tqdm(total=num_rows, desc=f"Writing {kind}", unit=" examples") as bar:
        for table in tables:
            yield table
            bar.update(len(table))


def _pieces(
    tables: Iterator[pa.Table], features: Features, num_proc: int, first: Write, later: Write
) -> Iterator[memoryview]:
    """What each block is written as, in order, a few blocks ahead of what is asked for."""
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
