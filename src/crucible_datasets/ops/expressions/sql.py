"""SQL instead of functions: a condition such as `"level > 3"`, or results such as `"level + 1 as next"`."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from crucible_datasets.formats.filters import Clauses
from crucible_datasets.ops.expressions.base import Read
from crucible_datasets.ops.expressions.duck import Session, Stream, session, version
from crucible_datasets.ops.expressions.pruning import SWAPPED, condition
from crucible_datasets.tables.pruning import Wanted
from crucible_datasets.tables.statistics import ALWAYS, both, either

_COMPARISONS = {
    "COMPARE_EQUAL": "=",
    "COMPARE_NOTEQUAL": "!=",
    "COMPARE_LESSTHAN": "<",
    "COMPARE_LESSTHANOREQUALTO": "<=",
    "COMPARE_GREATERTHAN": ">",
    "COMPARE_GREATERTHANOREQUALTO": ">=",
}
_SEVERAL_ROWS = "it looks at several rows at once; that is for Dataset.sql, as in dataset.sql('select … from self')"

_frames: dict[str, Any] = {}


class SqlEngine:
    """Row-by-row SQL: expressions by the names of their results, or one text with `as` names."""

    row_by_row = True

    def __init__(self, texts: Mapping[str, str] | str) -> None:
        self._lists = [texts] if isinstance(texts, str) else list(texts.values())
        self._names_itself = isinstance(texts, str)
        self.text = ", ".join(self._lists)
        # On separate lines, so that a trailing comment ends with its text.
        named = {} if isinstance(texts, str) else texts
        items = [f"(\n{text}\n) as {_quoted(name)}" for name, text in named.items()] or self._lists
        self._query = f"select {', '.join(items)}\nfrom self"

    @property
    def identity(self) -> Any:
        return version(), self._query

    def wanted(self, schema: pa.Schema) -> Wanted | None:
        with session({"self": Stream(schema, _unread)}, self.text) as connection:
            return clauses(self._items(connection)[0], schema)

    def computed(self, schema: pa.Schema, read: Read) -> Iterator[pa.Table]:
        with session({"self": Stream(schema, read)}, self.text) as connection:
            self._items(connection)
            if not {*connection.planned(self._query)} <= {"PROJECTION", "PYTHON_ARROW_SCAN"}:
                connection.refuse(_SEVERAL_ROWS)
            yield from connection.results(self._query)

    def _items(self, connection: Session) -> list[Any]:
        """The syntax trees of the results; raises if a text contains anything else."""
        found = [connection.parsed(f"select {text}\nfrom self") for text in self._lists]
        items = [item for tree in found for item in tree["select_list"]]
        several = not self._names_itself and len(items) != len(found)
        if several or any(_frame(tree) != _bare(connection) for tree in found):
            connection.refuse("expected nothing but results" if self._names_itself else "expected one result")
        for item in items if self._names_itself else []:
            if item["class"] == "STAR" and not item.get("columns"):
                connection.refuse("columns stay by themselves, * is not needed")
            if not item["alias"] and item["class"] not in ("COLUMN_REF", "STAR"):
                connection.refuse("a result has no name, say which: … as name")
        return items


def _unread(columns: Sequence[str]) -> Iterable[pa.Table]:
    """The rows of a table that is only parsed for."""
    return ()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _bare(connection: Session) -> Any:
    """The syntax tree around the results of a query; computed once."""
    if version() not in _frames:
        _frames[version()] = _frame(connection.parsed("select 0 from self"))
    return _frames[version()]


def _frame(tree: Any) -> Any:
    """The syntax tree of a query without its results and without source positions."""
    if isinstance(tree, dict):
        left_out = ("select_list", "query_location", "query_location_length")
        return {key: _frame(value) for key, value in tree.items() if key not in left_out}
    return [_frame(value) for value in tree] if isinstance(tree, list) else tree


def clauses(tree: Any, schema: pa.Schema, qualifiers: tuple[str, ...] = ("self",)) -> Clauses:
    """Conditions that hold wherever an expression is true, for pruning by statistics."""
    match tree:
        case {"type": "CONJUNCTION_AND", "children": children}:
            found = ALWAYS
            for child in children:
                found = both(found, clauses(child, schema, qualifiers))
            return found
        case {"type": "CONJUNCTION_OR", "children": [first, *others]}:
            found = clauses(first, schema, qualifiers)
            for child in others:
                found = either(found, clauses(child, schema, qualifiers))
            return found
        case {"type": "COMPARE_BETWEEN", "input": of, "lower": low, "upper": high}:
            return both(_compared(">=", of, low, schema, qualifiers), _compared("<=", of, high, schema, qualifiers))
        case {"type": "COMPARE_IN", "children": [of, *values]}:
            return _judged("in", of, [_constant(value) for value in values], schema, qualifiers)
        case {"type": kind, "left": left, "right": right} if kind in _COMPARISONS:
            return _compared(_COMPARISONS[kind], left, right, schema, qualifiers)
    return ALWAYS


def _compared(operator: str, left: Any, right: Any, schema: pa.Schema, qualifiers: tuple[str, ...]) -> Clauses:
    if right["class"] == "COLUMN_REF":
        left, right, operator = right, left, SWAPPED[operator]
    return _judged(operator, left, _constant(right), schema, qualifiers)


def _judged(operator: str, of: Any, value: Any, schema: pa.Schema, qualifiers: tuple[str, ...]) -> Clauses:
    if of["class"] != "COLUMN_REF":
        return ALWAYS
    *path, last = of["column_names"]
    if len(path) > 1 or (path and path[0].lower() not in qualifiers):
        return ALWAYS
    # As in DuckDB, the case of ASCII letters does not matter.
    named = [name for name in schema.names if name.encode().lower() == last.encode().lower()]
    return condition(named[0], operator, value, schema) if len(named) == 1 else ALWAYS


def _constant(tree: Any) -> Any:
    """The Python value of a constant; None for anything unsupported."""
    match tree:
        case {"class": "CONSTANT", "literal": {"kind": "INTEGER", "text": text}}:
            return int(text)
        case {"class": "CONSTANT", "literal": {"kind": "NUMERIC", "text": text}} if len(text) < 15:
            return float(text)
        case {"class": "CONSTANT", "literal": {"kind": "STRING", "text": text}}:
            return text
        case {"class": "CAST", "child": child, "type_expr": {"type_name": name}} if name.lower() == "date":
            return _date(_constant(child))
    return None


def _date(text: Any) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except (TypeError, ValueError):
        return None
