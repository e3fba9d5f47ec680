"""`Benchmark`: samples with the entry of their benchmark."""

from __future__ import annotations

from typing import Any

from crucible_datasets.benchmarks.catalog.entry import BenchmarkEntry
from crucible_datasets.benchmarks.samples.provenance import Provenance
from crucible_datasets.benchmarks.samples.stream import StreamedSamples
from crucible_datasets.benchmarks.samples.table import Samples


class _OfBenchmark:
    """Properties shared by `Benchmark` and `StreamedBenchmark`."""

    entry: BenchmarkEntry
    raw: Any
    _provenance: Provenance

    @property
    def config(self) -> str | None:
        """The configuration that was loaded."""
        return self._provenance.config

    @property
    def split(self) -> str | None:
        """The split that was loaded."""
        return self._provenance.split


class Benchmark(_OfBenchmark, Samples):
    """The samples of a benchmark, with its entry in the registry and the original rows."""

    def __init__(
        self, dataset: Any, entry: BenchmarkEntry, raw: Any, provenance: Provenance, bad_rows: Any = None
    ) -> None:
        super().__init__(dataset, entry.name, provenance, bad_rows)
        self.entry, self.raw = entry, raw


class StreamedBenchmark(_OfBenchmark, StreamedSamples):
    """The samples of a benchmark as a stream: `raw` and `dataset` are streams too."""

    def __init__(
        self, dataset: Any, entry: BenchmarkEntry, raw: Any, provenance: Provenance, left_out: set[str]
    ) -> None:
        super().__init__(dataset, entry.name, provenance)
        self.entry, self.raw, self._left_out = entry, raw, left_out

    @property
    def skipped(self) -> int:
        """The number of invalid rows skipped so far."""
        return len(self._left_out)
