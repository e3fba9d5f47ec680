"""`filter` and `map` by expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError, ColumnLengthError, ExpressionError
from crucible_datasets.features import Features
from crucible_datasets.fingerprint import Fingerprint
from crucible_datasets.ops import columns
from crucible_datasets.ops.expressions.arrow import ArrowEngine
from crucible_datasets.ops.expressions.base import Engine, types_of
from crucible_datasets.ops.expressions.kinds import kind_of
from crucible_datasets.ops.expressions.polars import PolarsEngine
from crucible_datasets.ops.expressions.results import kept
from crucible_datasets.ops.expressions.scan import Scan
from crucible_datasets.ops.expressions.sql import SqlEngine
from crucible_datasets.tables.rows import compose, tightest, true_rows
from crucible_datasets.tables.stack import is_read_late
from crucible_datasets.tables.table import side_by_side
from crucible_datasets.tables.view import View

# Arguments that only functions can use. False or empty values mean that they are not used.
_FOR_FUNCTIONS = (
    "with_indices",
    "with_rank",
    "with_split",
    "input_columns",
    "batched",
    "drop_last_batch",
    "fn_kwargs",
    "num_proc",
    "cache_file_name",
    "cache_key",
    "executor",
)
_KEPT = "kept"


def filtered(view: View, expression: Any, new_fingerprint: str | None = None, **given: Any) -> View:
    """The rows for which the expression is true: neither false nor null."""
    _refuse_what_functions_take(given)
    if isinstance(expression, (Mapping, list, tuple)):
        raise ArgumentError("function", expression, "a filter takes one expression; join several with `and` or `&`.")
    engine = _condition(expression)
    if not view.features:
        return view
    scan = Scan(view, engine.row_by_row, engine.wanted(view.table.schema) if is_read_late(view.table) else None)
    places = scan.places(_true_places(engine, view.table.schema, scan))
    after = view.fingerprint.derive("filter", expression=engine.identity)
    return replace(
        view,
        rows=compose(view.rows, tightest(places)),
        fingerprint=Fingerprint.fixed(new_fingerprint) if new_fingerprint else after,
    )


def _condition(expression: Any) -> Engine:
    match kind_of(expression):
        case "polars":
            return PolarsEngine([expression.alias(_KEPT)])
        case "sql":
            return SqlEngine({_KEPT: expression})
    return ArrowEngine({_KEPT: expression})


def _true_places(engine: Engine, schema: pa.Schema, scan: Scan) -> Any:
    """The positions, in reading order, of the rows that are kept."""
    found, done = [np.zeros(0, dtype=np.int64)], 0
    for table in engine.computed(schema, scan):
        if table.num_columns != 1 or table.schema.field(0).type not in (pa.bool_(), pa.null()):
            kinds = ", ".join(str(field.type) for field in table.schema)
            raise ExpressionError(engine.text, types_of(schema), f"a filter must be true or false, this is {kinds}")
        if table.num_rows and table.schema.field(0).type == pa.bool_():
            # Null is not true.
            found.append(true_rows(table.column(0)) + done)
        done += table.num_rows
    return np.concatenate(found)


def mapped(
    view: View,
    expression: Any,
    remove_columns: str | Sequence[str] | None = None,
    features: Mapping[str, Any] | None = None,
    new_fingerprint: str | None = None,
    keep_in_memory: bool = False,
    load_from_cache_file: bool | None = None,
    **given: Any,
) -> View:
    """The view with computed columns set or added; the others are shared, unless they are removed."""
    _refuse_what_functions_take(given)
    removed = [remove_columns] if isinstance(remove_columns, str) else list(remove_columns or [])
    view.require(removed)
    engines = _engines(expression)
    where = (view.table.files, keep_in_memory, load_from_cache_file is False)
    computed = [_computed(view, engine, *where) for engine in engines]
    facts: dict[str, Any] = {"expressions": [engine.identity for engine in engines], "removed": removed}
    facts["features"] = features and Features(features).metadata()
    after = Fingerprint.fixed(new_fingerprint) if new_fingerprint else view.fingerprint.derive("map", **facts)
    result = _beside(view, computed, removed)
    return replace(columns.cast(result, features) if features else result, fingerprint=after)


def _engines(expression: Any) -> list[Engine]:
    if isinstance(expression, str):
        return [SqlEngine(expression)]
    if not isinstance(expression, Mapping):
        several = list(expression) if isinstance(expression, (list, tuple)) else [expression]
        if any(kind_of(one) != "polars" for one in several):
            raise ArgumentError("function", str(expression), "the result has no name, use {name: expression}.")
        return [PolarsEngine(several)]
    by_kind: dict[str, dict[str, Any]] = {}
    for name, one in expression.items():
        by_kind.setdefault(kind_of(one), {})[name] = one
    return [_named(kind, several) for kind, several in by_kind.items()]


def _named(kind: str, several: Mapping[str, Any]) -> Engine:
    match kind:
        case "polars":
            return PolarsEngine([one.alias(name) for name, one in several.items()])
        case "sql":
            return SqlEngine(several)
    return ArrowEngine(several)


def _computed(view: View, engine: Engine, files: tuple[str, ...], in_memory: bool, fresh: bool) -> View:
    schema = view.table.schema

    def compute() -> Iterator[pa.Table]:
        yield from engine.computed(schema, Scan(view, False, None))

    own = view.fingerprint.derive("computed", expressions=engine.identity)
    found = kept(compute, view.features, own, files, in_memory, fresh)
    for name in found.column_names:
        if len(found) != len(view):
            raise ColumnLengthError(name, len(found), len(view))
    return found


def _beside(view: View, computed: Sequence[View], removed: Sequence[str]) -> View:
    """The columns of all views in one; a computed column takes the place of one of its name."""
    new = {name: feature for one in computed for name, feature in one.features.items()}
    stay = [name for name in view.column_names if name not in removed and name not in new]
    features = {name: feature for name, feature in view.features.items() if name not in removed} | new
    parts = (*view.parts(stay), *((one.table, range(len(view))) for one in computed))
    shown = view.format.columns
    shown = shown and tuple(name for name in dict.fromkeys((*shown, *new)) if name in features)
    return replace(
        view,
        table=side_by_side(parts, tuple(features)),
        rows=range(len(view)),
        features=Features(features),
        format=replace(view.format, columns=shown),
    )


def _refuse_what_functions_take(given: Mapping[str, Any]) -> None:
    for name in _FOR_FUNCTIONS:
        if given.get(name):
            raise ArgumentError(name, given[name], "that is for functions; an expression is computed column by column.")
    if given.get("on_error", "raise") != "raise":
        raise ArgumentError("on_error", given["on_error"], "an expression has no errors of single rows.")
