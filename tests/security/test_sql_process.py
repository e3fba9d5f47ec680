"""Nothing that a query contains ends the process, reads anything but its tables, or reaches another session."""

import itertools
import json
import os
import resource
import subprocess
import sys
import threading

import pytest

from crucible_datasets import Dataset
from crucible_datasets.exceptions import ExpressionError
from crucible_datasets.ops.expressions.allowed import TABLE_FUNCTIONS

duckdb = pytest.importorskip("duckdb")

ROWS = Dataset.from_dict({"n": [1, 2], "text": ["a", None]})
LOGGING = "select * from enable_logging(level='trace', storage='file', storage_config={'path': '%s'})"


def functions(*kinds):
    """Name → the numbers of parameters that it takes."""
    with duckdb.connect() as connection:
        rows = connection.execute(
            "select function_name, len(parameters) from duckdb_functions() where list_contains(?, function_type)",
            [list(kinds)],
        ).fetchall()
    known = {}
    for name, count in rows:
        known.setdefault(name, set()).add(count)
    return dict(sorted(known.items()))


def refused(query):
    with pytest.raises(ExpressionError) as caught:
        ROWS.sql(query)
    return str(caught.value)


WRAPPED = [
    "select * from {}",
    "from {}",
    "select * from main.{}",
    "select * from system.main.{}",
    "select * from self, {}",
    "select * from self join {} on true",
    "select * from self, lateral (select * from {})",
    "select (select count(*) from {}) as x from self",
    "select * from self where exists (from {})",
    "with t as (select * from {}) select * from t",
    "with t as materialized (with u as (from {}) from u) select * from self",
    "with recursive t as (select 1 as x union all select x from t, {}) select * from t",
    "select 1 as x union all select 2 from {}",
    "select * from (summarize select * from {})",
    "select * from (unpivot (from {}) on columns(*))",
    "select n from self order by (select count(*) from {})",
    "select list_transform([1], lambda x: (select count(*) from {})) as x",
    "select n from self group by n having (select true from {})",
    "select n from self qualify row_number() over (order by (select 1 from {})) = 1",
    "select n from self limit (select 1 from {})",
    "values ((select 1 from {}))",
]


def test_a_table_function_that_is_not_on_the_list_is_refused_wherever_it_stands():
    names = [name for name in functions("table", "table_macro") if name not in TABLE_FUNCTIONS]
    assert len(names) > 80
    for name in names:
        for arguments, wrapped in itertools.product(("()", "('self')"), ("select * from {}", "select * from main.{}")):
            assert "not available" in refused(wrapped.format(f'"{name}"{arguments}')), name
        assert "not available" in refused(f"select * from {name.upper()}('self')")
    for name, wrapped in itertools.product(("enable_logging", "query", "read_text", "duckdb_settings"), WRAPPED):
        told = refused(wrapped.format(f"{name}('select 1')"))
        assert "not available" in told or "only SELECT" in told, (wrapped, told)


def test_only_the_tables_of_the_query_are_tables(tmp_path):
    (tmp_path / "x.csv").write_text("a\n1\n")
    views = ["duckdb_settings", "duckdb_tables", "sqlite_master", "pragma_database_list", "information_schema.tables"]
    sources = [f"'{tmp_path}/x.csv'", f'"{tmp_path}/x.csv"', "main.self", "temp.self", "system.main.duckdb_views"]
    for source in [*views, *sources, "pg_catalog.pg_class", "rows", "ROWS"]:
        assert "there is no table" in refused(f"select * from {source}"), source
        assert "there is no table" in refused(f"with t as (from {source}) select * from t"), source
    # The name of a common table counts only in its own query.
    assert "there is no table" in refused("select * from (with t as (select 1) from t), t")


