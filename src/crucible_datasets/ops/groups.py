"""`group_by`: rows with equal keys, as views or aggregated to one row each.

Groups are in order of first appearance; null is a key like any other. All aggregations but `size`, `first`, `last` and
`list` ignore nulls. `std` and `var` divide by n - 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import (
    AggregationError,
    ArgumentError,
    ColumnNamesError,
    DatasetsError,
    UnknownEntryError,
)
from crucible_datasets.features import Features, Json, List
from crucible_datasets.features.storage import feature_of, one_array
from crucible_datasets.ops.codes import Codes, by_code, codes_of, joint_codes, key_column
from crucible_datasets.tables.rows import tightest
from crucible_datasets.tables.table import ArrowTable
from crucible_datasets.tables.view import View

Aggregation = tuple[str, str, str]
"""A new column's name, the column it is made from, and the function's name."""

LIST_BYTES = 1 << 30
_TRIED = 100  # rows
_UNFIT = (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError)


class Groups(NamedTuple):
    """The group of each row, the rows sorted by group, and where each group begins there (and the last ends)."""

    codes: Codes
    order: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1


def groups(view: View, keys: str | Sequence[str]) -> Iterator[tuple[tuple[Any, ...], View]]:
    """Each group's key, as stored, and its rows as a view that copies nothing."""
    names = _key_names(view, keys)
    found = _grouped(view, names)
    firsts = view.read(tightest(found.order[found.starts[:-1]]), names).to_pylist()
    for key, start, stop in zip(firsts, found.starts.tolist(), found.starts[1:].tolist(), strict=False):
        yield tuple(key.values()), view.moved(tightest(found.order[start:stop]), "group")


def aggregate(view: View, keys: str | Sequence[str], aggregations: Sequence[Aggregation]) -> View:
    """One row per group: its key, and a column for each aggregation."""
    names = _key_names(view, keys)
    new = [name for name, _, _ in aggregations]
    if len({*names, *new}) < len(names) + len(new):
        raise ColumnNamesError(new, names, "each name can be given once, and not to a key")
    found = _grouped(view, names)
    firsts = view.read(tightest(found.order[found.starts[:-1]]), names)
    columns = dict(zip(names, firsts.columns, strict=True))
    features = {name: view.features[name] for name in names}
    for name, column, function in aggregations:
        columns[name], features[name] = _aggregated(view, found, column, function)
    return replace(
        view,
        table=ArrowTable(pa.table(columns)),
        rows=range(len(found)),
        features=Features(features),
        fingerprint=view.fingerprint.derive("aggregate", keys=names, aggregations=list(aggregations)),
        format=replace(view.format, columns=None),
    )


def parse_aggregations(
    positional: Mapping[str, str | Sequence[str]] | None,
    named: Mapping[str, tuple[str, str]],
    view: View,
) -> list[Aggregation]:
    """What to compute, from `{"score": "mean"}`, `{"score": ["mean", "max"]}` and `best=("score", "max")`."""
    parsed: list[Aggregation] = []
    for column, functions in (positional or {}).items():
        several = [functions] if isinstance(functions, str) else functions
        parsed.extend((f"{column}_{function}", column, function) for function in several)
    for name, pair in named.items():
        if isinstance(pair, str) or len(pair) != 2:
            raise ArgumentError(name, pair, "expected a column and a function, as in ('score', 'mean').")
        parsed.append((name, *pair))
    if not parsed:
        raise ArgumentError("aggregations", positional, "expected at least one, as in {'score': 'mean'}.")
    for _, column, function in parsed:
        _checked(view, column, function)
    return parsed


def _checked(view: View, column: str, function: str) -> None:
    view.require([column])
    if function not in FUNCTIONS:
        raise UnknownEntryError("aggregation", function, FUNCTIONS)


def _key_names(view: View, keys: str | Sequence[str]) -> list[str]:
    names = [keys] if isinstance(keys, str) else list(keys)
    if not names:
        raise ArgumentError("keys", keys, "expected at least one column to group by.")
    view.require(names)
    return names


