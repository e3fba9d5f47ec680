"""Arrow IPC files, memory-mapped: their rows cost no memory until they are read."""

from __future__ import annotations

import os
from typing import Any
from weakref import WeakValueDictionary

import pyarrow as pa

from crucible_datasets import config
from crucible_datasets.exceptions import ArrowFileError, FileFormatError
from crucible_datasets.fingerprint import version_of
from crucible_datasets.formats.arrow import batches, is_stored_as_read, whole
from crucible_datasets.tables.table import ArrowTable, Identities, identities

_valid: set[tuple[int, ...]] = set()  # files that this process has validated
_travelled: WeakValueDictionary[tuple[Any, ...], ArrowTable] = WeakValueDictionary()


def open_table(path: str | os.PathLike[str], in_memory: bool = False, trusted: bool = False) -> pa.Table:
    """The table in an Arrow stream or file, with its own schema.

    All values are validated when a file is first opened, unless it is `trusted` (written by this library) or larger
    than `config.MAX_VALIDATED_BYTES`: reading it completely would defeat the purpose of mapping it. That is done
    anyway if some of its types must be converted.
    """
    name = os.fspath(path)
    facts = os.stat(name)
    is_too_large = facts.st_size > config.MAX_VALIDATED_BYTES
    identity = (facts.st_dev, facts.st_ino, *version_of(facts))
    try:
        known = os.fsencode(name)  # which need not be UTF-8
        source = pa.OSFile(known) if in_memory else pa.memory_map(known)
        if trusted or identity in _valid or (is_too_large and is_stored_as_read(source, name)):
            return whole(source, name)
        table = pa.Table.from_batches(batches(source, name))
    except FileFormatError as error:
        raise ArrowFileError(name, str(error.__cause__ or error.reason), error.row) from error
    _valid.add(identity)
    return table


def read_ipc(source: Any) -> pa.Table:
    """The table in an open Arrow stream or file."""
    reader = source if hasattr(source, "seek") else pa.BufferReader(source)
    return pa.Table.from_batches(batches(reader, "Arrow data"))


def reference(table: ArrowTable) -> tuple[Any, ...]:
    """The pickled form of a table of mapped files: their paths."""
    facts = table.files, table.physical, tuple(table.table.column_names), table.mapped_from
    _travelled[facts] = table
    return mapped, facts


def mapped(
    paths: tuple[str, ...], physical: tuple[str, ...], names: tuple[str, ...], mapped_from: Identities
) -> ArrowTable:
    """Some columns of memory-mapped files, possibly renamed; shared while in use in this process."""
    facts = paths, physical, names, mapped_from
    found = _travelled.get(facts)
    if found is None:
        # The process that pickled it has validated the files.
        # Files may store the same values in types of their own, and have their columns in another order.
        tables = [open_table(path, trusted=True).select(list(physical)) for path in paths]
        held = ArrowTable(pa.concat_tables(ArrowTable.of(table).table for table in tables), paths)
        found = ArrowTable(held.table.rename_columns(list(names)), paths, physical, mapped_from)
    if identities(paths) != mapped_from:
        raise ArrowFileError(", ".join(paths), "other data has taken the place of what was there.")
    return _travelled.setdefault(facts, found)