STATEMENTS = [
    "pragma enable_profiling",
    "pragma profiling_output='{}/x'",
    "set memory_limit = '1TB'",
    "set global lock_configuration = false",
    "reset memory_limit",
    "set variable x = 1",
    "call enable_logging()",
    "call range(3)",
    "attach '{}/x.db'",
    "use system",
    "copy (select 1) to '{}/x.csv'",
    "copy self from '{}/x.csv'",
    "export database '{}/x'",
    "import database '{}/x'",
    "install json",
    "load json",
    "checkpoint",
    "vacuum",
    "create macro f() as table select * from glob('*')",
    "create view v as select 1",
    "create secret (type s3)",
    "prepare p as select 1",
    "execute p",
    "begin",
    "explain analyze select 1",
    "select 1 as x; select 2 as x",
    "select 1 as x; call enable_logging()",
    "/* */ pragma version",
    "show tables",
    "describe table enable_logging",
    "pivot self on n",
    "insert into self values (1)",
    "delete from self",
    "truncate self",
    "alter table self add column x int",
    "drop table self",
]


def test_every_statement_but_a_select_is_refused(tmp_path):
    for statement in STATEMENTS:
        refused(statement.replace("{}", str(tmp_path)))
    assert not list(tmp_path.iterdir())


def test_settings_stay_as_they_are():
    told = ROWS.sql(
        "select current_setting('enable_external_access') as a, current_setting('lock_configuration') as b,"
        " current_setting('autoload_known_extensions') as c, current_setting('python_enable_replacements') as d"
    )
    assert told[0] == {"a": False, "b": True, "c": False, "d": False}


def test_sessions_share_no_database():
    query = "select current_setting('temp_directory') as folder, current_connection_id() as connection"
    assert ROWS.sql(query)[0]["folder"] != ROWS.sql(f"{query} -- again")[0]["folder"]
    refused(LOGGING % "x")
    errors = []

    def ask(number):
        try:
            assert ROWS.sql(f"select n + {number} as n from self")["n"] == [1 + number, 2 + number]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=ask, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_a_database_keeps_within_the_memory_budget(monkeypatch):
    monkeypatch.setattr("crucible_datasets.config.DECODED_MEMORY_BUDGET", 100_000_000)
    assert ROWS.sql("select current_setting('memory_limit') as x")[0] == {"x": "95.3 MiB"}
    assert "Out of Memory" in refused("select list(range) as x from range(100000000)")


CHILD = r"""
import json, sys, threading
from crucible_datasets import Dataset
from crucible_datasets.exceptions import DatasetsError

rows = Dataset.from_dict({"n": [1, 2], "deep": ["[" * 200_000 + "]" * 200_000] * 2})

def run():
    for line in sys.stdin:
        try:
            rows.sql(json.loads(line))
        except DatasetsError:
            pass
        print("+", flush=True)

thread = threading.Thread(target=run)  # with the small stack of a thread of the viewer
thread.start()
thread.join()
"""
MEMORY = 6 << 30


def endings(queries, seconds=30):
    """The queries after which a child process was gone, with its exit code; those that took too long are passed over."""

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    gone, remaining, environment = [], list(queries), {**os.environ, "CRUCIBLE_MEMORY_BUDGET": str(1 << 30)}
    while remaining:
        text = "".join(f"{json.dumps(query)}\n" for query in remaining)
        command = [sys.executable, "-c", CHILD]
        try:
            ran = subprocess.run(
                command, input=text, capture_output=True, text=True, timeout=seconds, preexec_fn=limit, env=environment
            )
            out, code = ran.stdout, ran.returncode
        except subprocess.TimeoutExpired as late:
            out, code = (late.stdout or b"").decode(), None
        done = out.count("+")
        if done < len(remaining) and code is not None:
            gone.append((remaining[done], code, ran.stderr[-500:]))
        remaining = remaining[done + 1 :]
    return gone


