"""What predictions are judged against: samples with ids, and what is known of where they come from."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import msgspec

from crucible_datasets.benchmarks.samples.stream import StreamedSamples
from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.benchmarks.types.sample import Sample
from crucible_datasets.evaluation.metrics.base import Metric
from crucible_datasets.evaluation.runs.paths import OWN_FIELDS
from crucible_datasets.evaluation.sampling.fieldvalues import field_values
from crucible_datasets.evaluation.sampling.samplers import Drawn
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError


class Questions:
    """The samples of a run, and what a benchmark says of how they are judged."""

    def __init__(self, samples: Samples, entry: Any = None, provenance: Any = None, drawn: Any = None) -> None:
        self.samples, self.entry = samples, entry
        self.provenance = provenance or samples.provenance
        self.drawn: dict[str, Any] = {} if drawn is None else {"drawn": msgspec.to_builtins(drawn)}

    @property
    def name(self) -> str:
        """What the data is called."""
        return self.samples.name

    @property
    def metrics(self) -> list[str] | None:
        """The metrics that the benchmark names."""
        return list(getattr(self.entry, "metrics", ())) or None

    @property
    def extract(self) -> str | None:
        """The rule that the benchmark names."""
        return getattr(self.entry, "extract", "") or None

    def checked_field(self, path: str | None) -> str | None:
        """A field of the samples, as it was named; an error where there is none, before anything is asked or judged."""
        if path is not None and path.partition(".")[0] not in OWN_FIELDS:
            field_values(self.samples.dataset, path)
        return path

    def refuse_without_targets(self, metrics: Iterable[Metric]) -> None:
        """An error where metrics compare with targets and no sample has one: every answer would count as wrong."""
        comparing = [metric.key for metric in metrics if metric.needs_target]
        if comparing and self.ids and not any(map(_is_target, self.samples.dataset["target"])):
            reason = (
                f"no sample has a target, so {comparing[0]} has nothing to compare with. Name where targets are, as "
                "fields={'target': 'gold'}, or pass metrics= with a function of (prediction, target, sample=)."
            )
            raise ArgumentError("data", self.name, reason)

    @cached_property
    def ids(self) -> list[str]:
        """The id of every sample, in their order; every one is there once."""
        ids = [str(one) for one in self.samples.dataset["id"]]
        if twice := [one for one, times in Counter(ids).items() if times > 1]:
            raise ArgumentError("data", self.name, f"ids must differ, and these occur again: {', '.join(twice[:10])}.")
        return ids


def _is_target(target: Any) -> bool:
    return target is not None and target != ""  # [] says that nothing is the right answer


def questions_of(data: Any, fields: Any = None, synthetic: bool = False) -> Questions:
    """Samples of a benchmark or its name, of a dataset, a file or a list, or of what was drawn from samples."""
    if synthetic:
        return questions_of(_synthetic(data))
    if isinstance(data, Questions):
        return data
    if isinstance(data, Drawn):
        whole = questions_of(data.data, fields)
        return Questions(whole.samples, whole.entry, whole.provenance, data.info)
    if isinstance(data, str) and (data.endswith(".toml") or not os.path.isfile(data)):
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


def _synthetic(data: Any) -> Samples:
    from crucible_datasets.benchmarks import load_benchmark

    if not isinstance(data, str):
        kind = type(data).__name__
        raise ArgumentTypeError("synthetic", True, f"benchmarks have miniatures, by their names; this is {kind}.")
    made: Samples = load_benchmark(data, synthetic=True)
    return made


def _made(data: Any, fields: Any) -> Samples | StreamedSamples:
    from crucible_datasets.benchmarks import load_samples, samples_from

    if hasattr(data, "column_names") or isinstance(data, (str, os.PathLike)):
        return load_samples(data, fields)
    if not isinstance(data, Iterable) or isinstance(data, bytes):
        expected = "expected a benchmark or its name, samples, a dataset, a file or a list."
        raise ArgumentError("data", type(data).__name__, expected)
    rows = list(data)
    strangers = [row for row in rows if not isinstance(row, (Sample, Mapping))]
    if strangers:
        raise ArgumentTypeError("data", strangers[0], "expected samples or dicts; predictions come first in the call.")
    bare = [row for row in rows if isinstance(row, Mapping) and "id" not in row]
    return load_samples(rows, fields) if fields is not None or bare else samples_from(rows)
