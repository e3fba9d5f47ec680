"""DuckDB over views: their rows stream in as Arrow when a query asks for them, and the results stream out.

Each session has a database of its own, within the memory budget, whose configuration is locked: it can access no file,
network address, extension or Python variable. A query is checked by `allowed` before it is planned.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any, NoReturn

import pyarrow as pa

from crucible_datasets import config
from crucible_datasets.atomic.files import scratch_folder
from crucible_datasets.exceptions import ColumnNamesError, ColumnNotFoundError, DatasetsError, ExpressionError
from crucible_datasets.ops.expressions.allowed import DEEPEST, objection, objection_to_text
from crucible_datasets.ops.expressions.base import Read, first_line, plain_table, types_of
from crucible_datasets.registry import need
from crucible_datasets.tables.spill import spill_folder

_SETTINGS = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "true",
}
_LOCKED = (
    "set enable_progress_bar = false",  # it would mix with the program's output
    f"set max_expression_depth = {DEEPEST}",
    "set lock_configuration = true",
)
_LEAST_MEMORY = 64 << 20  # less fails for every query
_ROWS_PER_BATCH = 1 << 16
_parsers: dict[str, Any] = {}


def _parser() -> Any:
    """A database that only parses: texts are its data, it runs none of them."""
    duckdb = need("duckdb", extra="sql")
    found = _parsers.get("parser") or _parsers.setdefault("parser", duckdb.connect(":memory:", config=_SETTINGS))
    return found.cursor()


def _let_go() -> None:
    while _parsers:
        _parsers.popitem()[1].close()


if hasattr(os, "register_at_fork"):
    # A forked process has the database without its threads, and would wait for them at exit.
    os.register_at_fork(before=_let_go)


def _database(spill: str) -> Any:
    duckdb = need("duckdb", extra="sql")
    memory = max(config.DECODED_MEMORY_BUDGET, _LEAST_MEMORY)
    settings = {**_SETTINGS, "memory_limit": f"{memory}B", "temp_directory": spill}
    made = duckdb.connect(":memory:", config=settings)
    for each in _LOCKED:
        made.execute(each)
    return made


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
    """The tables of a query, the database that they are registered with, and the query's text for error messages."""

    def __init__(self, tables: Mapping[str, Stream], text: str) -> None:
        self._tables, self._text = tables, text
        self._open = ExitStack()
        self._registered: Any = None

    @property
    def _connection(self) -> Any:
        """The database, made when a query is planned: parsing needs none."""
        if self._registered is None:
            spill = self._open.enter_context(scratch_folder("crucible-sql", spill_folder()))
            self._registered = self._open.enter_context(closing(_database(spill)))
            for name, table in self._tables.items():
                self._registered.register(name, table)
        return self._registered

    def close(self) -> None:
        self._open.close()

    def parsed(self, query: str) -> Any:
        """The syntax tree of the query, which must be a single SELECT statement over the tables."""
        with self.errors():
            self._refuse_if(objection_to_text(query))
        with self.errors(), closing(_parser()) as parser:
            ((text,),) = parser.execute("select json_serialize_sql(?)", [query]).fetchall()
        try:
            tree = json.loads(text)
        except RecursionError:
            self.refuse("it is nested too deeply")
        if tree["error"]:
            self.refuse("only SELECT is run" if tree["error_type"] == "not implemented" else tree["error_message"])
        if len(tree["statements"]) != 1:
            self.refuse("expected one statement")
        self._refuse_if(objection(tree["statements"][0], self._tables))
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

    def refuse(self, reason: object) -> NoReturn:
        """Raise an error about the query."""
        raise ExpressionError(self._text, self._types(), reason)

    def _refuse_if(self, problem: str | None) -> None:
        if problem:
            self.refuse(problem)

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
    """A session whose queries see these tables."""
    with closing(Session(tables, text)) as made:
        yield made


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
