"""Steps that change rows and columns do what plain Python does with a list of rows, in any order and number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

import crucible_datasets as ours
from laws import equality, values
from laws.law import law
from laws.test_chains import _LEAVES, _rows
from laws.ways import MOVES

Row = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """The model: the rows of a dataset, each with the columns in their order."""

    columns: list[str]
    rows: list[Row]

    def where(self, numbers: list[int]) -> Table:
        return replace(self, rows=[self.rows[number] for number in numbers])

    def mapped(self, function: Any) -> Table:
        rows = [{**row, **function(row)} for row in self.rows]
        return Table(list(rows[0]) if rows else self.columns, rows)

    def only(self, columns: list[str]) -> Table:
        return Table(columns, [{name: row[name] for name in columns} for row in self.rows])

    def renamed(self, names: dict[str, str]) -> Table:
        rows = [{names.get(name, name): value for name, value in row.items()} for row in self.rows]
        return Table([names.get(name, name) for name in self.columns], rows)


def _column(table: Table, n: int) -> str:
    """One of the made-up columns, else the numbers of the rows."""
    names = [name for name in table.columns if name != "row"] or ["row"]
    return names[n % len(names)]


def _new(table: Table, name: str) -> str:
    while name in table.columns:
        name += "'"
    return name


# ── functions for map: from a row to what changes ─────────────────────────────────────────────────────────────────────


def _copy(name: str, copy: str) -> Any:
    return lambda row: {copy: row[name]}


def _list(name: str, copy: str) -> Any:
    return lambda row: {copy: [row[name], None, row[name]][: row["row"] % 4]}


def _object(name: str, copy: str) -> Any:
    return lambda row: {copy: {"value": row[name], "row": row["row"]} if row["row"] % 3 else None}


def _reordered(name: str, copy: str) -> Any:
    def function(row: Row) -> Row:
        made = {"value": row[name], "row": row["row"]}
        return {copy: made if row["row"] % 2 else dict(reversed(made.items()))}

    return function


def _gaps(name: str, copy: str) -> Any:
    return lambda row: {name: row[name] if row["row"] % 3 else None} if name != "row" else {}


def _sometimes(name: str, copy: str) -> Any:
    return lambda row: {copy: row[name]} if row["row"] // 2 % 2 else {}


_FUNCTIONS = {
    "copy": _copy,
    "list": _list,
    "object": _object,
    "fields in any order": _reordered,
    "gaps": _gaps,
    "a key that some rows lack": _sometimes,
}


def _batched(function: Any) -> Any:
    def of_batch(batch: Any) -> Any:
        rows = [dict(zip(batch, cells, strict=True)) for cells in zip(*batch.values(), strict=True)]
        changed = [function(row) for row in rows]
        names = dict.fromkeys(name for row in changed for name in row)
        return {name: [new.get(name, row.get(name)) for new, row in zip(changed, rows, strict=True)] for name in names}

    return of_batch


_OPTIONS: dict[str, dict[str, Any]] = {
    "rows": {},
    "batches": {"batched": True},
    "batches of 3": {"batched": True, "batch_size": 3},
    "in memory": {"keep_in_memory": True},
}
_PROCESSES: dict[str, dict[str, Any]] = {
    "2 processes": {"num_proc": 2},
    "batches of 2, 2 processes": {"num_proc": 2, "batched": True, "batch_size": 2},
}


def _map(table: Table, data: Any, n: int, kind: str, options: dict[str, Any]) -> tuple[Table, Any]:
    name = _column(table, n)
    function = _FUNCTIONS[kind](name, _new(table, "new"))
    made = table.mapped(function)
    columns = list(dict.fromkeys(column for row in made.rows for column in row)) or table.columns
    called = _batched(function) if options.get("batched") else function
    return Table(columns, [{c: row.get(c) for c in columns} for row in made.rows]), data.map(called, **options)


# ── other steps ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _rename(table: Table, data: Any, n: int) -> tuple[Table, Any]:
    names = {_column(table, n): _new(table, "renamed")}
    names.pop("row", None)
    return table.renamed(names), data.rename_columns(names)


def _remove(table: Table, data: Any, n: int) -> tuple[Table, Any]:
    name = _column(table, n)
    rest = [column for column in table.columns if column != name or name == "row"]
    return table.only(rest), data.remove_columns([column for column in table.columns if column not in rest])


def _reorder(table: Table, data: Any, n: int) -> tuple[Table, Any]:
    columns = [*table.columns[n % len(table.columns) :], *table.columns[: n % len(table.columns)]]
    return table.only(columns), data.select_columns(columns)


def _flatten(table: Table, data: Any, n: int) -> tuple[Table, Any]:
    flat: dict[str, tuple[str, ...]] = {}

    def spread(feature: Any, path: tuple[str, ...]) -> None:
        if isinstance(feature, dict) and feature:
            for key, inner in feature.items():
                spread(inner, (*path, key))
        else:
            name = ".".join(path)
            if name in flat:
                raise _Refused
            flat[name] = path

    for name, feature in data.features.items():
        spread(feature, (name,))
    return Table(
        list(flat), [{name: _at(row, path) for name, path in flat.items()} for row in table.rows]
    ), data.flatten()


class _Refused(Exception):
    """The step is not possible."""


def _at(row: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        row = None if row is None else row[key]
    return row


def _cast(table: Table, data: Any, n: int) -> tuple[Table, Any]:
    name = _new(table, "number")
    dtype, convert = [("string", str), ("int16", int), ("float32", float), ("float64", float)][n % 4]
    numbers = data.add_column(name, [row["row"] for row in table.rows])
    return table.mapped(lambda row: {name: convert(row["row"])}), numbers.cast_column(name, ours.Value(dtype))


def _sort(table: Table, data: Any, n: int) -> tuple[Table, Any]:
    """By a column of texts or integers, if there is one, whose equal values stay in their order."""
    sortable = [ours.Value("string"), ours.Value("int64")]
    names = [name for name in table.columns if data.features[name] in sortable]
    name, reverse = names[n % len(names)], bool(n % 2)
    some = sorted((row for row in table.rows if row[name] is not None), key=lambda row: row[name], reverse=reverse)
    none = [row for row in table.rows if row[name] is None]
    return replace(table, rows=[*some, *none]), data.sort(name, reverse=reverse)


def _join(table: Table, data: Any, n: int) -> tuple[Table, Any]:
    name = _new(table, "joined")
    keys = [0, 2, 3, 3, n, 1000]
    right = ours.Dataset.from_dict({"row": keys, name: [f"{key} {place}" for place, key in enumerate(keys)]})
    texts = [[f"{key} {place}" for place, key in enumerate(keys) if row["row"] == key] for row in table.rows]
    absent = [None] if n % 2 else []
    pairs = [(row, text) for row, found in zip(table.rows, texts, strict=True) for text in found or absent]
    rows = [{**row, name: text} for row, text in pairs]
    return Table([*table.columns, name], rows), data.join(right, on="row", how="left" if n % 2 else "inner")


def _concatenate(table: Table, data: Any, n: int) -> tuple[Table, Any]:
    other = data.select(range(len(data))[::-1])
    return replace(table, rows=[*table.rows, *table.rows[::-1]]), ours.concatenate_datasets([data, other])


_STEPS = {
    "rename": _rename,
    "remove": _remove,
    "reorder": _reorder,
    "flatten": _flatten,
    "cast": _cast,
    "sort": _sort,
    "join": _join,
    "concatenate": _concatenate,
}
_KEEPS_NUMBERS = [name for name in MOVES if name not in ("shuffle", "sort", "reverse", "filter", "twice")]


def _move(table: Table, data: Any, name: str, n: int) -> tuple[Table, Any]:
    move, model = MOVES[name]
    return table.where(model(list(range(len(table.rows))), n) or []), move(data, n)


def _steps(options: dict[str, dict[str, Any]]) -> st.SearchStrategy[Any]:
    maps = st.tuples(st.just("map"), st.sampled_from(sorted(_FUNCTIONS)), st.sampled_from(sorted(options)))
    others = st.tuples(st.sampled_from([*_STEPS, *_KEEPS_NUMBERS]), st.just(""), st.just(""))
    step = st.tuples(st.one_of(maps, others), st.integers(0, 7))
    return st.lists(step, min_size=1, max_size=5).map(tuple)


def _follow(data: Any, steps: Any) -> str:
    source = data.to_list()
    table = Table(data.column_names, [{name: row[name] for name in data.column_names} for row in source])
    for (name, kind, how), n in steps:
        try:
            if name == "map":
                table, data = _map(table, data, n, kind, {**_OPTIONS, **_PROCESSES}[how])
            elif name in _STEPS:
                table, data = _STEPS[name](table, data, n)
            else:
                table, data = _move(table, data, name, n)
        except _Refused:
            continue
        try:
            equality.same(table.rows, data.to_list())
        except AssertionError as error:
            raise AssertionError(f"{name} {kind} {how}: {error}") from error
        assert not table.rows or data.column_names == table.columns, f"{name} {kind}: {data.column_names}"
        # A table of no rows has no types of what a function would have returned.
        table = replace(table, columns=data.column_names)
        if "row" not in table.columns:
            break
    return repr((list(data.features.items()), table.rows))


@law(examples=20, weight=3, rows=_rows(_LEAVES, longest=11), steps=_steps(_OPTIONS))
def test_any_chain_means_what_it_means_on_lists(rows, steps, folder):
    first = _follow(ours.Dataset.from_list(rows.list()), steps)
    assert _follow(ours.Dataset.from_list(rows.list()), steps) == first, "another result from the cache"


@law(examples=3, rows=_rows(values.JSON_LEAVES, longest=11), steps=_steps(_PROCESSES))
def test_any_chain_with_processes_means_what_it_means_on_lists(rows, steps, folder):
    _follow(ours.Dataset.from_list(rows.list()), steps)
