"""Arrow tables, as programs take them out of datasets and put them in.

`Dataset.data` is one of the tables of `crucible_datasets.tables`, which answer to all that a `pa.Table` answers to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pyarrow as pa

from crucible_datasets.exceptions import CastError
from crucible_datasets.features import Features, LargeList, List, Value
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.dtypes import is_text
from crucible_datasets.features.embed import embedded
from crucible_datasets.features.storage import chunked, feature_of, to_extension, to_storage
from crucible_datasets.tables.files import open_table, read_ipc
from crucible_datasets.tables.table import ArrowTable, AsArrow

__all__ = [
    "CastError",
    "ConcatenationTable",
    "InMemoryTable",
    "MemoryMappedTable",
    "Table",
    "array_cast",
    "cast_array_to_feature",
    "cast_table_to_features",
    "cast_table_to_schema",
    "concat_tables",
    "embed_array_storage",
    "embed_table_storage",
    "list_table_cache_files",
    "read_schema_from_file",
    "table_cast",
    "table_flatten",
    "table_iter",
]

Table = AsArrow


@dataclass(frozen=True, eq=False)
class InMemoryTable(ArrowTable):
    """A table in memory."""

    @classmethod
    def from_file(cls, filename: str) -> Self:
        """The table in an Arrow file."""
        return cls(open_table(filename, in_memory=True))

    @classmethod
    def from_buffer(cls, buffer: pa.Buffer) -> Self:
        """The table in an Arrow stream."""
        return cls(read_ipc(buffer))

    @classmethod
    def from_pandas(cls, *args: Any, **kwargs: Any) -> Self:
        """The table of a data frame."""
        return cls(pa.Table.from_pandas(*args, **kwargs))

    @classmethod
    def from_arrays(cls, *args: Any, **kwargs: Any) -> Self:
        """The table of arrays."""
        return cls(pa.Table.from_arrays(*args, **kwargs))

    @classmethod
    def from_pydict(cls, *args: Any, **kwargs: Any) -> Self:
        """The table of columns."""
        return cls(pa.Table.from_pydict(*args, **kwargs))

    @classmethod
    def from_pylist(cls, mapping: Any, *args: Any, **kwargs: Any) -> Self:
        """The table of rows."""
        return cls(pa.Table.from_pylist(mapping, *args, **kwargs))

    @classmethod
    def from_batches(cls, *args: Any, **kwargs: Any) -> Self:
        """The table of record batches."""
        return cls(pa.Table.from_batches(*args, **kwargs))


@dataclass(frozen=True, eq=False)
class MemoryMappedTable(ArrowTable):
    """A table over a file."""

    @classmethod
    def from_file(cls, filename: str, replays: Any = None) -> Self:
        """The table in an Arrow file."""
        return cls(open_table(filename), (filename,))


@dataclass(frozen=True, eq=False)
class ConcatenationTable(ArrowTable):
    """Tables below or beside each other."""

    @classmethod
    def from_tables(cls, tables: Sequence[Any], axis: int = 0) -> Self:
        """The rows of tables below each other (axis 0), or their columns beside each other (axis 1)."""
        files = tuple(file for table in tables for file in getattr(table, "files", ()))
        plain = [getattr(table, "table", table) for table in tables]
        if axis == 0:
            return cls(pa.concat_tables(plain, promote_options="default"), files)
        columns = {name: table.column(name) for table in plain for name in table.column_names}
        return cls(pa.table(columns), files)


def concat_tables(tables: Sequence[Any], axis: int = 0) -> Any:
    """Several tables as one."""
    return tables[0] if len(tables) == 1 else ConcatenationTable.from_tables(tables, axis)


def cast_array_to_feature(
    array: Any, feature: Any, allow_primitive_to_str: bool = True, allow_decimal_to_str: bool = True
) -> Any:
    """An array with the Arrow type of a feature."""
    source, target = feature_of(array.type), feature
    if not allow_primitive_to_str or not allow_decimal_to_str:
        _require_no_new_text(source, target, not allow_primitive_to_str, not allow_decimal_to_str)
    cast = to_extension(cast_column(to_storage(chunked(array)), feature), feature)
    return cast if isinstance(array, pa.ChunkedArray) else cast.combine_chunks()


def array_cast(
    array: Any, pa_type: pa.DataType, allow_primitive_to_str: bool = True, allow_decimal_to_str: bool = True
) -> Any:
    """An array with another Arrow type."""
    return cast_array_to_feature(array, feature_of(pa_type), allow_primitive_to_str, allow_decimal_to_str)


def _require_no_new_text(source: Any, target: Any, primitives: bool, decimals: bool) -> None:
    """Refuse to make text of values that are not text yet, wherever they are in nested types."""
    if isinstance(source, dict) and isinstance(target, dict):
        for name in source.keys() & target.keys():
            _require_no_new_text(source[name], target[name], primitives, decimals)
    elif isinstance(source, (List, LargeList)) and isinstance(target, (List, LargeList)):
        _require_no_new_text(source.feature, target.feature, primitives, decimals)
    elif isinstance(source, Value) and isinstance(target, Value) and is_text(target()) and not is_text(source()):
        is_decimal = pa.types.is_decimal(source())
        if (decimals and is_decimal) or (primitives and pa.types.is_primitive(source()) and not is_decimal):
            raise CastError(None, source, target, "the arguments of the cast forbid to make text of other values.")


def cast_table_to_features(table: Any, features: Features) -> pa.Table:
    """A table with the types of features, in their order."""
    plain = getattr(table, "table", table)
    if sorted(plain.column_names) != sorted(features):
        raise CastError(None, f"columns {plain.column_names}", f"columns {list(features)}")
    columns = [cast_array_to_feature(plain.column(name), feature) for name, feature in features.items()]
    return pa.Table.from_arrays(columns, schema=features.arrow_schema)


def cast_table_to_schema(table: Any, schema: pa.Schema) -> pa.Table:
    """A table with the types of a schema; columns that it lacks are null."""
    plain, features = getattr(table, "table", table), Features.from_arrow_schema(schema)
    for name in features:
        if name not in plain.column_names:
            plain = plain.append_column(name, pa.nulls(len(plain), schema.field(name).type))
    return cast_table_to_features(plain.select(list(features)), features).replace_schema_metadata(schema.metadata)


def table_cast(table: Any, schema: pa.Schema) -> pa.Table:
    """A table with the types of a schema."""
    plain = getattr(table, "table", table)
    if plain.schema == schema:
        return plain.replace_schema_metadata(schema.metadata)
    if sorted(plain.column_names) != sorted(schema.names):
        raise CastError(None, f"columns {plain.column_names}", f"columns {schema.names}")
    return cast_table_to_schema(plain, schema)


def embed_table_storage(
    table: Any, token_per_repo_id: Any = None, local_files: bool = True, remote_files: bool = True
) -> pa.Table:
    """A table with the files that its media name read into it."""
    plain = getattr(table, "table", table)
    if not local_files:
        return plain
    return embedded(plain, Features.from_arrow_schema(plain.schema)).replace_schema_metadata(plain.schema.metadata)


def embed_array_storage(
    array: Any, feature: Any, token_per_repo_id: Any = None, local_files: bool = True, remote_files: bool = True
) -> Any:
    """An array with the files that its media name read into it."""
    if not local_files:
        return array
    return embedded(pa.table({"_": array}), Features({"_": feature})).column("_").combine_chunks()


def list_table_cache_files(table: Any) -> list[str]:
    """The files that hold a table."""
    return list(table.files)


def read_schema_from_file(filename: str) -> pa.Schema:
    """The schema of an Arrow file."""
    return open_table(filename).schema


def table_flatten(table: Any) -> pa.Table:
    """A table with the fields of structs as columns."""
    plain = getattr(table, "table", table)
    return plain.flatten()


def table_iter(table: Any, batch_size: int, drop_last_batch: bool = False) -> Iterator[pa.Table]:
    """A table in pieces of so many rows."""
    plain = getattr(table, "table", table)
    for start in range(0, len(plain), batch_size):
        piece = plain.slice(start, batch_size)
        if len(piece) == batch_size or not drop_last_batch:
            yield piece
