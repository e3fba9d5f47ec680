"""Arrow tables → tables of a database: sqlite by the standard library, every other database through sqlalchemy."""

from __future__ import annotations

import datetime as dt
import decimal
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, ValueTypeError
from crucible_datasets.features import Features
from crucible_datasets.features.storage import chunked
from crucible_datasets.formats.sql import Row, connected
from crucible_datasets.registry import need

_LARGEST = 2**63 - 1


def write_sql(
    tables: Iterable[pa.Table],
    features: Any,
    name: str,
    con: Any,
    *,
    if_exists: str = "fail",
    index: bool = False,
    index_label: str | None = None,
    schema: str | None = None,
) -> int:
    """Write the tables into a table of the database in one transaction; the number of rows."""
    if if_exists not in ("fail", "replace", "append"):
        raise ArgumentError("if_exists", if_exists, "expected 'fail', 'replace' or 'append'.")
    if not isinstance(name, str):
        raise ArgumentTypeError("name", name, "expected the name of a table.")
    label = [index_label or "index"] if index else []
    with connected(con) as connection:
        target = _target(con, connection, name, schema, [*label, *features])
        if target.exists() and if_exists == "fail":
            raise ArgumentError("name", name, "the table already exists; pass if_exists='replace' or 'append'.")
        return _written(target, tables, features, index, replace=if_exists == "replace")


def _target(con: Any, connection: Any, name: str, schema: str | None, columns: list[str]) -> Any:
    if con is connection and isinstance(con, sqlite3.Connection):
        return _SqliteTable(connection, name, schema, columns)
    sink = _AddressedTable if isinstance(connection, sqlite3.Connection) else _AlchemyTable
    return sink(connection, name, schema, columns)


def _written(target: Any, tables: Iterable[pa.Table], features: Any, index: bool, replace: bool) -> int:
    kinds = [pa.int64()] * index + [field.type for field in Features(features).arrow_schema]
    with target.transaction():
        if replace and target.exists():
            target.drop()
        if not target.exists():
            target.create(kinds, indexed=index)
        count = 0
        for table in tables:
            values = [_values(chunked(table[name]), name, count) for name in features]
            numbers = [range(count, count + table.num_rows)] if index else []
            target.insert(list(zip(*numbers, *values, strict=True)))
            count += table.num_rows
    return count


def _values(column: pa.ChunkedArray, name: str, row: int) -> list[Any]:
    """Python values that databases accept; durations become numbers of their unit, as in pandas."""
    kind = column.type
    values = list((column.cast(pa.int64()) if pa.types.is_duration(kind) else column).to_pylist())
    if pa.types.is_uint64(kind):
        large = next((at for at, value in enumerate(values) if value is not None and value > _LARGEST), None)
        if large is not None:
            raise ValueTypeError(name, row + large, str(values[large]), "BIGINT", f"{_LARGEST} is the largest.")
    return values


class _SqliteTable:
    """A table of a `sqlite3` connection, with the declarations and timestamps that pandas writes to one."""

    def __init__(self, connection: sqlite3.Connection, name: str, schema: str | None, columns: list[str]) -> None:
        self.connection, self.plain, self.columns = connection, name, columns
        self.within = f"{_one(schema)}." if schema else ""
        self.name = self.within + _one(name)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        # sqlite3 begins a transaction implicitly for INSERT, but not for CREATE TABLE.
        if not self.connection.in_transaction:
            self.connection.execute("BEGIN")
        with self.connection:
            yield

    def exists(self) -> bool:
        found = self.connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (self.plain,))
        return found.fetchone() is not None

    def drop(self) -> None:
        self.connection.execute(f"DROP TABLE {self.name}")

    def create(self, kinds: list[pa.DataType], indexed: bool) -> None:
        named = zip(self.columns, kinds, strict=True)
        fields = ", ".join(f"{_one(name)} {self.declared(kind)}" for name, kind in named)
        self.connection.execute(f"CREATE TABLE {self.name} ({fields})")
        if indexed:
            index, label = _one(f"ix_{self.plain}_{self.columns[0]}"), _one(self.columns[0])
            self.connection.execute(f"CREATE INDEX {self.within}{index} ON {_one(self.plain)} ({label})")

    def declared(self, kind: pa.DataType) -> str:
        """The type of a column in the declaration of the table."""
        return _kind(kind).in_sqlite

    def moment(self, value: dt.datetime) -> str:
        """A timestamp as text."""
        return value.isoformat(" ")

    def insert(self, rows: list[Row]) -> None:
        marks = ", ".join("?" * len(self.columns))
        plain = [
            [self.moment(value) if isinstance(value, dt.datetime) else _sqlite_value(value) for value in row]
            for row in rows
        ]
        names = ", ".join(map(_one, self.columns))
        self.connection.executemany(f"INSERT INTO {self.name} ({names}) VALUES ({marks})", plain)  # noqa: S608


