"""The file of a finished run: Parquet, with the facts and summaries of the run in its footer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import pyarrow.parquet as pq
import xxhash

from crucible_datasets.atomic import atomic_file, storage_errors
from crucible_datasets.evaluation.results.columns import schema_of, table_of
from crucible_datasets.evaluation.results.encoding import encode
from crucible_datasets.evaluation.results.places import Places
from crucible_datasets.evaluation.runs.record import EvaluationResult, MetricSummary, RunInfo, SampleResult
from crucible_datasets.evaluation.runs.shown import data_name
from crucible_datasets.exceptions import ArgumentError, FileFormatError

_KEY, _DIGEST = b"crucible_run", b"crucible_run_xxh3"
ROWS, LETTERS = 5_000, 32_000_000  # of a row group: what one sample costs to read, what writing holds in memory


class StoredRun(msgspec.Struct, frozen=True, dict=True):
    """A run as the index knows it; of one that a store lists, `load` gives the samples too."""

    info: RunInfo
    summary: dict[str, MetricSummary] = msgspec.field(default_factory=dict)
    finished: bool = True

    def __repr__(self) -> str:
        scores = [f"{key}={one.value}" for key, one in self.summary.items()] if self.finished else ["unfinished"]
        info = self.info
        facts = f"{info.run_id!r}, {info.model!r} on {data_name(info)!r}, {info.num_samples} samples"
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
        schema = schema_of(info.metrics)
        self._writer = pq.ParquetWriter(self._file, schema, compression="zstd", write_page_checksum=True)

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
        facts = encode(run)
        self._writer.add_key_value_metadata({_KEY: facts, _DIGEST: xxhash.xxh3_64_hexdigest(facts).encode()})


def write_run(path: str, info: RunInfo, summary: Mapping[str, MetricSummary], samples: Iterable[SampleResult]) -> None:
    """Write a run whose summary is known, whole or not at all."""
    with atomic_file(path) as temporary, RunFile(temporary, info) as file:
        for batch in batches(samples):
            file.add(batch)
        file.describe(StoredRun(info, dict(summary)))


def read_footer(path: str) -> StoredRun:
    """The facts and summaries of a run, without its samples."""
    with _damage_told(path), open(path, "rb") as file:
        found: dict[bytes, Any] = pq.read_metadata(file).metadata or {}
        facts = found[_KEY]
        if xxhash.xxh3_64_hexdigest(facts).encode() != found.get(_DIGEST, b"") and _DIGEST in found:
            raise FileFormatError(path, "its facts and summaries have changed since they were written.")
        return msgspec.json.decode(facts, type=StoredRun)


@contextmanager
def opened_run(path: str, metrics: Sequence[str]) -> Iterator[pq.ParquetFile]:
    """The samples of a run; what has changed since it was written is an error."""
    with _damage_told(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        if file.schema_arrow != schema_of(metrics):
            raise FileFormatError(path, "it does not have the columns of a run.")
        yield file


@contextmanager
def _damage_told(path: str) -> Iterator[None]:
    """Whatever a file that is no run, or was damaged, makes readers stumble over is an error that names it."""
    try:
        with storage_errors(path):
            yield
    except FileFormatError:
        raise
    except (KeyError, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileFormatError(path, f"not a run of this library, or damaged: {error}") from error