def _grouped(view: View, names: list[str]) -> Groups:
    codes = joint_codes([key_column(view, name) for name in names])
    return Groups(codes, *by_code(codes))


def _aggregated(view: View, found: Groups, column: str, function: str) -> tuple[pa.ChunkedArray, Any]:
    _checked(view, column, function)
    try:
        return FUNCTIONS[function](view, found, column)
    except DatasetsError:
        raise  # some of them are errors of Arrow too
    except _UNFIT as error:
        usable = [other for other in FUNCTIONS if other != function and _fits(view, column, other)]
        raise AggregationError(function, column, str(view.features[column]), usable) from error


def _fits(view: View, column: str, function: str) -> bool:
    """Whether a function can be computed of the first rows of a column, for the error of another."""
    few = view.moved(range(min(len(view), _TRIED)), "group")
    one = Groups(np.zeros(len(few), np.int64), np.arange(len(few)), np.array([0, len(few)]))
    try:
        FUNCTIONS[function](few, one, column)
    except (*_UNFIT, DatasetsError):
        return False
    return True


Function = Callable[[View, Groups, str], tuple[pa.ChunkedArray, Any]]
Prepare = Callable[[pa.ChunkedArray], pa.ChunkedArray]


def _by_arrow(function: str, options: Any = None, prepare: Prepare | None = None, keep: bool = False) -> Function:
    """An aggregation that Arrow has, of the values after `prepare`; `keep` says whether the feature stays."""

    def compute(view: View, found: Groups, column: str) -> tuple[pa.ChunkedArray, Any]:
        values = view.column(column)
        if keep and isinstance(view.features[column], Json):
            raise pa.ArrowNotImplementedError("Json is stored as texts, where 10 is before 9.")
        values = prepare(values) if prepare else values
        made = _reduced(found, values, function, options)
        if function in ("sum", "product") and pa.types.is_integer(values.type):
            _require_bits(made, _reduced(found, values.cast(pa.float64(), safe=False), function, options), column)
        return made, view.features[column] if keep else feature_of(made.type)

    return compute


def _reduced(found: Groups, values: pa.ChunkedArray, function: str, options: Any) -> pa.ChunkedArray:
    table = pa.table({"group": pa.array(found.codes), "value": values})
    # One thread meets the groups in the order of their codes.
    result = table.group_by("group", use_threads=False).aggregate([("value", function, options)])
    return result.column(f"value_{function}")


def _require_bits(totals: pa.ChunkedArray, estimates: pa.ChunkedArray, column: str) -> None:
    """Raise if a total of integers has more than 64 bits: Arrow's wrap around, and are then far from the estimates."""
    exact, about = totals.cast(pa.float64(), safe=False).to_numpy(), estimates.to_numpy()
    if bool((np.abs(exact - about) > 2**62).any()):
        reason = "the result has more than 64 bits: cast the column to float64 or decimal128(38, 0) first."
        raise ArgumentError("aggregations", column, reason)


