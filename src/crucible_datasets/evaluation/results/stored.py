"""The samples of a finished run, read from its file on access."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, overload

from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.results.columns import metric_columns, outcomes_of, samples_of
from crucible_datasets.evaluation.results.encoding import value
from crucible_datasets.evaluation.results.runfile import opened_run
from crucible_datasets.evaluation.runs.paths import inside, place_of
from crucible_datasets.evaluation.runs.record import SampleResult
from crucible_datasets.exceptions import RowIndexError
from crucible_datasets.forking import cached_property

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class StoredSamples:
    """A sequence of samples over a Parquet file; one row group is in memory at a time."""

    def __init__(self, path: str, metrics: list[str]) -> None:
        self.path, self.metrics = path, metrics
        self._group = lru_cache(maxsize=2)(self._read_group)

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredSamples, (self.path, self.metrics)

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[SampleResult]:
        for group in range(len(self._starts) - 1):
            yield from self._read_group(group)

    @overload
    def __getitem__(self, index: int) -> SampleResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[SampleResult]: ...
    def __getitem__(self, index: int | slice) -> SampleResult | list[SampleResult]:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        row = index + len(self) if index < 0 else index
        if not 0 <= row < len(self):
            raise RowIndexError(index, len(self))
        group = next(number for number, start in enumerate(self._starts[1:]) if row < start)
        return self._group(group)[row - self._starts[group]]

    def ids(self) -> list[str]:
        """The id of every row."""
        return self._column("id").to_pylist()

    def epochs(self) -> np.ndarray:
        """The repetition of every row."""
        return _numbers(self._column("epoch"), "int64")

    def values(self, key: str) -> np.ndarray:
        """The value of every row under a metric; NaN where there is none."""
        return _numbers(self._column(f"value:{key}"), "float64")

    def outcomes(self, key: str) -> list[Outcome]:
        """The outcome of every row under a metric."""
        return outcomes_of(self._table(metric_columns(key)), key)

    def at(self, path: str) -> list[Any]:
        """The values of all rows at a path."""
        field, rest = place_of(path)
        if field in {"id", "epoch"}:
            return self._column(field).to_pylist()
        if field == "prediction":
            return [inside(sample.prediction, rest) for sample in self]
        # Metadata of many samples often have few distinct texts.
        texts = self._column(field).to_pylist()
        seen = {text: value(text) for text in set(texts)}
        if None in seen and field == "metadata":
            seen[None] = {}
        return [inside(seen[text], rest) for text in texts]

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        with opened_run(self.path, self.metrics) as file:
            for group in range(file.num_row_groups):
                starts.append(starts[-1] + file.metadata.row_group(group).num_rows)
        return starts

    def _read_group(self, group: int) -> list[SampleResult]:
        with opened_run(self.path, self.metrics) as file:
            return samples_of(file.read_row_group(group), self.metrics)

    def _column(self, name: str) -> pa.ChunkedArray:
        return self._table([name])[name]

    def _table(self, columns: list[str]) -> pa.Table:
        with opened_run(self.path, self.metrics) as file:
            return file.read(columns=columns)


def _numbers(column: pa.ChunkedArray, kind: str) -> np.ndarray:
    """A column of 64-bit numbers, NaN for null; `to_numpy` would import pandas."""
    import numpy as np

    found = np.empty(len(column), dtype=kind)
    at = 0
    for chunk in column.chunks:
        part = found[at : at + len(chunk)]
        part[:] = np.frombuffer(chunk.buffers()[1], kind, len(chunk), 8 * chunk.offset)
        if chunk.null_count:
            bits = np.unpackbits(np.frombuffer(chunk.buffers()[0], np.uint8), bitorder="little")
            part[bits[chunk.offset : chunk.offset + len(chunk)] == 0] = np.nan
        at += len(chunk)
    return found
