"""What predictions are judged against: samples with ids, and what is known of where they come from."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from crucible_datasets.benchmarks.samples.stream import StreamedSamples
from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.exceptions import ArgumentError


class Questions:
    """The samples of a run, and what a benchmark says of how they are judged."""

    def __init__(self, samples: Samples, entry: Any = None, provenance: Any = None) -> None:
        self.samples, self._entry = samples, entry
        self.provenance = provenance or samples.provenance

    @property
    def name(self) -> str:
        """What the data is called."""
        return self.samples.name

    @property
    def metrics(self) -> list[str] | None:
        """The metrics that the benchmark names."""
        return list(getattr(self._entry, "metrics", ())) or None

    @property
    def extract(self) -> str | None:
        """The rule that the benchmark names."""
        return getattr(self._entry, "extract", "") or None

    @cached_property
    def ids(self) -> list[str]:
        """The id of every sample, in their order; every one is there once."""
        ids = [str(one) for one in self.samples.dataset["id"]]
        if len(set(ids)) < len(ids):
            seen: set[str] = set()
            twice = [one for one in ids if one in seen or seen.add(one)]  # type: ignore[func-returns-value]
            raise ArgumentError("data", self.name, f"ids must differ, and these occur again: {', '.join(twice[:10])}.")
        return ids


def questions_of(data: Any, fields: Any = None) -> Questions:
    """Samples of a benchmark or its name, of a dataset, or of a list."""
    if isinstance(data, Questions):
        return data
    if isinstance(data, str):
        from crucible_datasets.benchmarks import load_benchmark

        data = load_benchmark(data)
    entry = getattr(data, "entry", None)
    if isinstance(data, StreamedSamples):
        from crucible_datasets.benchmarks.samples.making import samples_from

        read = samples_from(list(data), data.name)
        return Questions(read, entry, data.provenance.replace(content_hash=read.content_hash, num_rows=len(read)))
    if isinstance(data, Samples):
        return Questions(data, entry)
    return questions_of(_made(data, fields))


def _made(data: Any, fields: Any) -> Samples | StreamedSamples:
    from crucible_datasets.benchmarks import load_samples, samples_from

    if hasattr(data, "column_names"):
        return load_samples(data, fields) if fields is not None else load_samples(data)
    if isinstance(data, Iterable):
        return samples_from(list(data))
    raise ArgumentError("data", type(data).__name__, "expected a benchmark or its name, samples, a dataset or a list.")
