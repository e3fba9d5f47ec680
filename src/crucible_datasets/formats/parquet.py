"""Parquet files: row groups decoded batch by batch, and written as Hugging Face writes them.

A few hundred bytes of Parquet can decode to gigabytes: a dictionary stores a value once, and data pages repeat its
index. Therefore the size of every batch is counted, and columns that could be such bombs stay dictionary-encoded
until their decoded size is known.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Any, BinaryIO

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets import config
from crucible_datasets.exceptions import (
    ArgumentError,
    ColumnNotFoundError,
    FileFormatError,
    LimitExceededError,
    ValueTypeError,
)
from crucible_datasets.features import Features
from crucible_datasets.features.dtypes import is_list
from crucible_datasets.features.media import Media
from crucible_datasets.features.storage import plain, to_storage
from crucible_datasets.features.types import any_leaf
from crucible_datasets.formats.arrow import expanded_bytes, require_readable_names
from crucible_datasets.formats.arrow import file_errors as arrow_errors
from crucible_datasets.formats.base import Format, columns_of, expression_of, fitting, narrowed
from crucible_datasets.formats.parquet_footer import is_sound
from crucible_datasets.outputs.arrow import ArrowFormatter
from crucible_datasets.records import dataclass

file_errors = partial(arrow_errors, kind="a readable Parquet file")

# Large batches, because a thread that decodes ahead waits for the GIL between two batches.
_BATCH_BYTES = 2 << 20
# A smaller row group is decoded without threads, and its first row is available when the first quarter is decoded.
_SMALL_BATCH_BYTES = 512 << 10
_FEWEST_ROWS, _MOST_ROWS = 64, 8192
_BATCH_AT_FAULTS = 256  # rows
_VALUE_BYTES = {"BOOLEAN": 0.125, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
# Real text and numbers are compressed ten times at most, bombs a thousand times and more.
_HONEST_RATIO = 64
_REPETITIVE = 16  # bytes in the file per value, below which values may be repetitions of a few large ones


def read(
    stream: BinaryIO,
    *,
    columns: list[str] | None = None,
    filters: Any = None,
    features: Features | None = None,
    batch_size: int | None = None,
    fragment_scan_options: Any = None,
    download: bool = True,
) -> Iterator[pa.Table]:
    """Yield the rows that match, with the requested columns and those that the filters use.

    `download` is used by the code that resolves files, not here.
    """
    expression = expression_of(filters)
    path = str(getattr(stream, "name", "Parquet data"))
    source = stream if stream.seekable() else pa.BufferReader(stream.read())
    with file_errors(path):
        file = parquet_reader(source)
        schema = file.schema_arrow
        require_readable_names(schema)
    wanted = schema.names
    if columns is not None:
        wanted = list(dict.fromkeys([*columns, *columns_of(expression, schema.names)]))
        schema = pa.schema([_field(schema, name) for name in wanted], schema.metadata)
    stored = pa.schema([pa.field(field.name, plain(field.type), metadata=field.metadata) for field in schema])
    groups: Iterable[int] = range(file.metadata.num_row_groups)
    if expression is not None and is_sound(source, file.metadata):
        groups = groups_matching(source, expression, path)
    for group in groups:
        for batch in decoded(source, path, file.metadata, group, wanted, batch_size):
            table = pa.Table.from_arrays(batch.columns, schema=stored.with_metadata(schema.metadata))
            yield narrowed(table, None, expression)


def _field(schema: pa.Schema, name: str) -> pa.Field:
    if name not in schema.names:
        raise ColumnNotFoundError(name, schema.names)
    return schema.field(name)


def parquet_reader(source: Any, metadata: Any = None, dictionaries: Sequence[str] | None = None) -> Any:
    """Arrow's reader of a Parquet file; if `metadata` is given, the footer is not read again."""
    # Pre-buffering would keep all column chunks of a row group in memory, beside their decoded values.
    options = {"metadata": metadata, "read_dictionary": dictionaries, "pre_buffer": False}
    source = pa.OSFile(os.fsencode(source)) if isinstance(source, str) else source  # paths need not be UTF-8
    with _keeping_pages():
        try:
            # The class behind `pyarrow.parquet`, which imports file systems and SSL as well: 15 of 215 ms to a
            # first row.
            from pyarrow._parquet import ParquetReader

            reader = ParquetReader()
            reader.open(source, arrow_extensions_enabled=True, **options)
            return reader
        except (ImportError, TypeError):
            import pyarrow.parquet as pq

            return pq.ParquetFile(source, **options).reader


