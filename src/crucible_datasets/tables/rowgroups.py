"""Row groups of Parquet files, decoded on access, and only the requested columns.

Decoded columns stay in memory as long as the budget allows. A column that was evicted is decoded a second time, to a
memory-mapped file on disk, where it stays. So no row group is decoded more than twice, in whatever order rows are read.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets.exceptions import CastError, FileCastError, FileFormatError
from crucible_datasets.features import Features
from crucible_datasets.features.storage import one_array
from crucible_datasets.features.types import is_identical
from crucible_datasets.fingerprint import version_of
from crucible_datasets.forking import cached_property
from crucible_datasets.formats.parquet import decoded, share_of
from crucible_datasets.formats.parquet_footer import is_sound
from crucible_datasets.logging import get_logger
from crucible_datasets.records import dataclass
from crucible_datasets.tables.budget import BUDGET, tick
from crucible_datasets.tables.table import ArrowTable
from crucible_datasets.tables.writing import as_feature

logger = get_logger(__name__)

HEAD_ROWS = 64

Names = tuple[str, ...]
Identity = tuple[int | str, ...]

_locks: list[threading.Lock] = []


def _new_locks() -> None:
    # A forked process starts with free locks: the threads that held them do not exist there.
    _locks[:] = [threading.Lock() for _ in range(64)]


_new_locks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_locks)


def identity_of(path: str) -> Identity:
    """The identity of a file, which changes when it is modified or replaced, or its permissions are."""
    facts = os.stat(path)
    return facts.st_ino, *version_of(facts)


def is_same(now: Identity, before: Identity) -> bool:
    """Whether a file that is read already is the same. New permissions and links change one time of it, too."""
    return now[:3] == before[:3]


@dataclass(frozen=True, eq=False)
class ParquetPart:
    """One Parquet file of a table, with its footer. It is open only while it is read."""

    path: str
    identity: Identity
    metadata: Any
    features: Features

    def batches(self, group: int, names: Sequence[str], batch_size: int | None = None) -> Generator[pa.RecordBatch]:
        """Some columns of a row group, as stored in the file."""
        with self.opened() as source:
            yield from decoded(source, self.path, self.metadata, group, names, batch_size)

    def share_of(self, names: Names) -> tuple[float, float]:
        """What the footer says of the size of these columns; computed once for all row groups."""
        if names not in self._shares:
            self._shares[names] = share_of(self.metadata, names)
        return self._shares[names]

    @cached_property
    def _shares(self) -> dict[Names, tuple[float, float]]:
        return {}

    @property
    def here(self) -> ParquetPart:
        """The file, once it is at its path."""
        return self

    @property
    def at_source(self) -> RemotePart | None:
        """The file in a form that other machines can read; None if it is local."""
        return None

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """The source for Arrow's reader: the path."""
        self.require_same()
        yield self.path

    @cached_property
    def has_sound_footer(self) -> bool:
        """Whether Arrow can safely read the file's statistics."""
        with self.opened() as source:
            return is_sound(source, self.metadata)

    def require_same(self) -> None:
        """Check that the file is the one whose footer was read."""
        try:
            now = identity_of(self.path)
        except FileNotFoundError:
            now = None
        if now is None or not is_same(now, self.identity):
            raise FileFormatError(self.path, "it was changed or removed after the dataset was loaded; load it again.")


@dataclass(frozen=True, eq=False)
class RemotePart(ParquetPart):
    """A remote Parquet file."""

    open: Callable[[], BinaryIO]

    @property
    def at_source(self) -> RemotePart:
        return self

    @contextmanager
    def opened(self) -> Iterator[Any]:
        with self.open() as stream:
            yield stream


