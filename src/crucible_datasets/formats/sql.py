"""Rows of a database → Arrow tables: sqlite by the standard library, every other database through sqlalchemy."""

from __future__ import annotations

import datetime as dt
import decimal
import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import (
    ArgumentError,
    ColumnNamesError,
    ColumnNotFoundError,
    DatabaseError,
    DatasetGenerationError,
    DatasetsError,
)
from crucible_datasets.features import jsontext
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.encode import column_of
from crucible_datasets.features.infer import infer_column
from crucible_datasets.features.storage import to_extension
from crucible_datasets.features.types import Json
from crucible_datasets.formats.row_names import Counting
from crucible_datasets.registry import need

_EXACT = 2**53
_SQLITE = "sqlite:///"
_UNITS = {"D": 86_400_000_000, "s": 1_000_000, "ms": 1000, "us": 1, "ns": 0.001}  # in microseconds
_TABLE_NAME = re.compile(r"[\w.$]+")
Row = Sequence[Any]


def read_sql(
    sql: Any,
    con: Any,
    *,
    features: Any = None,
    index_col: str | list[str] | None = None,
    coerce_float: bool = True,
    params: Any = None,
    parse_dates: Any = None,
    columns: list[str] | None = None,
    chunksize: int | None = 10_000,
) -> Iterator[pa.Table]:
    """Yield the rows of a query or of a named table, `chunksize` at a time."""
    row_names = [index_col] if isinstance(index_col, str) else list(index_col or ())
    with connected(con) as connection:
        names, batches = _query(connection, sql, params, columns, chunksize or 10_000)
        if len(set(names)) != len(names):
            raise ColumnNamesError(names, names, "the query gives two columns the same name")
        for name in row_names:
            if name not in names:
                raise ColumnNotFoundError(name, names)
        shown = [name for name in names if name not in row_names]
        index = _RowNames(row_names)
        empty = True
        for rows in batches:
            empty = False
            values = dict(zip(names, zip(*rows, strict=True), strict=True))
            kept = {name: values[name] for name in [*shown, *index.kept(values)]}
            if features is not None and isinstance(connection, sqlite3.Connection):
                kept = {name: _parsed(row, name) if features.get(name) == Json() else row for name, row in kept.items()}
            yield _table(kept, features, coerce_float, parse_dates)
        if empty:
            yield pa.table({name: pa.nulls(0) for name in [*shown, *row_names]})


class _RowNames:
    """Index columns, which come after the others; one that only numbers the rows is dropped."""

    def __init__(self, names: list[str]) -> None:
        self.names, self.count = names, Counting() if len(names) == 1 else None
        self.left_out: bool | None = None

    def kept(self, values: Mapping[str, Row]) -> list[str]:
        """The index columns to keep for these rows."""
        if self.count is None or self.left_out is False:
            return self.names
        self.count.see(values[self.names[0]])
        even = self.count.is_even()
        if self.left_out and not even:
            raise ArgumentError("index_col", self.names[0], "it counts rows evenly, but not all: pass index_col=None.")
        self.left_out = even
        return [] if even else self.names


@contextmanager
def connected(con: Any) -> Iterator[Any]:
    """A connection for `con`, which is a connection, an engine or a URL."""
    with database_errors(con):
        if isinstance(con, sqlite3.Connection):
            yield con
        elif isinstance(con, str) and con.startswith(_SQLITE) and "?" not in con:
            with closing(sqlite3.connect(con.removeprefix(_SQLITE) or ":memory:")) as connection:
                yield connection
        elif isinstance(con, str) or hasattr(con, "connect"):
            engine = need("sqlalchemy", extra="sql").create_engine(con) if isinstance(con, str) else con
            with engine.connect() as connection:
                yield connection
            if isinstance(con, str):
                engine.dispose()
        elif hasattr(con, "execute"):
            yield con
        else:
            raise ArgumentError("con", con, "expected a connection, an engine or an address such as sqlite:///file.db.")


@contextmanager
def database_errors(con: Any) -> Iterator[None]:
    """Turn errors of the database driver into a `DatabaseError` that names the database."""
    try:
        yield
    except DatasetsError:
        raise
    except Exception as error:
        of_alchemy = getattr(sys.modules.get("sqlalchemy.exc"), "SQLAlchemyError", sqlite3.Error)
        if not isinstance(error, (sqlite3.Error, of_alchemy, OverflowError)):
            raise
        raise DatabaseError(_database_name(con), f"{type(error).__name__}: {error}") from error


def _database_name(con: Any) -> str:
    if isinstance(con, sqlite3.Connection):
        with suppress(sqlite3.Error):
            return str(con.execute("PRAGMA database_list").fetchone()[2] or ":memory:")
    return str(con if isinstance(con, str) else getattr(getattr(con, "engine", con), "url", type(con).__name__))