@contextmanager
def _keeping_pages() -> Iterator[None]:
    """While open: new readers use a pool that reuses memory, unless the user has chosen a memory pool.

    mimalloc, the default pool, returns pages to the system at once. Getting new pages, filled with zeros, took a
    third of the CPU time of reading 200 MB.
    """
    usual = pa.default_memory_pool()
    if usual.backend_name != "mimalloc" or "ARROW_DEFAULT_MEMORY_POOL" in os.environ:
        yield
        return
    # A reader uses the pool that is the default when it is created, and has no argument for it. Allocations of other
    # threads meanwhile may use either pool; each is returned to its own.
    pa.set_memory_pool(_steady_pool() or usual)
    try:
        yield
    finally:
        pa.set_memory_pool(usual)


@cache
def _steady_pool() -> Any:
    return pa.jemalloc_memory_pool() if "jemalloc" in pa.supported_memory_backends() else None


@dataclass(frozen=True)
class Layout:
    """What is known about the size of some leaf columns of a row group before they are decoded.

    It is computed from the schema and the totals of the row group, since Arrow crashes if it is asked about a column
    chunk with invalid metadata.
    """

    num_rows: int
    row_bytes: float  # after decompression, assuming that all leaf columns are equally large
    least: int  # minimal size of the values in memory
    limit: int  # maximal size that is accepted
    explosive: tuple[str, ...]  # leaf columns that may be repetitions of a few large values

    @classmethod
    def of(cls, metadata: Any, group: int, columns: Sequence[str], file_bytes: int = 0) -> Layout:
        """The layout of the leaf columns under the given columns."""
        about = metadata.row_group(group)
        leaves = leaves_of(metadata, columns)
        rows, size = about.num_rows, about.total_byte_size
        compressed = file_bytes / max(metadata.num_rows, 1)
        explosive: list[str] = []
        if compressed < _REPETITIVE and rows * size > config.MAX_DECODED_BYTES:
            explosive = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        return cls(
            num_rows=rows,
            row_bytes=size * len(leaves) / max(metadata.num_columns, 1) / max(rows, 1),
            least=int(rows * sum(map(_least_bytes, leaves))),
            limit=max(config.MAX_DECODED_BYTES, int(_HONEST_RATIO * compressed * rows)),
            explosive=tuple(explosive),
        )

    @property
    def batch_rows(self) -> int:
        """How many rows to decode at once."""
        most = self._rows_of(_BATCH_BYTES)
        return most if self.num_rows > most else self._rows_of(_SMALL_BATCH_BYTES)

    @property
    def is_small(self) -> bool:
        """Whether decoding takes less time than starting a thread."""
        return self.num_rows <= self._rows_of(_BATCH_BYTES)

    def _rows_of(self, size: int) -> int:
        return min(max(int(size / max(self.row_bytes, 1)), _FEWEST_ROWS), _MOST_ROWS)


def share_of(metadata: Any, columns: Sequence[str]) -> tuple[float, float]:
    """The part of all leaf columns that belongs to the given columns, and the bytes that their rows take at least."""
    leaves = leaves_of(metadata, columns)
    return len(leaves) / max(metadata.num_columns, 1), sum(map(_least_bytes, leaves))


def leaves_of(metadata: Any, columns: Sequence[str]) -> list[Any]:
    """The leaf columns under the given top-level columns."""
    return [metadata.schema.column(place) for place in leaf_places(metadata, columns)]


def leaf_places(metadata: Any, columns: Sequence[str]) -> list[int]:
    """The indices of the leaf columns under the given top-level columns, whose names may contain dots."""
    wanted, under = set(columns), tuple(f"{name}." for name in columns)
    paths = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
    return [place for place, path in enumerate(paths) if path in wanted or path.startswith(under)]


def _least_bytes(leaf: Any) -> float:
    """The minimal size of a leaf column per row; zero inside lists, which may be empty."""
    return 0 if leaf.max_repetition_level else _VALUE_BYTES.get(leaf.physical_type, max(leaf.length, 1))