class RowGroup:
    """One row group, and the columns of it that are decoded now."""

    __slots__ = (
        "__weakref__",
        "_columns",
        "_decoded",
        "_head",
        "_row_bytes",
        "_spilled",
        "_tables",
        "features",
        "index",
        "json_columns",
        "num_rows",
        "part",
        "schema",
        "used",
    )

    def __init__(
        self,
        part: ParquetPart,
        index: int,
        num_rows: int,
        features: Features,
        schema: pa.Schema,
        row_bytes: dict[str, float],
        json_columns: frozenset[str],
    ) -> None:
        self.part, self.index, self.num_rows = part, index, num_rows
        self.features, self.schema, self.json_columns = features, schema, json_columns
        self.used = 0
        self._row_bytes = row_bytes  # bytes per row of each column, from groups decoded before
        self._columns: dict[str, pa.ChunkedArray] = {}  # in memory, within the budget
        self._spilled: dict[str, pa.ChunkedArray] = {}  # on disk
        self._tables: dict[Names, ArrowTable] = {}
        self._head: tuple[Names, ArrowTable] | None = None
        self._decoded: set[str] = set()

    def release(self) -> None:
        """Release what is in memory; current readers keep it until they are done."""
        self._columns, self._tables, self._head = {}, {}, None

    def is_ready(self, names: Names) -> bool:
        """Whether these columns can be read without decoding."""
        return names in self._tables or {*self._columns, *self._spilled}.issuperset(names)

    @property
    def is_spilled(self) -> bool:
        """Whether some of it is on disk."""
        return bool(self._spilled)

    def size(self, names: Names) -> int:
        """The approximate decoded size of these columns: judging by groups decoded before, else by the footer."""
        if self._row_bytes.keys() >= {*names}:
            return int(self.num_rows * sum(self._row_bytes[name] for name in names))
        share, least = self.part.share_of(names)
        return int(max(self.part.metadata.row_group(self.index).total_byte_size * share, self.num_rows * least))

    def head(self, names: Names, stop: int) -> ArrowTable | None:
        """The first rows, at least up to `stop`, if they cost less than decoding the whole group."""
        head = self._head
        if head is not None and head[0] == names and stop <= head[1].num_rows:
            return head[1]
        if head is not None or stop > HEAD_ROWS or self.num_rows <= 4 * HEAD_ROWS or self.is_ready(names):
            return None
        batch = next(self._batches(names, HEAD_ROWS))
        if batch.num_rows < stop:
            return None  # the group is damaged
        table = ArrowTable(pa.Table.from_batches([batch]))
        self._head = names, table
        return table

    def table(self, names: Names, in_one_piece: bool = False, spill: bool = False) -> ArrowTable:
        """These columns of all rows.

        `in_one_piece` if scattered rows will be taken from it; `spill` if it must not evict other groups, because they
        are needed as well.
        """
        self.used = tick()
        if self._spilled:
            self._touch(names)
        found = self._tables.get(names)
        if found is not None and not (in_one_piece and len(found.batches) > 1 and not self._spilled):
            return found
        with _locks[id(self) // 64 % len(_locks)]:
            return self._made(names, in_one_piece, spill)

    def _touch(self, names: Names) -> None:
        from crucible_datasets.tables.spill import touched

        touched(sum(self._spilled[name].nbytes for name in names if name in self._spilled))

    def _made(self, names: Names, in_one_piece: bool, spill: bool) -> ArrowTable:
        columns = {**self._columns, **self._spilled}
        missing = tuple(name for name in names if name not in columns)
        if missing:
            columns |= self._decode(missing, spill)
        joined = {}
        if in_one_piece:
            several = [name for name in names if name not in self._spilled and columns[name].num_chunks > 1]
            joined = {name: _one_chunk(columns[name]) for name in several}
        made = ArrowTable(pa.table({name: joined.get(name, columns[name]) for name in names}))

        def keep() -> None:
            if all(name in self._spilled or self._columns.get(name) is columns[name] for name in names):
                self._keep(joined)
                self._tables = {names: made} if joined else {**self._tables, names: made}

        BUDGET.settle(keep)
        return made

    def _decode(self, names: Names, spill: bool) -> dict[str, pa.ChunkedArray]:
        again = not self._decoded.isdisjoint(names)
        batches = self._batches(names)
        held: list[pa.RecordBatch] = []
        size = 0
        too_large = again
        while not too_large and (batch := next(batches, None)) is not None:
            held.append(batch)
            size += batch.nbytes
            too_large = size > BUDGET.limit or (spill and not BUDGET.has_room(size))
        if too_large and (mapped := self._spill(chain(_drained(held), batches), names)) is not None:
            columns = dict(zip(names, mapped.columns, strict=True))
            self._spilled = {**self._spilled, **columns}
        else:
            held = held if not too_large else list(self._batches(names))
            table = pa.Table.from_batches(held, self._schema(names))
            self._row_bytes |= {name: table[name].nbytes / self.num_rows for name in names}
            columns = dict(zip(names, table.columns, strict=True))
            BUDGET.admit(self, table.nbytes, lambda: self._keep(columns))
        self._decoded |= {*names}
        self._head = None
        return columns

    def _keep(self, columns: dict[str, pa.ChunkedArray]) -> None:
        # Replaced, never changed: it is read without a lock.
        self._columns = {**self._columns, **columns}

    def _spill(self, batches: Iterator[pa.RecordBatch], names: Names) -> pa.Table | None:
        from crucible_datasets.tables.spill import spilled

        try:
            return spilled(batches, self._schema(names))
        except OSError as error:
            logger.warning("Decoded data could not be spilled to the disk and stays in memory: %s", error)
            return None

    def _schema(self, names: Names) -> pa.Schema:
        return pa.schema([self.schema.field(name) for name in names])

    def _in_file(self, names: Names) -> Names:
        return tuple(name for name in names if name in self.part.features)

    def _batches(self, names: Names, batch_size: int | None = None) -> Iterator[pa.RecordBatch]:
        """Decode these columns to the common types of all files."""
        present = self._in_file(names)
        if not present:
            yield self._cast(pa.table({}), names, self.num_rows)
        else:
            for batch in self.part.batches(self.index, present, batch_size):
                yield self._cast(batch, names, batch.num_rows)

    def _cast(self, batch: Any, names: Names, num_rows: int) -> pa.RecordBatch:
        schema = self._schema(names)
        arrays = [self._column(batch, field, num_rows) for field in schema]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _column(self, batch: Any, wanted: pa.Field, num_rows: int) -> pa.Array:
        name, feature = wanted.name, self.features[wanted.name]
        if name not in self.part.features:
            return pa.nulls(num_rows, wanted.type)
        array, before = batch.column(name), self.part.features[name]
        if is_identical(before, feature):
            return array
        try:
            column = as_feature(pa.chunked_array([array]), before, feature, name, name in self.json_columns)
            return one_array(column)
        except CastError as error:
            raise FileCastError(self.part.path, error) from error


def _drained(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches, each released after use."""
    batches.reverse()
    while batches:
        yield batches.pop()


def _one_chunk(column: pa.ChunkedArray) -> pa.ChunkedArray:
    joined = column.combine_chunks()
    return joined if isinstance(joined, pa.ChunkedArray) else pa.chunked_array([joined])
