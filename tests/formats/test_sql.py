"""Databases: sqlite alone and through sqlalchemy give the same, and writing is all or nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pyarrow as pa
import pytest
from support.formats import joined

from crucible_datasets.exceptions import (
    ArgumentError,
    ColumnNamesError,
    DatabaseError,
    DatasetGenerationError,
    ValueTypeError,
)
from crucible_datasets.features import Features, Json
from crucible_datasets.formats.sql import read_sql
from crucible_datasets.formats.sql_write import write_sql

TABLE = pa.table({"i": [1, None, 3], "f": [1.5, 2.0, None], "s": ["a", None, "é"], "b": [b"x", None, b""]})
FEATURES = Features.from_arrow_schema(TABLE.schema)


@pytest.fixture(params=["address", "connection", "engine", "open engine"])
def con(request, tmp_path):
    path = tmp_path / "data.db"
    if request.param == "address":
        yield f"sqlite:///{path}"
    elif request.param == "connection":
        with closing(sqlite3.connect(path)) as connection:
            yield connection
    else:
        engine = pytest.importorskip("sqlalchemy").create_engine(f"sqlite:///{path}")
        if request.param == "engine":
            yield engine
        else:
            with engine.connect() as connection:
                yield connection
        engine.dispose()


def rows(sql: str, con, **options) -> list[dict]:
    return joined(read_sql(sql, con, **options))[0].to_pylist()


def test_what_is_written_is_read_back(con):
    assert write_sql([TABLE], FEATURES, "t", con) == 3
    assert rows("t", con) == TABLE.to_pylist()
    assert rows("SELECT s FROM t WHERE f > 1.6", con) == [{"s": None}]
    assert rows("t", con, columns=["f"], chunksize=1) == TABLE.select(["f"]).to_pylist()
    assert rows("t", con, index_col="i") == TABLE.to_pylist()


def test_if_exists(con):
    write_sql([TABLE], FEATURES, "t", con)
    with pytest.raises(ArgumentError, match="already exists"):
        write_sql([TABLE], FEATURES, "t", con)
    write_sql([TABLE], FEATURES, "t", con, if_exists="append")
    assert len(rows("t", con)) == 6
    write_sql([TABLE], FEATURES, "t", con, if_exists="replace", index=True)
    assert [row["index"] for row in rows("t", con)] == [0, 1, 2]


def test_writing_that_fails_leaves_the_old_table(con):
    write_sql([TABLE], FEATURES, "t", con)

    def broken():
        yield TABLE
        raise RuntimeError("the source fails")

    with pytest.raises(RuntimeError):
        write_sql(broken(), FEATURES, "t", con, if_exists="replace")
    assert rows("t", con) == TABLE.to_pylist()


def test_types_are_those_of_all_rows(con):
    write_sql([pa.table({"a": [1, 2]})], {"a": FEATURES["i"]}, "t", con)
    sql = "SELECT a FROM t UNION ALL SELECT 2.5 UNION ALL SELECT 'x'"
    table, features = joined(read_sql(sql, con, chunksize=2))
    assert features == {"a": Json()}
    assert table["a"].to_pylist() == ["1", "2", "2.5", '"x"']


def test_a_query_that_fails_says_why(con):
    with pytest.raises(DatasetGenerationError, match="nowhere"):
        rows("SELECT * FROM nowhere", con)


def test_two_columns_of_one_name_are_refused(con):
    with pytest.raises(ColumnNamesError):
        rows("SELECT 1 AS a, 2 AS a", con)


def test_what_is_no_connection_is_refused():
    with pytest.raises(ArgumentError, match="con"):
        rows("SELECT 1", 5)


def test_damage_that_is_met_while_rows_are_read_is_told(tmp_path):
    path = tmp_path / "data.db"
    write_sql([TABLE], FEATURES, "t", f"sqlite:///{path}")
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xff"))
    with pytest.raises(DatasetGenerationError, match="UTF-8"):
        list(read_sql("t", f"sqlite:///{path}"))


def test_what_a_database_cannot_take_is_an_error_that_names_it_and_leaves_it_as_it_was(tmp_path):
    table = pa.table({"a": ["x" * 1000] * 500})
    features = Features.from_arrow_schema(table.schema)
    with closing(sqlite3.connect(tmp_path / "full.db")) as con:
        con.execute("PRAGMA max_page_count = 20")
        with pytest.raises(DatabaseError, match="full.db: .*disk is full"):
            write_sql([table], features, "t", con)
        assert rows("SELECT name FROM sqlite_master", con) == []
        large = pa.table({"n": pa.array([1, 2**63], pa.uint64())})
        with pytest.raises(ValueTypeError, match="'n', row 1"):
            write_sql([large], Features.from_arrow_schema(large.schema), "t", con)
    for way in (lambda place: write_sql([table], features, "t", place), lambda place: rows("SELECT 1", place)):
        with pytest.raises(DatabaseError, match="/no/such/folder"):
            way("sqlite:////no/such/folder/x.db")
