"""Arrow IPC files, memory-mapped: their rows cost no memory until they are read."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import ArrowFileError
from crucible_datasets.tables.table import ArrowTable

_FILE_MAGIC = b"ARROW1"


def open_table(path: str | os.PathLike[str], in_memory: bool = False) -> pa.Table:
    """The table in an Arrow stream or file, as its schema says."""
    name = os.fspath(path)
    try:
        source = pa.OSFile(name) if in_memory else pa.memory_map(name)
        return read_ipc(source)
    except pa.ArrowInvalid as error:
        raise ArrowFileError(name, str(error)) from error


def read_ipc(source: Any) -> pa.Table:
    """The table in an open Arrow stream or file."""
    reader = source if hasattr(source, "seek") else pa.BufferReader(source)
    is_file = reader.read(len(_FILE_MAGIC)) == _FILE_MAGIC
    reader.seek(0)
    return (pa.ipc.open_file(reader) if is_file else pa.ipc.open_stream(reader)).read_all()


def mapped(paths: tuple[str, ...], physical: tuple[str, ...], names: tuple[str, ...]) -> ArrowTable:
    """Some columns of memory-mapped files, under other names: how a mapped table travels to another process."""
    table = pa.concat_tables([open_table(path).replace_schema_metadata(None) for path in paths])
    held = ArrowTable.of(table.select(list(physical)), paths)
    return ArrowTable(held.table.rename_columns(list(names)), paths, physical)
