"""The rows of a benchmark before conversion: configurations, splits and slices.

Every row keeps its index in its split, so the id of a sample does not depend on slices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.benchmarks.catalog.registry import BenchmarkEntry
from crucible_datasets.benchmarks.loading.converting import ROW, declared, named
from crucible_datasets.benchmarks.loading.origins import Origin
from crucible_datasets.benchmarks.rules.base import Unfit
from crucible_datasets.exceptions import ArgumentError, BadRowError, ColumnNotFoundError, MissingFieldError
from crucible_datasets.features import Features, Value
from crucible_datasets.fingerprint import Hasher

_SLICE = re.compile(r"(?P<name>\w+)\[(?P<start>\d*):(?P<stop>\d*)\]")


@dataclass(frozen=True)
class Piece:
    """Rows of one split of one configuration, with their indices."""

    rows: Any  # a Dataset or an IterableDataset
    config: str
    split: str
    prefix: str


def pieces_of(entry: BenchmarkEntry, config: str, spec: str, origin: Origin, streaming: bool) -> Iterator[Piece]:
    """The pieces of a spec such as `train`, `test[:100]` or `train+test`."""
    for part in spec.split("+"):
        split = part.strip().partition("[")[0]
        shown = "/".join(filter(None, [entry.name, config if len(entry.config_names) > 1 else "", split]))
        cut = _streamed if streaming else _sliced
        yield Piece(cut(entry, origin, part.strip(), split, shown), config, split, shown)


def _sliced(entry: BenchmarkEntry, origin: Origin, part: str, split: str, shown: str) -> Any:
    import numpy as np

    from crucible_datasets.splits import ReadInstruction

    rows = _prepared(entry, origin.table(split), shown)
    rows = rows.add_column(ROW, np.arange(len(rows)))
    (wanted,) = ReadInstruction.from_spec(part).to_absolute({split: len(rows)})
    if (wanted.from_, wanted.to) == (0, len(rows)):
        return rows
    return rows.select(range(wanted.from_, max(wanted.from_, wanted.to)))


def _streamed(entry: BenchmarkEntry, origin: Origin, part: str, split: str, shown: str) -> Any:
    rows = _prepared(entry, origin.stream(split), shown)
    kinds = None if rows.features is None else Features({**rows.features, ROW: Value("int64")})
    at_once = named(entry, entry.rule, "row").at_once
    rows = rows.map(_numbers, with_indices=True, batched=True, batch_size=at_once, features=kinds)
    if part == split:
        return rows
    found = _SLICE.fullmatch(part)
    if not found:
        raise ArgumentError("split", part, "a stream has no length; write bounds as numbers of rows: test[10:20].")
    start = int(found["start"] or 0)
    rows = rows.skip(start)
    return rows.take(max(0, int(found["stop"]) - start)) if found["stop"] else rows


def _numbers(batch: Any, numbers: list[int]) -> dict[str, list[int]]:
    return {ROW: numbers}


def _prepared(entry: BenchmarkEntry, rows: Any, shown: str) -> Any:
    """The rows after the table rule of an entry, which takes all rows at once."""
    if not entry.prepare:
        return rows
    rule, stated, columns = named(entry, entry.prepare, "table"), entry.prepare_columns, rows.column_names

    def made(table: Any) -> Any:
        for role, column in stated.items():
            if column not in table:
                raise MissingFieldError(entry.name, role, column, list(table))
        try:
            return rule.function({name: table[name] for name in stated.values()}, **stated)
        except Unfit as unfit:
            raise BadRowError(shown, 0, stated.get(unfit.role or ""), unfit.reason) from unfit

    kinds = Features({name: declared(kind) for name, kind in rule.metadata.items()})
    kept = {"cache_key": Hasher.hash((rule.function, stated))} if isinstance(rows, Dataset) else {}
    return rows.map(made, batched=True, batch_size=None, remove_columns=columns, features=kinds, **kept)


def within(piece: Piece, column: str, wanted: Collection[Any], keep: bool = True) -> Piece:
    """The rows whose value in a column is (or, without `keep`, is not) among the wanted ones."""
    return _where(piece, column, lambda value: (value in wanted) is keep)


def _where(piece: Piece, column: str, judge: Callable[[Any], bool]) -> Piece:
    rows = piece.rows
    if rows.column_names is not None and column not in rows.column_names:
        raise ColumnNotFoundError(column, [name for name in rows.column_names if name != ROW])
    if isinstance(rows, Dataset):
        places = [place for place, value in enumerate(rows[column]) if judge(value)]
        return replace(piece, rows=rows.select(places))
    return replace(piece, rows=rows.filter(judge, input_columns=[column]))


def limited(pieces: Iterable[Piece], limit: int | None) -> Iterator[Piece]:
    """The first `limit` rows of all pieces together; streams are limited by the caller."""
    for piece in pieces:
        if limit is None or not isinstance(piece.rows, Dataset):
            yield piece
            continue
        rows = piece.rows.take(limit)
        limit -= len(rows)
        yield replace(piece, rows=rows)
