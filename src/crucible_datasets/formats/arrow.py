"""Arrow IPC: streams, files, and Feather in its second version, which is an IPC file.

Arrow trusts the offsets in a file, and a wrong offset crashes the process. Therefore batches of untrusted files are
fully validated before they are used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets import config
from crucible_datasets.exceptions import (
    DatasetsError,
    FileFormatError,
    FileNotFoundDatasetsError,
    LimitExceededError,
    UnknownTypeError,
)
from crucible_datasets.features import Features, dtypes
from crucible_datasets.features.dtypes import is_bytes, is_list, is_text
from crucible_datasets.features.storage import children, plain, rebuilt
from crucible_datasets.formats.base import Format, columns_of, expression_of, narrowed
from crucible_datasets.formats.streams import read_to_fault
from crucible_datasets.outputs.arrow import ArrowFormatter

_FILE_MAGIC = b"ARROW1"
_STREAM_START = 8  # in an IPC file: the magic, padded
_FEATHER_1_MAGIC = b"FEA1"
_HONEST_RATIO = 64
_BYTES_PER_EMPTY_ROW = 256


def read(
    stream: BinaryIO, *, columns: list[str] | None = None, filters: Any = None, features: Features | None = None
) -> Iterator[pa.Table]:
    """Yield the batches, each after it has been validated."""
    path = str(getattr(stream, "name", "Arrow data"))
    expression = expression_of(filters)
    source, fault = (stream, None) if stream.seekable() else _in_memory(stream)
    try:
        for batch in batches(source, path):
            table = pa.Table.from_batches([batch])
            # The caller may filter again, so the columns that the filters use are kept.
            kept = columns and list(dict.fromkeys([*columns, *columns_of(expression, table.column_names)]))
            yield narrowed(table, kept, expression)
    except FileFormatError as error:
        raise fault or error from error
    if fault is not None:
        raise fault


def _in_memory(stream: BinaryIO) -> tuple[pa.BufferReader, FileFormatError | None]:
    """All bytes of a stream, or those before an error, with that error."""
    data, fault = read_to_fault(stream, sys.maxsize)
    return pa.BufferReader(data), fault


def mapped(path: str) -> Any:
    """A memory-mapped file."""
    with file_errors(path):
        return pa.memory_map(os.fsencode(path))  # paths need not be UTF-8


def whole(source: Any, path: str) -> pa.Table:
    """All rows of an open source, without validation: the source is trusted."""
    with file_errors(path):
        return opened(source).read_all()


def is_stored_as_read(source: Any, path: str) -> bool:
    """Whether all columns of an open source have storage types, so that none must be converted."""
    with file_errors(path):
        schema = opened(source).schema
        source.seek(0)
    features_in(path, schema)
    return all(plain(field.type) == field.type for field in schema)


def batches(source: Any, path: str) -> Iterator[pa.RecordBatch]:
    """The record batches of an open source; an empty one if there are none, so that the schema is known."""
    rows = 0
    try:
        for batch in _batches(source, path):
            rows += batch.num_rows
            yield batch
    except FileFormatError as error:
        raise error.in_row(rows) from error.__cause__


def _batches(source: Any, path: str) -> Iterator[pa.RecordBatch]:
    with file_errors(path):
        reader, fault = _up_to_fault(source)
        require_readable_names(reader.schema)
        if len(set(reader.schema.names)) < len(reader.schema.names):
            raise ValueError("two of its columns have the same name")
        # Reading values of a type that no column can hold may crash the process.
        features_in(path, reader.schema)
        is_file = isinstance(reader, pa.RecordBatchFileReader)
        following = iter(map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader)
        size = source.size() if hasattr(source, "size") else 0
    produced = count = 0
    while True:
        with file_errors(path):
            batch = next(following, None)
            if batch is None:
                break
            batch.validate()
            # Views may all show the same megabyte, and validation would read it for each.
            views = sum(expanded_bytes(column) for column in batch.columns if dtypes.is_view(column.type))
            require_decoded(views, path, size)
            batch = _valid(batch)
            produced, count = produced + sum(map(expanded_bytes, batch.columns)), count + 1
        require_bytes(batch, path)
        require_decoded(produced, path, size)
        yield batch
    if not count:
        yield pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in reader.schema], schema=reader.schema)
    if fault is not None:
        with file_errors(path):
            raise fault


def _valid(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, fully validated."""
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid:
        # Below null structs, Arrow writes the index 0 even of dictionaries that have no values.
        batch = pa.RecordBatch.from_arrays([_masked(column) for column in batch.columns], schema=batch.schema)
        batch.validate(full=True)
    return batch


def _masked(array: pa.Array) -> pa.Array:
    """The array with nulls for all values below null structs."""
    if not (pa.types.is_struct(array.type) or pa.types.is_map(array.type) or is_list(array.type)):
        return array
    kids = array.flatten() if pa.types.is_struct(array.type) else [array.values]
    return rebuilt(array, [_masked(kid) for kid in kids], array.type)


def schema_in(source: Any, path: str) -> pa.Schema:
    """The schema of an open source, which may be damaged behind it."""
    with file_errors(path):
        return _up_to_fault(source)[0].schema