def _numbers(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return values.cast(pa.int64()) if pa.types.is_boolean(values.type) else values


def _truths(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return values.cast(pa.bool_())


def _size(view: View, found: Groups, column: str) -> tuple[pa.ChunkedArray, Any]:
    return pa.chunked_array([np.diff(found.starts)]), feature_of(pa.int64())


def _first(view: View, found: Groups, column: str) -> tuple[pa.ChunkedArray, Any]:
    return _read(view, found.order[found.starts[:-1]], column), view.features[column]


def _last(view: View, found: Groups, column: str) -> tuple[pa.ChunkedArray, Any]:
    return _read(view, found.order[found.starts[1:] - 1], column), view.features[column]


def _read(view: View, rows: npt.NDArray[np.int64], column: str) -> pa.ChunkedArray:
    return view.read(tightest(rows), [column]).column(0)


def _list(view: View, found: Groups, column: str) -> tuple[pa.ChunkedArray, Any]:
    """Lists of whole groups, in chunks whose values fit one array."""
    sorted_values = _read(view, found.order, column)
    block = max(1, LIST_BYTES * len(view) // max(1, sorted_values.nbytes))
    chunks, group = [], 0
    while group < len(found):
        start = int(found.starts[group])
        stop = max(group + 1, int(np.searchsorted(found.starts, start + block, side="right")) - 1)
        ends = found.starts[group : stop + 1] - start
        values = one_array(sorted_values.slice(start, int(ends[-1])))
        chunks.append(pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values))
        group = stop
    return pa.chunked_array(chunks, pa.list_(sorted_values.type)), List(view.features[column])


def _median(view: View, found: Groups, column: str) -> tuple[pa.ChunkedArray, Any]:
    values, codes = _valid(view, found, column)
    numbers = values.cast(pa.float64()).to_numpy()
    ordered = numbers[np.lexsort((numbers, codes))]
    counts = np.bincount(codes, minlength=len(found))
    begins = np.cumsum(counts) - counts
    full = counts > 0
    low, high = (begins + (counts - 1) // 2)[full], (begins + counts // 2)[full]
    medians = ordered[low] / 2 + ordered[high] / 2
    medians[np.isnan(ordered[(begins + counts - 1)[full]])] = np.nan
    made = np.zeros(len(found))
    made[full] = medians
    return pa.chunked_array([pa.array(made, mask=~full)]), feature_of(pa.float64())


def _valid(view: View, found: Groups, column: str) -> tuple[pa.ChunkedArray, Codes]:
    values = view.column(column)
    return values.drop_null(), found.codes[values.is_valid().to_numpy()]


def _distinct(view: View, found: Groups, column: str) -> tuple[npt.NDArray[np.int64], Codes, npt.NDArray[np.int64]]:
    """Each different value of each group: the first row that has it, its group, how often it occurs."""
    column_values = view.column(column)
    rows = np.flatnonzero(column_values.is_valid().to_numpy())
    values, _ = codes_of(key_column(view, column))
    pairs, _ = codes_of(pa.chunked_array([(found.codes * (len(view) + 1) + values)[rows]]))
    order, starts = by_code(pairs)
    firsts = rows[order[starts[:-1]]]
    return firsts, found.codes[firsts], np.diff(starts)


def _n_unique(view: View, found: Groups, column: str) -> tuple[pa.ChunkedArray, Any]:
    _, codes, _ = _distinct(view, found, column)
    return pa.chunked_array([np.bincount(codes, minlength=len(found))]), feature_of(pa.int64())


def _mode(view: View, found: Groups, column: str) -> tuple[pa.ChunkedArray, Any]:
    """The most frequent value; of equally frequent ones the first."""
    firsts, codes, counts = _distinct(view, found, column)
    best = np.lexsort((firsts, -counts, codes))
    full, leaders = np.unique(codes[best], return_index=True)
    values = _read(view, firsts[best][leaders], column)
    places = pa.array(np.searchsorted(full, np.arange(len(found))), mask=~np.isin(np.arange(len(found)), full))
    return values.take(places), view.features[column]


FUNCTIONS: dict[str, Function] = {
    "count": _by_arrow("count"),
    "size": _size,
    "n_unique": _n_unique,
    "count_distinct": _n_unique,
    "sum": _by_arrow("sum", prepare=_numbers),
    "mean": _by_arrow("mean"),
    "min": _by_arrow("min", keep=True),
    "max": _by_arrow("max", keep=True),
    "std": _by_arrow("stddev", pc.VarianceOptions(ddof=1), prepare=_numbers),
    "var": _by_arrow("variance", pc.VarianceOptions(ddof=1), prepare=_numbers),
    "median": _median,
    "mode": _mode,
    "first": _first,
    "last": _last,
    "list": _list,
    "any": _by_arrow("any", prepare=_truths),
    "all": _by_arrow("all", prepare=_truths),
    "product": _by_arrow("product", prepare=_numbers),
}