def decoded(
    source: Any,
    path: str,
    metadata: Any,
    group: int,
    columns: Sequence[str],
    batch_size: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Some columns of a row group as storage types, in batches of a few megabytes; all rows before a damaged page.

    Raises if the number of rows differs from the footer, data is invalid, or the decoded size exceeds the limit.
    """
    rows = 0
    try:
        for batch in _decoded(source, path, metadata, group, columns, batch_size):
            rows += batch.num_rows
            yield batch
    except FileFormatError as error:
        for batch in _up_to_fault(source, path, metadata, group, columns, rows):
            rows += batch.num_rows
            yield batch
        before = sum(metadata.row_group(earlier).num_rows for earlier in range(group))
        names = [name for name in columns if not _can_be_read(source, path, metadata, group, name)]
        where = f" of column {names[0]!r}" if names else ""
        raise FileFormatError(path, f"row group {group}{where}: {error.reason}", before + rows) from error
    expected = metadata.row_group(group).num_rows
    if rows != expected:
        raise FileFormatError(path, f"row group {group} holds {rows} rows, but the footer says {expected}.")


def _up_to_fault(
    source: Any, path: str, metadata: Any, group: int, columns: Sequence[str], given: int
) -> Iterator[pa.RecordBatch]:
    """The rows of a damaged row group that follow those that were given, in batches that end before the fault."""
    seen = 0
    with suppress(FileFormatError):
        for batch in _decoded(source, path, metadata, group, columns, _BATCH_AT_FAULTS):
            new = batch.slice(max(given - seen, 0))
            seen += batch.num_rows
            if new.num_rows:
                yield new
    # A batch that begins with the group can end at any row.
    good, bad, last = max(seen, given), seen + _BATCH_AT_FAULTS, None
    first = good
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            last = next(_decoded(source, path, metadata, group, columns, middle))
            good = middle
        except (FileFormatError, StopIteration):
            bad = middle
    if last is not None:
        yield last.slice(first)


def _can_be_read(source: Any, path: str, metadata: Any, group: int, column: str) -> bool:
    try:
        return all(True for _ in _decoded(source, path, metadata, group, [column], None))
    except FileFormatError:
        return False


def _decoded(
    source: Any, path: str, metadata: Any, group: int, columns: Sequence[str], batch_size: int | None
) -> Iterator[pa.RecordBatch]:
    with file_errors(path):
        layout = Layout.of(metadata, group, columns, _size(source))
        _require_within(layout.least, layout, path, group)
        reader = parquet_reader(source, metadata, layout.explosive)
        batches = reader.iter_batches(
            batch_size or layout.batch_rows,
            row_groups=[group],
            column_indices=leaf_places(metadata, columns),
            use_threads=not layout.is_small,
        )
    produced = 0
    while True:
        with file_errors(path):
            batch = next(batches, None)
            if batch is None:
                break
            produced += sum(map(expanded_bytes, batch.columns)) if layout.explosive else batch.nbytes
            _require_within(produced, layout, path, group)
            stored = pa.RecordBatch.from_arrays([_stored(batch.column(name)) for name in columns], names=list(columns))
            stored.validate(full=True)
        yield stored


def _size(source: Any) -> int:
    if isinstance(source, str):
        return os.path.getsize(source)
    return source.seek(0, os.SEEK_END)


def _require_within(produced: float, layout: Layout, path: str, group: int) -> None:
    if produced > layout.limit:
        raise LimitExceededError(path, f"decoding row group {group}", layout.limit, "config.MAX_DECODED_BYTES")


def _stored(array: pa.Array) -> pa.Array:
    if plain(array.type) == array.type:
        return array
    return to_storage(pa.chunked_array([array])).chunk(0)


def groups_matching(source: Any, filters: pc.Expression, path: str) -> list[int]:
    """The row groups that may match the filters, according to their statistics."""
    # These import pandas, but so does creating any expression, so it has been imported already.
    import pyarrow.dataset as ds
    from pyarrow.fs import LocalFileSystem

    with file_errors(path):
        fragment = ds.ParquetFileFormat().make_fragment(source, LocalFileSystem() if isinstance(source, str) else None)
        fragment.ensure_complete_metadata()
    with fitting(filters, fragment.physical_schema.names):
        return [group.id for group in fragment.subset(filters).row_groups]


def write(
    tables: Iterable[pa.Table],
    features: Features,
    stream: BinaryIO,
    batch_size: int | None = None,
    use_content_defined_chunking: bool | dict[str, Any] = True,
    write_page_index: bool = True,
    **parquet_writer_kwargs: Any,
) -> int:
    """Write tables of storage types, in row groups of `batch_size` rows or about 100 MB; the number of bytes."""
    import pyarrow.parquet as pq

    chunking = config.DEFAULT_CDC_OPTIONS if use_content_defined_chunking is True else use_content_defined_chunking
    options = {
        "use_content_defined_chunking": chunking,
        "write_page_index": write_page_index,
        **_leaf_options(features),
        **parquet_writer_kwargs,
    }
    written = 0
    formatter = ArrowFormatter()
    _require_types(features)
    with pq.ParquetWriter(stream, schema=features.arrow_schema, **options) as writer:
        for table in _row_groups(tables, batch_size):
            shown = formatter.batch(table, features)
            writer.write_table(shown, row_group_size=max(len(shown), 1))
            written += table.nbytes
        if chunking is not False:
            writer.add_key_value_metadata({"content_defined_chunking": json.dumps(chunking)})
    return written


def _require_types(features: Features) -> None:
    """Raise for a column of a type that Parquet lacks."""
    for field in features.type:
        if (leaf := _absent(field.type)) is not None:
            raise ValueTypeError(field.name, None, str(features[field.name]), "Parquet", f"the format has no {leaf}.")


def _absent(arrow: pa.DataType) -> str | None:
    """What in a type Parquet has no form for."""
    if isinstance(arrow, pa.BaseExtensionType):
        return _absent(arrow.storage_type)
    if pa.types.is_fixed_size_list(arrow) and not arrow.list_size:
        return "lists of length 0"
    if pa.types.is_nested(arrow):
        if not arrow.num_fields:
            return "structs without fields"
        inner = (_absent(arrow.field(index).type) for index in range(arrow.num_fields))
        return next((leaf for leaf in inner if leaf is not None), None)
    if pa.types.is_decimal(arrow) and not 0 <= arrow.scale <= arrow.precision:
        return f"{arrow}"
    return "values without bytes" if pa.types.is_fixed_size_binary(arrow) and not arrow.byte_width else None


def _row_groups(tables: Iterable[pa.Table], batch_size: int | None) -> Iterator[pa.Table]:
    """The same rows in one table per row group."""
    waiting: list[pa.Table] = []
    rows = 0
    for table in tables:
        size = batch_size or _rows_in(config.MAX_ROW_GROUP_SIZE, table)
        waiting.append(table)
        rows += len(table)
        while rows >= size:
            joined = pa.concat_tables(waiting)
            yield joined.slice(0, size)
            waiting, rows = [joined.slice(size)], rows - size
    if rows:
        yield pa.concat_tables(waiting)


def _rows_in(size: str | int, table: pa.Table) -> int:
    return max(1, int(byte_count(size) * len(table) / max(table.nbytes, 1)))


def byte_count(size: str | int) -> int:
    """A size such as `500MB` or `2GiB` in bytes."""
    if isinstance(size, int):
        return size
    units = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
    for unit, factor in units.items():
        number = size.strip().upper().removesuffix(unit)
        if number != size.strip().upper() and number.strip().isdigit():
            return int(number) * factor
    raise ArgumentError("size", size, f"expected a number with one of the units {', '.join(units)}.")


def _leaf_options(features: Features) -> dict[str, Any]:
    """Snappy and dictionaries for all leaf columns except media, which are compressed already."""
    compression, dictionaries, encodings = {}, [], {}
    for (name, feature), field in zip(features.items(), features.type, strict=True):
        media = any_leaf(feature, (Media,))
        for leaf in _leaf_paths(name, field.type):
            compression[leaf] = "none" if media else "snappy"
            if media:
                encodings[leaf] = "PLAIN"
            else:
                dictionaries.append(leaf)
    return {"compression": compression, "use_dictionary": dictionaries, "column_encoding": encodings}


def _leaf_paths(path: str, arrow: pa.DataType) -> list[str]:
    if isinstance(arrow, pa.BaseExtensionType):
        return _leaf_paths(path, arrow.storage_type)
    if pa.types.is_struct(arrow):
        return [leaf for field in arrow for leaf in _leaf_paths(f"{path}.{field.name}", field.type)]
    return _leaf_paths(f"{path}.list.element", arrow.value_type) if is_list(arrow) else [path]


FORMAT = Format("parquet", (".parquet", ".geoparquet", ".gpq"), read, write, in_place=True)
