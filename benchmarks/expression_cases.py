"""Expressions, which `datasets` does not have: its side uses functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.cases import State, case, opened


def with_pyarrow(module: Any, path: Path) -> State:
    """The file, and a pyarrow expression."""
    import pyarrow.compute as pc

    return _given(opened(module, path), (pc.field("level") > 3) & (pc.field("subject") == "algebra"))


def with_polars(module: Any, path: Path) -> State:
    """The file, and a polars expression."""
    import polars as pl

    return _given(opened(module, path), (pl.col("level") > 3) & (pl.col("subject") == "algebra"))


def with_sql(module: Any, path: Path) -> State:
    """The file, and a condition in SQL."""
    return _given(opened(module, path), "level > 3 and subject = 'algebra'")


def shuffled_with_pyarrow(module: Any, path: Path) -> State:
    """The file in random order, and a pyarrow expression."""
    state = with_pyarrow(module, path)
    return State(module, state.dataset.shuffle(seed=42), state.given)


def _given(state: State, condition: Any) -> State:
    return State(state.module, state.dataset, condition if _takes_expressions(state.module) else _by_row)


def _takes_expressions(module: Any) -> bool:
    return module.__name__ == "crucible_datasets"


def _by_row(row: dict[str, Any]) -> bool:
    return row["level"] > 3 and row["subject"] == "algebra"


@case("filter by an expression", setup=with_pyarrow, flat=50)
def filter_by_pyarrow(state: State) -> list[str]:
    return state.dataset.filter(state.given)["problem"][:3]


@case("filter by an expression, shuffled", setup=shuffled_with_pyarrow, flat=50)
def filter_shuffled(state: State) -> list[str]:
    return state.dataset.filter(state.given)["problem"][:3]


@case("filter by a polars expression", setup=with_polars, needs=("polars",), flat=50)
def filter_by_polars(state: State) -> list[str]:
    return state.dataset.filter(state.given)["problem"][:3]


@case("filter by SQL", setup=with_sql, needs=("duckdb",), flat=20)
def filter_by_sql(state: State) -> list[str]:
    return state.dataset.filter(state.given)["problem"][:3]


@case("map by SQL", setup=opened, needs=("duckdb",), flat=20)
def map_by_sql(state: State) -> list[str]:
    if _takes_expressions(state.module):
        return state.dataset.map("upper(subject) as title")["title"][:3]
    return state.dataset.map(lambda row: {"title": row["subject"].upper()})["title"][:3]
