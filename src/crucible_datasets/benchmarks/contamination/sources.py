"""Data of any kind → its texts, in blocks: datasets, streams, samples, files, names, lists."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.benchmarks.contamination.texts import text_columns, texts_in
from crucible_datasets.benchmarks.contamination.words import Places
from crucible_datasets.benchmarks.loading.naming import data_named
from crucible_datasets.benchmarks.samples.making import samples_from
from crucible_datasets.benchmarks.samples.stream import StreamedSamples
from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError

_ROWS_AT_ONCE = 4096
_BYTES_AT_ONCE = 4 << 20


class Side:
    """One of the two datasets."""

    def __init__(self, given: Any, columns: Sequence[str] | str | None) -> None:
        self._given = _opened(given)
        self._rows: Any = _rows_of(self._given)
        self._schema = _schema(self._rows)
        self.num_rows: int | None = len(self._rows) if hasattr(self._rows, "__len__") else None
        self.short_rows = 0
        self.columns = [columns] if isinstance(columns, str) else list(columns) if columns is not None else None

    @property
    def text_columns(self) -> list[str]:
        """The columns with texts; of samples, without metadata."""
        return ["input", "target", "choices"] if self._is_typed else text_columns(self._schema)

    @property
    def _is_typed(self) -> bool:
        listed = isinstance(self._given, (list, tuple)) and bool(self._given) and isinstance(self._given[0], Sample)
        return listed or isinstance(self._given, (Samples, StreamedSamples))

    def default_columns(self) -> list[str]:
        """The default columns of the test side: of samples, the input."""
        return self.columns or (["input"] if self._is_typed else self.text_columns)

    def blocks(self, columns: Sequence[str]) -> Iterator[pa.Array]:
        """The texts of all rows, in their order."""
        if not columns:
            raise ArgumentError("columns", None, f"no column holds texts. Columns: {', '.join(self._schema.names)}.")
        needed = list(dict.fromkeys(_column(name, self._schema.names) for name in columns))
        for table in self._rows.select_columns(needed).with_format("arrow").iter(_ROWS_AT_ONCE):
            yield from _small(texts_in(table, columns))

    def texts_at(self, rows: Sequence[int], columns: Sequence[str]) -> dict[int, str]:
        """The texts of some rows."""
        if self.num_rows is not None:
            part = Side(self._rows.select(rows), columns)
            found = [text for block in part.blocks(columns) for text in block.to_pylist()]
            return {row: text or "" for row, text in zip(rows, found, strict=True)}
        return _read_up_to(self.blocks(columns), sorted(rows))

    def with_rows(self, rows: Places) -> Side:
        """Only some rows."""
        return Side(_kept(self._rows, rows), self.columns)

    def without(self, matched: npt.NDArray[np.bool_]) -> Any:
        """The original data without the matched rows."""
        rows = np.flatnonzero(~matched)
        if isinstance(self._given, (list, tuple)):
            return [self._given[row] for row in rows]
        return _kept(self._given, rows)


def _kept(data: Any, rows: Places) -> Any:
    if hasattr(data, "select"):
        return data.select(rows.tolist() if isinstance(data, Samples) else rows)
    if isinstance(data, StreamedSamples):
        return data._with(_kept(data.dataset, rows))
    wanted = frozenset(rows.tolist())
    return data.filter(lambda _, number: number in wanted, with_indices=True)


def _opened(given: Any) -> Any:
    return data_named(os.fspath(given)) if isinstance(given, (str, os.PathLike)) else given


def _rows_of(given: Any) -> Any:
    """The data as a dataset or stream. Datasets of other libraries work if they have the same interface."""
    if isinstance(given, (Samples, StreamedSamples)):
        return given.dataset
    if isinstance(given, (list, tuple)):
        return _listed(list(given))
    if isinstance(given, Mapping):
        raise ArgumentError("dataset", list(given), "it has several splits; give one of them.")
    if hasattr(given, "with_format") and hasattr(given, "select_columns"):
        return given
    raise ArgumentTypeError("dataset", given, "give a dataset, samples, a file, a name, or a list of texts")


def _listed(values: list[Any]) -> Any:
    if values and all(isinstance(value, Sample) for value in values):
        return samples_from(values).dataset
    if values and all(isinstance(value, Mapping) for value in values):
        return Dataset.from_list(values, on_mixed_types="use_json")
    if not all(isinstance(value, str) or value is None for value in values):
        raise ArgumentTypeError("dataset", values, "a list holds texts, rows, or samples")
    return Dataset(pa.table({"text": pa.array(values, pa.large_string())}))


def _schema(rows: Any) -> pa.Schema:
    if rows.features is not None:
        return rows.features.arrow_schema
    return next(iter(rows.with_format("arrow").iter(1)), pa.table({})).schema


def _column(name: str, known: list[str]) -> str:
    return name if name in known else name.split(".")[0]


def _small(texts: pa.Array) -> Iterator[pa.Array]:
    """Slices of a few megabytes, or of one text."""
    if texts.nbytes <= _BYTES_AT_ONCE or len(texts) <= 1:
        yield texts
        return
    half = len(texts) // 2
    yield from _small(texts.slice(0, half))
    yield from _small(texts.slice(half))


def _read_up_to(blocks: Iterator[pa.Array], rows: list[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    first = 0
    for block in blocks:
        found.update({row: block[row - first].as_py() or "" for row in rows if first <= row < first + len(block)})
        first += len(block)
        if len(found) == len(set(rows)):
            break
    return found
