"""The file of a finished run: Parquet, with the facts and summaries of the run in its footer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import pyarrow.parquet as pq

from crucible_datasets.atomic import storage_errors, written_whole
from crucible_datasets.evaluation.results.columns import schema_of, table_of
from crucible_datasets.evaluation.results.encoding import encode
from crucible_datasets.evaluation.results.places import Places
from crucible_datasets.evaluation.runs.record import EvaluationResult, MetricSummary, RunInfo, SampleResult
from crucible_datasets.exceptions import ArgumentError, FileFormatError

_KEY = b"crucible_run"
ROWS, LETTERS = 5_000, 32_000_000  # of a row group: what one sample costs to read, what writing holds in memory


class StoredRun(msgspec.Struct, frozen=True, dict=True):
    """A run as the index knows it; of one that a store lists, `load` gives the samples too."""

    info: RunInfo
    summary: dict[str, MetricSummary] = msgspec.field(default_factory=dict)
    finished: bool = True

    def __repr__(self) -> str:
        scores = [f"{key}={one.value}" for key, one in self.summary.items()] if self.finished else ["unfinished"]
        facts = f"{self.info.run_id!r}, {self.info.model!r} on {self.info.dataset!r}, {self.info.num_samples} samples"
        return f"StoredRun({', '.join([facts, *scores])})"

    def kept_in(self, store: str) -> StoredRun:
        """The same, which knows the folder of its store: no fact of the run, so neither written nor compared."""
        self.__dict__["_store"] = store
        return self

    def load(self) -> EvaluationResult:
        """The run with its samples."""
        from crucible_datasets.evaluation.results.finishing import load_run

        if "_store" not in self.__dict__:
            raise ArgumentError("run", self.info.run_id, "no store has listed it: load it by `store.load(run_id)`.")
        return load_run(Places(self.__dict__["_store"]), self.info.run_id)


def batches(samples: Iterable[SampleResult]) -> Iterator[list[SampleResult]]:
    """Samples in lists of a row group each; of long texts there are fewer in one."""
    batch, letters = [], 0
    for sample in samples:
        batch.append(sample)
        letters += _length(sample.prediction) + _length(sample.input)
        if len(batch) == ROWS or letters > LETTERS:
            yield batch
            batch, letters = [], 0
    if batch:
        yield batch


def _length(value: Any) -> int:
    """About how many letters a text, texts or messages have."""
    if isinstance(value, list):
        return sum(map(_length, value))
    return len(value) if isinstance(value, str) else 200


class RunFile:
    """Writes a run: samples first, then what is known of it."""

    def __init__(self, path: str, info: RunInfo) -> None:
        self.info = info
        # Arrow's own files tell of a full disk without its error number when they are closed.
        self._file = open(path, "wb")  # noqa: SIM115
        self._writer = pq.ParquetWriter(self._file, schema_of(info.metrics), compression="zstd")

    def __enter__(self) -> RunFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        with self._file:
            if kind is None:
                self._writer.close()

    def add(self, samples: list[SampleResult]) -> None:
        """Write one row group."""
        self._writer.write_table(table_of(samples, self.info.metrics), row_group_size=ROWS)

    def describe(self, run: StoredRun) -> None:
        """Put facts and summaries into the footer."""
        self._writer.add_key_value_metadata({_KEY: encode(run)})


def write_run(path: str, info: RunInfo, summary: Mapping[str, MetricSummary], samples: Iterable[SampleResult]) -> None:
    """Write a run whose summary is known, whole or not at all."""
    with written_whole(path) as beside, RunFile(beside, info) as file:
        for batch in batches(samples):
            file.add(batch)
        file.describe(StoredRun(info, dict(summary)))


def read_footer(path: str) -> StoredRun:
    """The facts and summaries of a run, without its samples."""
    try:
        with storage_errors(path), open(path, "rb") as file:
            found: dict[bytes, Any] = pq.read_metadata(file).metadata or {}
            return msgspec.json.decode(found[_KEY], type=StoredRun)
    except (KeyError, ValueError) as error:
        raise FileFormatError(path, f"not a run of this library: {error}") from error
