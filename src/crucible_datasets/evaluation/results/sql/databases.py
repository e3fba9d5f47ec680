"""SQLite and PostgreSQL behind one interface. Statements use `?` for values."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from crucible_datasets.exceptions import ArgumentError, DatabaseError, FileFormatError, StorageError, without_secrets
from crucible_datasets.registry import need

# The errno for error codes of SQLite that have one.
_STORAGE = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_IOERR: errno.EIO}
_NO_DATABASE = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


class Database(Protocol):
    """The interface of a database."""

    place: str
    text: str  # the type of texts that are compared by code points, as in Python

    def read(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        ...

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """A transaction, committed at the end, or rolled back after an error."""
        ...

    def pattern(self, column: str) -> str:
        """The condition that a column fits a regular expression."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Writer(Protocol):
    """Statements of one transaction."""

    def do(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Run one statement."""
        ...

    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for every row."""
        ...


def database(url: str) -> Database:
    """The database of a URL or of a path: `postgresql://…`, `sqlite:///file.db`, `file.db`."""
    if re.match(r"postgres(ql)?://", url):
        return Postgres(url)
    if "://" in url and not url.startswith("sqlite:"):
        expected = "expected postgresql://…, sqlite:///file.db or the path of a file."
        raise ArgumentError("url", without_secrets(url), expected)
    return Sqlite(re.sub(r"^sqlite:///?", "", url))


class Sqlite:
    """A file of SQLite."""

    text = "TEXT"

    def __init__(self, path: str) -> None:
        self.place = path
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        # Every transaction begins as a writer, so that two processes wait for each other instead of failing.
        with _sqlite_errors(path):
            self._connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
        self._connection.create_function("fits", 2, _fits, deterministic=True)

    def read(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with _sqlite_errors(self.place):
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """One transaction."""
        with _sqlite_errors(self.place):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield _Statements(self._connection, lambda statement: statement)
                self._connection.execute("COMMIT")
            except BaseException:
                # If the disk is full, SQLite has rolled back already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def pattern(self, column: str) -> str:
        """The condition that a column fits a regular expression."""
        return f"fits({column}, ?)"

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class Postgres:
    """A server of PostgreSQL."""

    text = 'TEXT COLLATE "C"'

    def __init__(self, url: str) -> None:
        self.place = without_secrets(url)
        psycopg = need("psycopg", extra="postgres")
        self._error: type[Exception] = psycopg.Error
        with self._errors():
            self._connection = psycopg.connect(url, autocommit=True)

    def read(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self._errors():
            return list(self._connection.execute(_numbered(statement), values).fetchall())

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """One transaction at a time: two that create the same tables would fail."""
        with self._errors(), self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            yield _Statements(cursor, _numbered)

    def pattern(self, column: str) -> str:
        """The condition that a column fits a regular expression."""
        return f"{column} ~ ('^(' || ? || ')$')"

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            raise DatabaseError(self.place, str(error)) from error


_LOCK = 0x6372756369626C65


class _Statements:
    def __init__(self, cursor: Any, written: Any) -> None:
        self._cursor, self._written = cursor, written

    def do(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Run one statement."""
        self._cursor.execute(self._written(statement), values)

    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for every row."""
        self._cursor.executemany(self._written(statement), rows)


@contextmanager
def _sqlite_errors(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the extended part
        if code in _STORAGE:
            raise StorageError(path, _STORAGE[code]) from error
        if code in _NO_DATABASE:
            raise FileFormatError(path, f"{error}") from error
        raise DatabaseError(path, str(error)) from error


def _numbered(statement: str) -> str:
    """A statement with psycopg's placeholders; quoted text is unchanged."""
    parts = re.split(r"('(?:[^']|'')*'|\"[^\"]*\")", statement.replace("%", "%%"))
    return "".join(part if place % 2 else part.replace("?", "%s") for place, part in enumerate(parts))


def _fits(value: str | None, expression: str) -> bool:
    return value is not None and re.fullmatch(expression, value, re.DOTALL) is not None
