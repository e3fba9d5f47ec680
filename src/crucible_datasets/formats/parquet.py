"""Parquet files: row groups decoded batch by batch, and written as Hugging Face writes them.

A few hundred bytes of Parquet may stand for gigabytes: a dictionary holds a value once, and
its pages repeat it by number. Therefore every batch is counted as it is produced, and
columns that could explode stay dictionaries until their true size is known.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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
)
from crucible_datasets.features import Features
from crucible_datasets.features.dtypes import is_list
from crucible_datasets.features.media import Media
from crucible_datasets.features.storage import children, plain, to_storage
from crucible_datasets.features.types import any_leaf
from crucible_datasets.formats.arrow import broken as broken_arrow
from crucible_datasets.formats.arrow import require_readable_names
from crucible_datasets.formats.base import Format, columns_of, expression_of, fitting, narrowed
from crucible_datasets.formats.parquet_footer import is_sound
from crucible_datasets.logging import get_logger
from crucible_datasets.outputs.arrow import ArrowFormatter
from crucible_datasets.records import dataclass

logger = get_logger(__name__)
broken = partial(broken_arrow, kind="a readable Parquet file")
applied = fitting  # to rows that are read in place, which know their columns before

# Fewer, larger batches: a thread that decodes ahead waits for the interpreter between two of them.
_BATCH_BYTES = 2 << 20
# A group of less is decoded without threads, and its first row is there when the first quarter of it is.
_SMALL_BATCH_BYTES = 512 << 10
_FEWEST_ROWS, _MOST_ROWS = 64, 8192
_VALUE_BYTES = {"BOOLEAN": 0.125, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8, "BYTE_ARRAY": 4}
# Text and numbers shrink to a tenth at most when they are worth reading; a bomb shrinks to a thousandth and less.
_HONEST_RATIO = 64
_REPETITIVE = 16  # bytes in the file for each value, below which values may be repetitions of a few large ones


def read(
    stream: BinaryIO,
    *,
    columns: list[str] | None = None,
    filters: Any = None,
    features: Features | None = None,
    batch_size: int | None = None,
    fragment_scan_options: Any = None,
    on_bad_files: str = "error",
    download: bool = True,
) -> Iterator[pa.Table]:
    """Yield the rows that match, with the columns asked for and those that the filters look at.

    `download` is for those who find the files.
    """
    require_choice(on_bad_files)
    try:
        yield from _tables(stream, columns, expression_of(filters), batch_size)
    except FileFormatError as error:
        pass_over(error, on_bad_files)


def _tables(
    stream: BinaryIO, columns: list[str] | None, filters: pc.Expression | None, batch_size: int | None
) -> Iterator[pa.Table]:
    path = str(getattr(stream, "name", "Parquet data"))
    source = stream if stream.seekable() else pa.BufferReader(stream.read())
    with broken(path):
        file = parquet_reader(source)
        schema = file.schema_arrow
        require_readable_names(schema)
    wanted = schema.names
    if columns is not None:
        wanted = list(dict.fromkeys([*columns, *columns_of(filters, schema.names)]))
        schema = pa.schema([_field(schema, name) for name in wanted], schema.metadata)
    stored = pa.schema([pa.field(field.name, plain(field.type), metadata=field.metadata) for field in schema])
    groups: Iterable[int] = range(file.metadata.num_row_groups)
    if filters is not None and is_sound(source, file.metadata):
        groups = groups_matching(source, filters, path)
    for group in groups:
        for batch in decoded(source, path, file.metadata, group, wanted, batch_size):
            table = pa.Table.from_arrays(batch.columns, schema=stored.with_metadata(schema.metadata))
            yield narrowed(table, None, filters)


def _field(schema: pa.Schema, name: str) -> pa.Field:
    if name not in schema.names:
        raise ColumnNotFoundError(name, schema.names)
    return schema.field(name)


def require_choice(on_bad_files: str) -> None:
    """Check what is to be done with files that cannot be read."""
    if on_bad_files not in ("error", "warn", "skip"):
        raise ArgumentError("on_bad_files", on_bad_files, "expected 'error', 'warn' or 'skip'.")


def pass_over(error: FileFormatError, on_bad_files: str) -> None:
    """Raise the error, or go on without the file."""
    if on_bad_files == "error":
        raise error
    if on_bad_files == "warn":
        logger.warning("A file that cannot be read is left out. %s", error)


def parquet_reader(source: Any, metadata: Any = None, dictionaries: Sequence[str] | None = None) -> Any:
    """Arrow's reader of a Parquet file; with the metadata at hand the footer is not read again."""
    # Buffering ahead would hold all column chunks of a group in memory, beside what they decode to.
    options = {"metadata": metadata, "read_dictionary": dictionaries, "pre_buffer": False}
    source = pa.OSFile(os.fsencode(source)) if isinstance(source, str) else source  # names need not be UTF-8
    with _keeping_pages():
        try:
            # What `pyarrow.parquet` reads with. It imports file systems and SSL as well: 15 of 215 ms to a first row.
            from pyarrow._parquet import ParquetReader

            reader = ParquetReader()
            reader.open(source, arrow_extensions_enabled=True, **options)
            return reader
        except (ImportError, TypeError):
            import pyarrow.parquet as pq

            return pq.ParquetFile(source, **options).reader


