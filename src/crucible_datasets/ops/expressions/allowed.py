"""What a query may contain, decided on its syntax tree before anything of it is planned or run.

It may read the tables of its session and a few functions that compute rows from their arguments. All other sources are
refused, known or not: functions that read files, change settings, run SQL from a text or write logs, names of files,
tables of the catalog.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from crucible_datasets.registry import need

TABLE_FUNCTIONS = frozenset({"generate_series", "json_each", "json_tree", "range", "repeat", "repeat_row", "unnest"})
# Functions of values that change the database, wait, or run or parse SQL from a text; and one that recurses as deep as
# its values.
REFUSED_FUNCTIONS = frozenset(
    {
        "json_contains",
        "json_deserialize_sql",
        "json_execute_serialized_sql",
        "json_serialize_plan",
        "json_serialize_sql",
        "nextval",
        "parse_duckdb_log_message",
        "pg_sleep",
        "query",
        "query_table",
        "setval",
        "sleep_ms",
        "write_log",
    }
)
# They read a type from their second argument, and recurse as deep as it is.
FUNCTIONS_OF_TYPES = frozenset({"from_json", "from_json_strict", "json_transform", "json_transform_strict"})
_LONGEST_TYPE = 4_096  # characters
# DuckDB 2.0 recurses as deep as the values that it casts to it.
REFUSED_TYPES = frozenset({"variant"})
DEEPEST = 1_000  # expressions within each other
# DuckDB 2.0 crashes at 60,000 queries within each other, and at 100,000 tables in one `from`.
_LONGEST = 100_000  # characters of a query
_DEEPEST_BRACKETS = 200
_MOST_PARTS = 500  # planning more takes DuckDB seconds to minutes, and cannot be interrupted
_DEEPEST_TREE = 600  # values of the syntax tree within each other, about three for each expression
_SOURCES = frozenset({"EMPTY", "EXPRESSION_LIST", "JOIN", "PIVOT", "SUBQUERY"})
_NAMED_SOURCES = {"DESCRIBE", "SUMMARY"}  # `describe self`, `summarize self`


def objection_to_text(text: str) -> str | None:
    """Why a text may not be parsed; None if it may."""
    try:
        content = text.encode()
    except UnicodeEncodeError:
        return "it has lone surrogates, which are no text"
    if len(text) > _LONGEST:
        return f"it is longer than {_LONGEST:,} characters; long lists belong into another dataset, to join with"
    depth = 0
    for start, _ in need("duckdb", extra="sql").tokenize(text):
        depth += (content[start] in b"([{") - (content[start] in b")]}")
        if depth > _DEEPEST_BRACKETS:
            return f"it has more than {_DEEPEST_BRACKETS} brackets within each other"
    return None


def objection(statement: Any, tables: Collection[str]) -> str | None:
    """Why a statement may not run; None if it may."""
    waiting: list[tuple[Any, frozenset[str], int]] = [(statement, frozenset(map(_folded, tables)), 0)]
    while waiting:
        node, names, depth = waiting.pop()
        if depth > _DEEPEST_TREE:
            return "it is nested too deeply"
        if isinstance(node, list):
            waiting += [(each, names, depth + 1) for each in node]
        elif isinstance(node, dict):
            names = names.union(_common_tables(node))
            problem = _problem(node, names)
            if problem:
                return problem
            waiting += [(each, names, depth + 1) for each in node.values()]
    return None


def _problem(node: Mapping[str, Any], names: Collection[str]) -> str | None:
    if "function_name" in node and "arguments" in node:
        name = _folded(node["function_name"])
        if name in REFUSED_FUNCTIONS or "variant" in name:
            return f"the function {name} is not available"
        if name in FUNCTIONS_OF_TYPES and not all(map(_is_short_text, node["arguments"][1:])):
            return f"the second argument of {name} must be a text of at most {_LONGEST_TYPE:,} characters"
    if len(node.get("column_names", ())) > _MOST_PARTS or _is_long_union(node):
        return f"it has more than {_MOST_PARTS} parts of a name or of a union"
    if _folded(str(node.get("type_name", ""))) in REFUSED_TYPES:
        return f"the type {node['type_name']} is not available"
    return _problem_of_source(node, names) if "sample" in node and "query_location" in node else None


def _problem_of_source(node: Mapping[str, Any], names: Collection[str]) -> str | None:
    match node:
        case {"type": kind} if kind in _SOURCES:
            return None
        case {"type": "BASE_TABLE", "table_name": str(name)}:
            path = (node.get("qualified_name") or {}).get("path", [name])
            plain = path == [name] and not node.get("schema_name") and not node.get("catalog_name")
            return None if plain and _folded(name) in names else f"there is no table {'.'.join(path)!r}"
        case {"type": "TABLE_FUNCTION", "function": {"function_name": str(name)}}:
            is_known = _folded(name) in TABLE_FUNCTIONS
            return None if is_known else f"the table function {name} is not available"
        case {"type": "SHOW_REF", "query": dict(), "show_type": kind} if kind in _NAMED_SOURCES:
            return None
    return "only tables, subqueries and functions of values can be read from"


def _is_long_union(node: Mapping[str, Any]) -> bool:
    return node.get("type") == "SET_OPERATION_NODE" and len(node.get("children") or ()) > _MOST_PARTS


def _is_short_text(argument: Mapping[str, Any]) -> bool:
    match argument:
        case {"expression": {"class": "CONSTANT", "literal": {"kind": "STRING", "text": str(text)}}}:
            return len(text) <= _LONGEST_TYPE
    return False


def _common_tables(node: Mapping[str, Any]) -> Iterator[str]:
    """The names that the `with` of a query gives to its parts."""
    tables = node.get("cte_map")
    if isinstance(tables, dict):
        for entry in tables.get("map", ()):
            yield _folded(entry["key"])


def _folded(name: str) -> str:
    """DuckDB ignores the case of ASCII letters."""
    return name.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")