class _AddressedTable(_SqliteTable):
    """A table of a sqlite database given by URL, with the declarations that sqlalchemy would write."""

    def declared(self, kind: pa.DataType) -> str:
        return _kind(kind).in_sql

    def moment(self, value: dt.datetime) -> str:
        return value.strftime("%Y-%m-%d %H:%M:%S.%f")


def _one(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sqlite_value(value: Any) -> Any:
    if isinstance(value, dt.time):
        return value.isoformat("microseconds")
    if isinstance(value, (list, dict, dt.date, decimal.Decimal)):
        return str(value)
    return value


class _Kind(NamedTuple):
    """How columns of some Arrow types are declared: for sqlite3, in SQL, and as a class of sqlalchemy."""

    fits: Callable[[pa.DataType], bool]
    in_sqlite: str
    in_sql: str
    in_alchemy: str


def _kind(kind: pa.DataType) -> _Kind:
    return next(each for each in _KINDS if each.fits(kind))


_KINDS = (
    _Kind(pa.types.is_boolean, "INTEGER", "BOOLEAN", "Boolean"),
    _Kind(lambda kind: kind in (pa.int8(), pa.int16(), pa.uint8()), "INTEGER", "SMALLINT", "SmallInteger"),
    _Kind(lambda kind: kind in (pa.int32(), pa.uint16()), "INTEGER", "INTEGER", "Integer"),
    _Kind(lambda kind: pa.types.is_integer(kind) or pa.types.is_duration(kind), "INTEGER", "BIGINT", "BigInteger"),
    _Kind(pa.types.is_floating, "REAL", "FLOAT", "Float"),
    _Kind(lambda kind: pa.types.is_timestamp(kind) and bool(kind.tz), "TIMESTAMP", "TIMESTAMP", "TIMESTAMP"),
    _Kind(pa.types.is_timestamp, "TIMESTAMP", "DATETIME", "DateTime"),
    _Kind(pa.types.is_date, "DATE", "DATE", "Date"),
    _Kind(pa.types.is_time, "TIME", "TIME", "Time"),
    _Kind(lambda kind: pa.types.is_binary(kind) or pa.types.is_large_binary(kind), "BLOB", "BLOB", "LargeBinary"),
    _Kind(lambda _: True, "TEXT", "TEXT", "Text"),
)


class _AlchemyTable:
    """A table of a sqlalchemy connection."""

    def __init__(self, connection: Any, name: str, schema: str | None, columns: list[str]) -> None:
        self.alchemy = need("sqlalchemy", extra="sql")
        self.connection, self.name, self.schema, self.columns = connection, name, schema, columns
        self.table: Any = None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        if self.connection.dialect.name == "sqlite" and not self.connection.connection.in_transaction:
            self.connection.exec_driver_sql("BEGIN")
        try:
            yield
        except BaseException:
            self.connection.rollback()
            raise
        self.connection.commit()

    def exists(self) -> bool:
        return bool(self.alchemy.inspect(self.connection).has_table(self.name, schema=self.schema))

    def _known(self) -> Any:
        if self.table is None:
            data = self.alchemy.MetaData(schema=self.schema)
            self.table = self.alchemy.Table(self.name, data, autoload_with=self.connection)
        return self.table

    def drop(self) -> None:
        self._known().drop(self.connection)
        self.table = None

    def create(self, kinds: list[pa.DataType], indexed: bool) -> None:
        typed = [
            self.alchemy.Column(name, self._declared(kind), index=indexed and number == 0)
            for number, (name, kind) in enumerate(zip(self.columns, kinds, strict=True))
        ]
        self.table = self.alchemy.Table(self.name, self.alchemy.MetaData(schema=self.schema), *typed)
        self.table.create(self.connection)

    def _declared(self, kind: pa.DataType) -> Any:
        name = _kind(kind).in_alchemy
        made = getattr(self.alchemy, name)
        return made(timezone=True) if name == "TIMESTAMP" else made()

    def insert(self, rows: list[Row]) -> None:
        named = [dict(zip(self.columns, map(_alchemy_value, row), strict=True)) for row in rows]
        if named:
            self.connection.execute(self._known().insert(), named)


def _alchemy_value(value: Any) -> Any:
    return str(value) if isinstance(value, (list, dict, decimal.Decimal)) else value