@contextmanager
def _keeping_pages() -> Iterator[None]:
    """A file that is opened here decodes into memory that is used again, unless the user has chosen a memory pool.

    mimalloc, the usual pool, gives pages back at once. To get them anew, filled with zeros, took a third of the
    processor time of reading 200 MB.
    """
    usual = pa.default_memory_pool()
    if usual.backend_name != "mimalloc" or "ARROW_DEFAULT_MEMORY_POOL" in os.environ:
        yield
        return
    # A reader keeps the pool that is the default while it is made, and takes no other. What threads of others
    # allocate meanwhile may come from either pool: it is given back to the one it came from.
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
    """What is known of the size of some leaf columns of a row group before they are decoded.

    Only from the schema and the totals of the group: Arrow ends the process when it is
    asked about a column whose footer makes no sense.
    """

    num_rows: int
    row_bytes: float  # after decompression, as if all leaf columns were alike
    least: int  # bytes that the values take at least in memory
    limit: int  # bytes that they may take
    explosive: tuple[str, ...]  # leaf columns that may be repetitions of a few large values

    @classmethod
    def of(cls, metadata: Any, group: int, columns: Sequence[str], file_bytes: int = 0) -> Layout:
        """The layout of the leaf columns under the given columns of a file of so many bytes."""
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
        """Whether it is decoded before a thread has started."""
        return self.num_rows <= self._rows_of(_BATCH_BYTES)

    def _rows_of(self, size: int) -> int:
        return min(max(int(size / max(self.row_bytes, 1)), _FEWEST_ROWS), _MOST_ROWS)


def leaves_of(metadata: Any, columns: Sequence[str]) -> list[Any]:
    """The leaf columns under the given top-level columns."""
    return [metadata.schema.column(place) for place in leaf_places(metadata, columns)]


def leaf_places(metadata: Any, columns: Sequence[str]) -> list[int]:
    """The numbers of the leaf columns under the given top-level columns, whose names may have dots."""
    wanted, under = set(columns), tuple(f"{name}." for name in columns)
    paths = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
    return [place for place, path in enumerate(paths) if path in wanted or path.startswith(under)]


def _least_bytes(leaf: Any) -> float:
    """What each row takes of a leaf column at least; a list may be empty."""
    return 0 if leaf.max_repetition_level else _VALUE_BYTES.get(leaf.physical_type, max(leaf.length, 1))


def decoded(
    source: Any,
    path: str,
    metadata: Any,
    group: int,
    columns: Sequence[str],
    batch_size: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Some columns of a row group as storage, in batches of a few megabytes.

    Raises when they are not as many rows as the footer says, no valid data, or outgrow the limit.
    """
    with broken(path):
        layout = Layout.of(metadata, group, columns, _size(source))
        _require_within(layout.least, layout, path, group)
        reader = parquet_reader(source, metadata, layout.explosive)
        batches = reader.iter_batches(
            batch_size or layout.batch_rows,
            row_groups=[group],
            column_indices=leaf_places(metadata, columns),
            use_threads=not layout.is_small,
        )
    produced = rows = 0
    while True:
        with broken(path):
            batch = next(batches, None)
            if batch is None:
                break
            produced += sum(map(_expanded_bytes, batch.columns)) if layout.explosive else batch.nbytes
            _require_within(produced, layout, path, group)
            rows += batch.num_rows
            stored = pa.RecordBatch.from_arrays([_stored(batch.column(name)) for name in columns], names=list(columns))
            stored.validate(full=True)
        yield stored
    if rows != layout.num_rows:
        raise FileFormatError(path, f"row group {group} holds {rows} rows, but the footer says {layout.num_rows}.")


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


def _expanded_bytes(array: pa.Array) -> int:
    """How large an array is once its dictionaries are written out."""
    if isinstance(array, pa.ExtensionArray):
        return _expanded_bytes(array.storage)
    if pa.types.is_dictionary(array.type):
        lengths = pc.binary_length(array.dictionary).cast(pa.int64())
        return array.indices.nbytes + (pc.sum(lengths.take(array.indices)).as_py() or 0)
    if pa.types.is_struct(array.type):
        return sum(map(_expanded_bytes, children(array)))
    if is_list(array.type):
        return 4 * len(array) + _expanded_bytes(array.flatten())
    return array.nbytes


def groups_matching(source: Any, filters: pc.Expression, path: str) -> list[int]:
    """The row groups whose statistics do not rule the filters out."""
    # Importing these imports pandas as well, and so does making any expression: nothing is lost.
    import pyarrow.dataset as ds
    from pyarrow.fs import LocalFileSystem

    with broken(path):
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
    """Write tables of storage; each row group holds `batch_size` rows, or about 100 MB. Gives the bytes written."""
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
    with pq.ParquetWriter(stream, schema=features.arrow_schema, **options) as writer:
        for table in _row_groups(tables, batch_size):
            shown = formatter.batch(table, features)
            writer.write_table(shown, row_group_size=max(len(shown), 1))
            written += table.nbytes
        if chunking is not False:
            writer.add_key_value_metadata({"content_defined_chunking": json.dumps(chunking)})
    return written


def _row_groups(tables: Iterable[pa.Table], batch_size: int | None) -> Iterator[pa.Table]:
    """The same rows, cut and joined to what one row group is to hold."""
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
    """Media are compressed already; everything else gets snappy and dictionaries."""
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