def _up_to_fault(source: Any) -> tuple[Any, pa.ArrowException | OSError | None]:
    """A reader of the batches, and the error behind them, if the footer of an IPC file cannot be read.

    Before its footer, an IPC file is an IPC stream.
    """
    try:
        return opened(source), None
    except (pa.ArrowException, OSError) as error:
        source.seek(0)
        if source.read(len(_FILE_MAGIC)) != _FILE_MAGIC:
            raise
        source.seek(_STREAM_START)
        return pa.ipc.open_stream(source), error


def features_in(path: str, schema: pa.Schema) -> Features:
    """The features that the schema of a file describes."""
    try:
        return Features.from_arrow_schema(schema)
    except UnknownTypeError as error:
        raise FileFormatError(path, str(error)) from error


def require_decoded(produced: int, path: str, size: int) -> None:
    """Refuse more bytes than a file of this size may become; 0 if its size is unknown."""
    limit = max(config.MAX_DECODED_BYTES, _HONEST_RATIO * size)
    if size and produced > limit:
        raise LimitExceededError(path, "decompressing its buffers", limit, "config.MAX_DECODED_BYTES")


def require_bytes(batch: pa.RecordBatch, path: str) -> None:
    """Refuse a batch of very many rows without bytes: a tiny file can state four billion of them."""
    limit = config.MAX_DECODED_BYTES // _BYTES_PER_EMPTY_ROW
    if batch.num_rows > limit and not batch.nbytes:
        raise LimitExceededError(path, "the number of rows without bytes", limit, "config.MAX_DECODED_BYTES")


def expanded_bytes(array: pa.Array) -> int:
    """About the size of an array in its storage type, in which dictionaries, runs and views repeat their values."""
    arrow = array.type
    if plain(arrow) == arrow:
        return int(array.nbytes)
    if isinstance(array, pa.ExtensionArray):
        return expanded_bytes(array.storage)
    if pa.types.is_dictionary(arrow):
        return int(array.indices.nbytes) + _repeated_bytes(array.dictionary, array.indices)
    if pa.types.is_run_end_encoded(arrow):
        ends = np.clip(np.asarray(array.run_ends).astype(np.int64) - array.offset, 0, len(array))
        return _weighted_bytes(array.values, np.diff(ends, prepend=0))
    if dtypes.is_view(arrow):
        views = np.frombuffer(array.buffers()[1], np.int32)[4 * array.offset :: 4][: len(array)]
        return int(views[np.asarray(array.is_valid())].sum(dtype=np.int64)) if len(array) else 0
    if pa.types.is_struct(arrow):
        return sum(map(expanded_bytes, children(array)))
    if pa.types.is_list_view(arrow) or pa.types.is_large_list_view(arrow):
        items = int(np.asarray(array.sizes)[np.asarray(array.is_valid())].sum(dtype=np.int64))
        return expanded_bytes(array.values) * items // max(len(array.values), 1)
    # `flatten` has no form for extension types below lists that are all null (Arrow 26).
    return 4 * len(array) + expanded_bytes(array.values) if is_list(arrow) else int(array.nbytes)


def _repeated_bytes(values: pa.Array, indices: pa.Array) -> int:
    if indices.null_count:
        indices = indices.drop_null()
    return _weighted_bytes(values, np.bincount(np.asarray(indices).astype(np.int64), minlength=len(values)))


def _weighted_bytes(values: pa.Array, counts: Any) -> int:
    """The size of the values, each as often as its count; of nested ones according to their mean."""
    if is_text(values.type) or is_bytes(values.type):
        lengths = pc.binary_length(values.cast(pa.large_binary())).fill_null(0)
        return int(np.asarray(lengths) @ counts)
    return expanded_bytes(values) * int(counts.sum()) // max(len(values), 1)


def opened(source: Any) -> Any:
    """A reader of the IPC stream or IPC file."""
    start = source.read(len(_FILE_MAGIC))
    source.seek(0)
    if start[: len(_FEATHER_1_MAGIC)] == _FEATHER_1_MAGIC:
        raise pa.ArrowInvalid("this is Feather version 1; write it again as version 2.")
    return pa.ipc.open_file(source) if start == _FILE_MAGIC else pa.ipc.open_stream(source)


def require_readable_names(fields: Iterable[pa.Field]) -> None:
    """Raise now, rather than when a row is first printed, if a field name is not valid UTF-8."""
    for field in fields:
        if field.name is not None and pa.types.is_nested(field.type):
            require_readable_names(field.type.field(index) for index in range(field.type.num_fields))


@contextmanager
def file_errors(path: str, kind: str = "readable Arrow data") -> Iterator[None]:
    """Turn every error caused by the bytes of a file into a `FileFormatError`."""
    try:
        yield
    except (DatasetsError, PermissionError):
        raise
    except FileNotFoundError as error:
        raise FileNotFoundDatasetsError(path) from error
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, OverflowError, MemoryError) as error:
        raise FileFormatError(path, f"this is not {kind}: {error}") from error


def write(tables: Iterable[pa.Table], features: Features, stream: BinaryIO, batch_size: int | None = None) -> int:
    """Write tables of storage types as an Arrow stream; the number of bytes written."""
    formatter = ArrowFormatter()
    written = 0
    with pa.ipc.new_stream(stream, features.arrow_schema) as writer:
        for table in tables:
            shown = formatter.batch(table, features)
            writer.write_table(shown, max_chunksize=batch_size)
            written += table.nbytes
    return written


FORMAT = Format("arrow", (".arrow", ".feather"), read, write, in_place=True)
