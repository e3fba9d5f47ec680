"""Miniatures: rows with the raw columns of a dataset on the Hub, generated from seeded templates.

They contain nothing from the real datasets.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from crucible_datasets.benchmarks.catalog.registry import BenchmarkEntry
from crucible_datasets.benchmarks.loading.converting import declared
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features import Features

if TYPE_CHECKING:
    from crucible_datasets.arrow_dataset import Dataset


VERSION = 1  # of all rows, which change only with it
T = TypeVar("T")
Row = dict[str, Any]
Kinds = Mapping[str, Any]


class Draw:
    """Random choices that depend only on a name.

    It uses only `random()`, the one method of `random.Random` that is guaranteed to give the same numbers in all
    versions.
    """

    def __init__(self, name: str) -> None:
        self._random = random.Random(name).random

    def number(self, low: int, high: int) -> int:
        """An integer, both ends included."""
        return low + int(self._random() * (high - low + 1))

    def one(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.number(0, len(options) - 1)]

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """Several different options."""
        left = list(options)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(count)]


@dataclass(frozen=True)
class Maker:
    """The generator of the rows of one dataset of the Hub, and the file format there."""

    source: str
    kinds: Callable[[str], Kinds]
    row: Callable[[Draw, str, str, int], Row]
    rows: int = 16
    file: str = "parquet"  # or jsonl, jsonl.gz, json

    def features(self, config: str) -> Features:
        """The types of the columns of a configuration."""
        return Features({name: declared(kind) for name, kind in self.kinds(config).items()})

    def made(self, config: str, split: str) -> list[Row]:
        """The rows of a split."""
        names = [f"{self.source}/{config}/{split}/{number}" for number in range(self.rows)]
        return [self.row(Draw(name), config, split, number) for number, name in enumerate(names)]


_MAKERS: dict[str, Maker] = {}


def maker(
    source: str, kinds: Kinds | Callable[[str], Kinds], *, rows: int = 16, file: str = "parquet"
) -> Callable[[Callable[..., Row]], Callable[..., Row]]:
    """Register a function that generates one row from a `Draw`, the configuration, the split and the row number."""
    given = kinds if callable(kinds) else lambda config: kinds

    def registered(function: Callable[..., Row]) -> Callable[..., Row]:
        _MAKERS[source] = Maker(source, given, function, rows, file)
        return function

    return registered


@cache
def makers() -> Mapping[str, Maker]:
    """All makers by repository."""
    folder = importlib.import_module("crucible_datasets.benchmarks.miniatures")
    for module in pkgutil.iter_modules(folder.__path__):
        importlib.import_module(f"{folder.__name__}.{module.name}")
    return _MAKERS


def miniature(entry: BenchmarkEntry, config: str, split: str) -> Dataset:
    """The rows of a split, from a maker, or from the file next to a user's entry."""
    from crucible_datasets.arrow_dataset import Dataset
    from crucible_datasets.load import load_dataset

    if entry.miniature:
        path = os.path.join(os.path.dirname(entry.place), entry.miniature)
        return load_dataset(path, split="train")
    found = makers().get(entry.source)
    if found is None:
        raise ArgumentError(
            "synthetic", True, f"{entry.name} has no miniature. Name a file of rows in {entry.place}: miniature = …"
        )
    return Dataset.from_list(found.made(config, split), features=found.features(config))


NAMES = ("Ada", "Bela", "Chen", "Dora", "Emil", "Farid", "Gita", "Hugo", "Ines", "Jun", "Kofi", "Lena")
THINGS = ("apples", "books", "candles", "drums", "eggs", "flags", "gloves", "hats", "jars", "kites")
PLACES = ("the market", "the harbour", "the library", "the mill", "the station", "the garden")
TOPICS = ("rivers", "bridges", "clocks", "bees", "glass", "maps", "salt", "tides", "wind", "yeast")
KINDS = ("short", "clear", "friendly", "careful", "funny", "plain")
MODELS = ("model-alpha", "model-beta", "model-gamma", "model-delta")


def statement(draw: Draw) -> str:
    """A statement."""
    return f"{draw.one(NAMES)} took {draw.number(2, 40)} {draw.one(THINGS)} to {draw.one(PLACES)}."


def request(draw: Draw) -> str:
    """A request for a text."""
    return (
        f"Write a {draw.one(KINDS)} note about {draw.one(TOPICS)} for {draw.one(NAMES)}, number {draw.number(1, 999)}."
    )


def reply(draw: Draw) -> str:
    """A reply to a request."""
    return " ".join(statement(draw) for _ in range(draw.number(1, 3)))


def chat(draw: Draw, turns: int) -> list[tuple[str, str]]:
    """Alternating texts of user and assistant."""
    return [(role, text(draw)) for _ in range(turns) for role, text in (("user", request), ("assistant", reply))]