def _query(
    connection: Any, sql: Any, params: Any, columns: list[str] | None, size: int
) -> tuple[list[str], Iterator[list[Row]]]:
    if not (isinstance(sql, str) and _TABLE_NAME.fullmatch(sql)):
        return _executed(connection, sql, params, size)
    listed = ", ".join(map(_quoted, columns)) if columns else "*"
    if columns:
        # sqlite reads a quoted name that is not a column as a string.
        known, _ = _executed(connection, f"SELECT * FROM {_quoted(sql)} WHERE 1 = 0", None, size)  # noqa: S608
        for column in columns:
            if column not in known:
                raise ColumnNotFoundError(column, known)
    return _executed(connection, f"SELECT {listed} FROM {_quoted(sql)}", None, size)  # noqa: S608  names are quoted


def _executed(connection: Any, statement: Any, params: Any, size: int) -> tuple[list[str], Iterator[list[Row]]]:
    try:
        if isinstance(connection, sqlite3.Connection):
            found = connection.execute(statement, params if params is not None else ())
            names = [column[0] for column in found.description or ()]
        elif isinstance(statement, str) and (params is None or isinstance(params, Mapping)):
            found = connection.execute(need("sqlalchemy", extra="sql").text(statement), params or {})
            names = list(found.keys())
        elif isinstance(statement, str):
            found = connection.exec_driver_sql(statement, tuple(params))
            names = list(found.keys())
        else:
            found = connection.execute(statement)
            names = list(found.keys())
    except Exception as error:
        raise DatasetGenerationError("The query", None, f"{type(error).__name__}: {error}") from error
    return names, iter(lambda: _fetched(found, size), [])


def _fetched(found: Any, size: int) -> list[Row]:
    """The next rows; damage of a database may show only here."""
    try:
        return list(found.fetchmany(size))
    except Exception as error:
        raise DatasetGenerationError("The query", None, f"{type(error).__name__}: {error}") from error


def _quoted(name: str) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))


def _parsed(values: Row, name: str) -> tuple[Any, ...]:
    """The values of a Json column of sqlite, which holds JSON as text."""
    texts = [value if value is None or isinstance(value, str) else jsontext.dumps(value) for value in values]
    column = cast_column(pa.chunked_array([pa.array(texts, pa.string())]), Json(), name)
    return tuple(None if text is None else jsontext.loads(text) for text in column.to_pylist())


def _table(columns: Mapping[str, Row], features: Any, coerce_float: bool, parse_dates: Any) -> pa.Table:
    dates = _date_columns(parse_dates)
    made = {}
    for name, row in columns.items():
        values = [_moment(value, dates[name]) for value in row] if name in dates else list(row)
        if features is not None and name in features:
            made[name] = to_extension(column_of(values, features[name], name), features[name])
        else:
            made[name] = _column(values, name, coerce_float)
    return pa.table(made)


def _column(values: list[Any], name: str, coerce_float: bool) -> pa.ChunkedArray:
    """The column with the types of pandas: `large_string`, and floats for integers with nulls if that is exact."""
    if coerce_float and any(isinstance(value, decimal.Decimal) for value in values):
        values = [float(value) if isinstance(value, decimal.Decimal) else value for value in values]
    column, feature = infer_column(values, name, "use_json")
    kind = column.type
    if pa.types.is_string(kind) and getattr(feature, "dtype", "") == "string":
        return column.cast(pa.large_string())
    if pa.types.is_integer(kind) and column.null_count:
        exact = all(value is None or abs(value) <= _EXACT for value in values)
        return column.cast(pa.float64()) if exact else column
    return to_extension(column, feature)


def _date_columns(parse_dates: Any) -> dict[str, dict[str, str]]:
    """For every date column, the `unit` of its numbers or the `format` of its texts, if given."""
    if isinstance(parse_dates, Mapping):
        return {name: _way(name, how) for name, how in parse_dates.items()}
    if parse_dates is None or isinstance(parse_dates, (str, list, tuple)):
        return {name: {} for name in ([parse_dates] if isinstance(parse_dates, str) else parse_dates or ())}
    raise ArgumentError("parse_dates", parse_dates, "expected columns, or a dict of columns and formats.")


def _way(name: str, how: Any) -> dict[str, str]:
    if isinstance(how, str):
        return {"unit": how} if how in _UNITS else {"format": how}
    known = {"unit", "format", "errors"}
    if not isinstance(how, Mapping) or set(how) - known or how.get("unit", "s") not in _UNITS:
        raise ArgumentError("parse_dates", {name: how}, "expected a format, a unit, or a dict with one of them.")
    return dict(how)


def _moment(value: Any, way: Mapping[str, str]) -> Any:
    if isinstance(value, (int, float)):
        return dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=value * _UNITS[way.get("unit", "s")])
    try:
        if isinstance(value, str):
            return dt.datetime.strptime(value, way["format"]) if "format" in way else dt.datetime.fromisoformat(value)
    except ValueError:
        return None
    return value
