"""DuckDB over views: their rows stream in as Arrow when a query asks for them, and the results stream out.

A session can access no file, network address, extension or Python variable: a query sees the given tables and nothing
else. Sessions share one empty in-memory database, since creating one takes 20 ms. Only SELECT is run in it, and the
tables of a session are visible to its own connection only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import ColumnNamesError, ColumnNotFoundError, DatasetsError, ExpressionError
from crucible_datasets.ops.expressions.base import Read, first_line, plain_table, types_of
from crucible_datasets.registry import need

_SETTINGS = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "true",
}
_ROWS_PER_BATCH = 1 << 16
_kept: dict[str, Any] = {}


def _connection() -> Any:
    duckdb = need("duckdb", extra="sql")
    database = _kept.get("database") or _kept.setdefault("database", duckdb.connect(":memory:", config=_SETTINGS))
    return database.cursor()


def _let_go() -> None:
    while _kept:
        _kept.popitem()[1].close()


if hasattr(os, "register_at_fork"):
    # A forked process has the database without its threads, and would wait for them at exit.
    os.register_at_fork(before=_let_go)


def version() -> str:
    """The version of DuckDB, which is part of the identity of what it computes."""
    return need("duckdb", extra="sql").__version__


class Stream:
    """A view as a table of DuckDB: each scan reads it again, and only the columns that the query needs.

    The other columns exist, since queries may refer to their names (`* exclude (a)`), but are null.
    """

    def __init__(self, schema: pa.Schema, read: Read) -> None:
        _require_different(schema.names)
        self.schema, self._read = pa.schema([(field.name, _widened(field.type)) for field in schema]), read
        self.needed: Sequence[str] = schema.names
        self.error: BaseException | None = None

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return pa.RecordBatchReader.from_batches(self.schema, self._batches()).__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        try:
            for table in self._read(self.needed):
                columns = [
                    table[field.name].cast(field.type)
                    if field.name in self.needed
                    else pa.nulls(len(table), field.type)
                    for field in self.schema
                ]
                yield from pa.table(columns, schema=self.schema).to_batches()
        except GeneratorExit:  # DuckDB has stopped for a reason of its own
            raise
        except BaseException as error:
            # DuckDB passes on the message of an error, not the error.
            self.error = error
            raise


def _widened(arrow: pa.DataType) -> pa.DataType:
    """A type that DuckDB can read and that holds the same values: it knows no floats of 16 bits."""
    if pa.types.is_struct(arrow):
        return pa.struct([pa.field(field.name, _widened(field.type)) for field in arrow])
    if pa.types.is_fixed_size_list(arrow):
        return pa.list_(_widened(arrow.value_type), arrow.list_size)
    if pa.types.is_large_list(arrow):
        return pa.large_list(_widened(arrow.value_type))
    if pa.types.is_list(arrow):
        return pa.list_(_widened(arrow.value_type))
    return pa.float32() if pa.types.is_float16(arrow) else arrow


def _require_different(names: Sequence[str]) -> None:
    seen: dict[bytes, str] = {}
    for name in names:
        # DuckDB ignores the case of ASCII letters.
        before = seen.setdefault(name.encode().lower(), name)
        if before != name:
            raise ColumnNamesError([before, name], names, "SQL cannot tell them apart, rename one")


class Session:
    """A connection, the tables registered with it, and the query's text for error messages."""

    def __init__(self, connection: Any, tables: Mapping[str, Stream], text: str) -> None:
        self._connection, self._tables, self._text = connection, tables, text
        with self.errors():
            # Its progress bar would mix with the program's output.
            connection.execute("set enable_progress_bar = false").fetchall()
            for name, table in tables.items():
                connection.register(name, table)

    def parsed(self, query: str) -> Any:
        """The syntax tree of the query, which must be a single SELECT statement."""
        with self.errors():
            ((text,),) = self._connection.execute("select json_serialize_sql(?)", [query]).fetchall()
        tree = json.loads(text)
        if tree["error"]:
            self.refuse("only SELECT is run" if tree["error_type"] == "not implemented" else tree["error_message"])
        if len(tree["statements"]) != 1:
            self.refuse("expected one statement")
        return tree["statements"][0]["node"]

    def planned(self, query: str) -> list[str]:
        """The operators of the query's plan; from now on, only the columns that it needs are read."""
        with self.errors():
            ((_, text),) = self._connection.sql(f"explain (format json) {query}").fetchall()
        nodes = list(_nodes(json.loads(text)))
        for table in self._tables.values():
            table.needed = _needed(nodes, table.schema.names)
        return [node["name"] for node in nodes]

    def results(self, query: str) -> Iterator[pa.Table]:
        """The rows of the result: at least one table, possibly empty."""
        with self.errors():
            relation = self._connection.sql(query)
            huge = [place for place, kind in enumerate(relation.types) if str(kind) in ("HUGEINT", "UHUGEINT")]
            reader = relation.to_arrow_reader(_ROWS_PER_BATCH)
            yield self._shown(reader.schema.empty_table(), huge)
            for batch in reader:
                yield self._shown(pa.Table.from_batches([batch]), huge)

    def _shown(self, table: pa.Table, huge: Iterable[int]) -> pa.Table:
        if len(set(table.column_names)) < table.num_columns:
            raise ColumnNamesError(table.column_names, table.column_names, "each result needs a name of its own")
        for place in huge:
            # Sums of integers have 128 bits, which Arrow can represent only as decimals.
            numbers = table.column(place).cast(pa.int64())
            table = table.set_column(place, table.column_names[place], numbers)
        return plain_table(table)

    def refuse(self, reason: object) -> None:
        """Raise an error about the query."""
        raise ExpressionError(self._text, self._types(), reason)

    def _types(self) -> dict[str, object]:
        return {name: kind for table in self._tables.values() for name, kind in types_of(table.schema).items()}

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Errors of DuckDB as errors of this library."""
        duckdb = need("duckdb", extra="sql")
        try:
            yield
        except DatasetsError:
            raise
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            for table in self._tables.values():
                if table.error is not None:
                    raise table.error from None
            unknown = re.search(r'Referenced column "(.*?)" not found', str(error), re.DOTALL)
            if unknown:
                raise ColumnNotFoundError(unknown[1], self._types()) from error
            raise ExpressionError(self._text, self._types(), first_line(error)) from error


@contextmanager
def session(tables: Mapping[str, Stream], text: str) -> Iterator[Session]:
    """A connection that sees these tables."""
    connection = _connection()
    try:
        yield Session(connection, tables, text)
    finally:
        connection.close()


def _nodes(plan: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for node in plan:
        yield node
        yield from _nodes(node["children"])


def _needed(nodes: Iterable[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """The columns that the scans of a plan read, whole or in part; all if the plan does not say."""
    found: set[str] = set()
    for node in nodes:
        if node["name"].endswith("ARROW_SCAN"):
            shown = node["extra_info"].get("Projections", list(names))
            for projected in [shown] if isinstance(shown, str) else shown:
                found.update(_meant(projected, names) or names)
    return [name for name in names if name in found]


def _meant(projected: str, names: Sequence[str]) -> list[str]:
    """The columns that a name may refer to: plans write the field `b` of `a` like a column `a.b`."""
    return [name for name in names if projected == name or projected.startswith(f"{name}.")]
