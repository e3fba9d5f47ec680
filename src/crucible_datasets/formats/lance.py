"""Lance: a single file, or a folder that is a dataset."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.formats.base import Filters, Format, columns_of
from crucible_datasets.formats.streams import name_of
from crucible_datasets.registry import need


def read(
    stream: BinaryIO,
    *,
    columns: list[str] | None = None,
    filters: Filters = None,
    features: Any = None,
    batch_size: int = 256,
    token: str | None = None,
) -> Iterator[pa.Table]:
    """Yield batches of `batch_size` rows."""
    need("lance", extra="lance")
    path = name_of(stream)
    try:
        for batch in _batches(path, columns, filters, batch_size):
            yield pa.Table.from_batches([batch])
    except BaseException as error:
        # A panic of its native code is no `Exception`.
        if not isinstance(error, (OSError, ValueError, RuntimeError)) and type(error).__name__ != "PanicException":
            raise
        raise FileFormatError(path, f"not a readable Lance file: {error}") from error


def _batches(path: str, columns: list[str] | None, filters: Filters, size: int) -> Iterator[pa.RecordBatch]:
    lance = need("lance", extra="lance")
    if os.path.isdir(path):
        dataset = lance.dataset(path)
        yield from dataset.to_batches(columns=_wanted(columns, filters, dataset.schema), batch_size=size)
        return
    reader = need("lance.file", extra="lance").LanceFileReader(path)
    wanted = _wanted(columns, filters, reader.metadata().schema)
    for batch in reader.read_all(batch_size=size).to_batches():
        yield batch if wanted is None else batch.select(wanted)


def _wanted(columns: list[str] | None, filters: Filters, schema: pa.Schema) -> list[str] | None:
    if columns is None:
        return None
    needed = {*columns, *columns_of(filters, schema.names)}
    return [name for name in schema.names if name in needed]


FORMAT = Format("lance", (".lance",), read, needs_path=True)
