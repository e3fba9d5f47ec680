"""`Dataset.sql`: a query over datasets, run by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import ArgumentTypeError
from crucible_datasets.features import Features
from crucible_datasets.features.bounds import together
from crucible_datasets.fingerprint import Fingerprint
from crucible_datasets.formats.filters import Clauses
from crucible_datasets.ops.expressions.duck import Stream, session, version
from crucible_datasets.ops.expressions.results import kept
from crucible_datasets.ops.expressions.scan import Scan
from crucible_datasets.ops.expressions.sql import clauses
from crucible_datasets.tables.pruning import Wanted
from crucible_datasets.tables.statistics import ALWAYS
from crucible_datasets.tables.view import View


def rows_of(
    view: View,
    text: str,
    others: Mapping[str, Any],
    keep_in_memory: bool = False,
    load_from_cache_file: bool | None = None,
    fingerprint: str | None = None,
) -> View:
    """The result of a query: the view is the table `self`, other tables have their names."""
    for name, one in others.items():
        if not isinstance(one, View):
            raise ArgumentTypeError(name, type(one).__name__, "expected a Dataset.")
    views = {"self": view, **others}
    facts = {"text": text, "duckdb": version(), "others": {name: str(one.fingerprint) for name, one in others.items()}}
    after = Fingerprint.fixed(fingerprint) if fingerprint else view.fingerprint.derive("sql", **facts)
    files = tuple(file for one in views.values() for file in one.table.files)
    known = Features({name: kind for one in reversed(views.values()) for name, kind in one.features.items()})
    found = kept(partial(_rows, views, text), known, after, files, keep_in_memory, load_from_cache_file is False)
    roots = together([one.media_roots for one in views.values()])
    return replace(found, info=view.info, split=view.split, media_roots=roots)


def _rows(views: Mapping[str, View], text: str) -> Iterator[pa.Table]:
    wanted: dict[str, Wanted] = {}
    tables = {name: Stream(view.table.schema, partial(_read, view, name, wanted)) for name, view in views.items()}
    with session(tables, text) as connection:
        wanted["self"] = _wanted(connection.parsed(text), views["self"].table.schema)
        connection.planned(text)
        yield from connection.results(text)


def _read(view: View, name: str, wanted: Mapping[str, Wanted], names: Sequence[str]) -> Iterator[pa.Table]:
    return Scan(view, False, wanted.get(name))(names)


def _wanted(tree: Any, schema: pa.Schema) -> Clauses:
    """Conditions that rows of `self` must meet to affect the result, for pruning by statistics."""
    source = tree.get("from_table")
    if tree["type"] != "SELECT_NODE" or source["type"] != "BASE_TABLE" or source["sample"]:
        return ALWAYS
    if source["table_name"].lower() != "self" or source["column_name_alias"] or _mentions(tree) != 1:
        return ALWAYS
    return clauses(tree["where_clause"], schema, ((source["alias"] or "self").lower(),))


def _mentions(tree: Any) -> int:
    """How many times a query reads from the table `self`."""
    if isinstance(tree, list):
        return sum(map(_mentions, tree))
    if not isinstance(tree, dict):
        return 0
    return int(str(tree.get("table_name", "")).lower() == "self") + sum(map(_mentions, tree.values()))
