"""The file of a finished run: Parquet, with info and summaries in its footer."""

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
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, FileFormatError

_KEY, _DIGEST = b"crucible_run", b"crucible_run_xxh3"
ROWS, LETTERS = 5_000, 32_000_000  # per row group: limits the cost of reading one sample, and the memory of writing


class StoredRun(msgspec.Struct, frozen=True, dict=True):
    """Info and summaries of a run; `load` returns the samples too, if it was listed by a store."""

    info: RunInfo
    summary: dict[str, MetricSummary] = msgspec.field(default_factory=dict)
    finished: bool = True

    def __repr__(self) -> str:
        scores = [f"{key}={one.value}" for key, one in self.summary.items()] if self.finished else ["unfinished"]
        info = self.info
        facts = f"{info.run_id!r}, {info.model!r} on {data_name(info)!r}, {info.num_samples} samples"
        return f"StoredRun({', '.join([facts, *scores])})"

    def kept_in(self, store: str) -> StoredRun:
        """The same with the folder of its store, which is neither saved nor compared."""
        self.__dict__["_store"] = store
        return self

    def load(self) -> EvaluationResult:
        """The run with its samples."""
        from crucible_datasets.evaluation.results.finishing import load_run

        if "_store" not in self.__dict__:
            raise ArgumentError("run", self.info.run_id, "no store has listed it: load it by `store.load(run_id)`.")
        return load_run(Places(self.__dict__["_store"]), self.info.run_id)


def results_in(results: Any) -> list[EvaluationResult]:
    """Results as a list, however they were given."""
    if isinstance(results, EvaluationResult):
        return [results]
    several = [results] if isinstance(results, StoredRun) else results
    given = list(several.values() if isinstance(several, Mapping) else several)
    found = [one.load() if isinstance(one, StoredRun) else one for one in given]
    for one in found:
        if not isinstance(one, EvaluationResult):
            expected = "expected results of `evaluate`, or runs that a store lists."
            raise ArgumentTypeError("results", type(one).__name__, expected)
    return found


def batches(samples: Iterable[SampleResult]) -> Iterator[list[SampleResult]]:
    """Samples in one list per row group; fewer if texts are long."""
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
    """The approximate number of characters of a text, texts or messages."""
    if isinstance(value, list):
        return sum(map(_length, value))
    return len(value) if isinstance(value, str) else 200


class RunFile:
    """Writes a run: samples first, then info and summaries."""

    def __init__(self, path: str, info: RunInfo) -> None:
        self.info = info
        # Arrow's own files lose the errno of a full disk when they are closed.
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
        """Write info and summaries into the footer."""
        facts = encode(run)
        self._writer.add_key_value_metadata({_KEY: facts, _DIGEST: xxhash.xxh3_64_hexdigest(facts).encode()})


def write_run(path: str, info: RunInfo, summary: Mapping[str, MetricSummary], samples: Iterable[SampleResult]) -> None:
    """Write a run with a known summary atomically."""
    with atomic_file(path) as temporary, RunFile(temporary, info) as file:
        for batch in batches(samples):
            file.add(batch)
        file.describe(StoredRun(info, dict(summary)))


def read_footer(path: str) -> StoredRun:
    """The info and summaries of a run, without its samples."""
    with _file_errors(path), open(path, "rb") as file:
        found: dict[bytes, Any] = pq.read_metadata(file).metadata or {}
        facts = found[_KEY]
        if xxhash.xxh3_64_hexdigest(facts).encode() != found.get(_DIGEST, b"") and _DIGEST in found:
            raise FileFormatError(path, "its facts and summaries have changed since they were written.")
        return msgspec.json.decode(facts, type=StoredRun)


@contextmanager
def opened_run(path: str, metrics: Sequence[str]) -> Iterator[pq.ParquetFile]:
    """The samples of a run; raises if the file is damaged."""
    with _file_errors(path), pq.ParquetFile(path, page_checksum_verification=True) as file:
        if file.schema_arrow != schema_of(metrics):
            raise FileFormatError(path, "it does not have the columns of a run.")
        yield file


@contextmanager
def _file_errors(path: str) -> Iterator[None]:
    """Turn all errors of reading a damaged file, or one that is not a run, into an error that names it."""
    try:
        with storage_errors(path):
            yield
    except FileFormatError:
        raise
    except (KeyError, ValueError, OSError, RecursionError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileFormatError(path, f"not a run of this library, or damaged: {error}") from error