DEEP = {
    "brackets": lambda n: "select " + "(" * n + "1" + ")" * n + " as x",
    "lists": lambda n: "select " + "[" * n + "1" + "]" * n + " as x",
    "structs": lambda n: "select " + "{'a':" * n + "1" + "}" * n + " as x",
    "queries": lambda n: "select " + "(select " * n + "1" + ")" * n + " as x",
    "calls": lambda n: "select " + "abs(" * n + "1" + ")" * n + " as x",
    "not": lambda n: "select " + "not " * n + "true as x",
    "minus": lambda n: "select " + "- " * n + "1 as x",
    "sums": lambda n: "select 1" + "+1" * n + " as x",
    "powers": lambda n: "select 1" + "^1" * n + " as x",
    "cases": lambda n: "select " + "case when true then " * n + "1" + " end" * n + " as x",
    "casts": lambda n: "select 1" + "::int" * n + " as x",
    "types": lambda n: "select null::" + "struct(a " * n + "int" + ")" * n + " as x",
    "list types": lambda n: "select null::int" + "[]" * n + " as x",
    "collations": lambda n: "select 'a'" + " collate nocase" * n + " as x",
    "tests": lambda n: "select 1" + " is null" * n + " as x",
    "sources": lambda n: "select * from " + "(select * from " * n + "range(3)" + ")" * n,
    "common tables": lambda n: "with t as (" * n + "select 1 as x" + ") select * from t" * n,
    "unions": lambda n: "select 1 as x" + " union all select 1" * n,
    "names": lambda n: "select a" + ".a" * n + " as x",
    "tables": lambda n: "select 1 as x from self" + ",self" * n,
    "joins": lambda n: "select 1 as x from self" + " natural join self" * n,
    "grouping sets": lambda n: "select 1 as x group by " + "grouping sets (" * n + "1" + ")" * n,
    "comments": lambda n: "select 1 as x " + "/*" * n + "*/" * n,
    "json types": lambda n: "select json_transform('[]', '" + "[" * n + '"INT"' + "]" * n + "') as x",
}


def test_queries_of_any_depth_end_in_an_answer_or_an_error():
    queries = [deep(depth) for depth in (50, 150, 3_000, 20_000) for deep in DEEP.values()]
    assert endings(queries) == []


VALUES = ["null", "''", "deep", "n", "-1", "9223372036854775807", "[deep]", "'nan'::double", "{'a': deep}", "x'00ff'"]
# Slow by their nature with long values, or with numbers that ask for much; a deadline ends them where there is one.
UNHURRIED = {"levenshtein", "damerau_levenshtein", "editdist3", "parse_path", "range", "generate_series", "repeat"}


def calls(names):
    for name, counts in names.items():
        if name.isidentifier() and name not in UNHURRIED:
            for count, value in itertools.product(sorted(counts & {0, 1, 2, 3}), VALUES):
                yield f"select {name}({', '.join([value] * count)})::varchar as x from self"
                if count == 0:
                    break
                if count > 1 and value == "deep":
                    yield f"select {name}(deep, {', '.join(['n'] * (count - 1))})::varchar as x from self"
                    yield f"select {name}({', '.join(['n'] * (count - 1))}, deep)::varchar as x from self"
                    yield f"select {name}({', '.join(['deep[:9]'] * (count - 1))}, deep)::varchar as x from self"


CRASHERS = [
    "select deep::variant::varchar as x from self",
    "select deep::json::variant::varchar as x from self",
    "select json_contains(deep, '1') as x from self",
    "select json_transform('[]', deep) as x from self",
    "select from_json('[]', repeat('[', 200000) || repeat(']', 200000)) as x",
    "select * from json_transform('[]', repeat('[', 200000)) as x",
    LOGGING % "/nowhere/at/all",
]


def test_functions_that_recurse_as_deep_as_their_values_are_refused():
    assert endings(CRASHERS) == []
    for query in CRASHERS[2:]:
        told = refused(query.replace("deep", "text"))
        assert "not available" in told or "at most" in told, told


PARTS = 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_function_of_values_ends_the_process(part):
    names = functions("scalar", "macro", "aggregate")
    names = {name: counts for name, counts in names.items() if not name.startswith(("collate_", "icu_collate"))}
    queries = list(calls(names))
    assert len(queries) > 5_000
    assert endings(queries[part::PARTS]) == []
