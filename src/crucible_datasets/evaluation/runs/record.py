"""The record of a run: its info, one result per sample, one summary per metric.

`evaluate` returns an EvaluationResult, `ResultStore` saves and loads it, `compare` and reports read it. The samples
are in memory or in a file; properties of all of them are read as columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, overload, runtime_checkable

from msgspec import Struct, field

from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.runs.paths import at_path, refuse_unknown
from crucible_datasets.evaluation.statistics.interval import Interval
from crucible_datasets.exceptions import UnknownEntryError
from crucible_datasets.viewable import Viewable

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from crucible_datasets.arrow_dataset import Dataset


class SampleResult(Struct, frozen=True):
    """One sample with the answer of a model and its outcomes.

    `prediction` is a text, the list of texts that are scored together (pass@k), None if it is missing, or another
    value that a metric accepts. `outcomes` are by the key of the metric, such as `exact_match@2`.
    """

    id: str
    prediction: Any
    target: Any
    outcomes: dict[str, Outcome]
    input: Any = None
    choices: list[str] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    epoch: int = 0


class MetricSummary(Struct, frozen=True):
    """One metric over a whole run.

    `value` is over the `n` samples that count, including those without a readable answer; `unparsed_rate` is the
    share of these, `value_parsed` the value without them, and `counts` the number of samples per status.
    """

    value: float | None
    n: int
    interval: Interval | None = None
    stderr: float | None = None
    unparsed_rate: float = 0.0
    value_parsed: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    signature: str | None = None
    higher_is_better: bool = True
    binary: bool = False


class RunInfo(Struct, frozen=True, kw_only=True):
    """The model, the data and the settings of a run: everything needed to compare its scores."""

    run_id: str
    model: str
    dataset: str
    split: str | None = None
    config: str | None = None
    dataset_hash: str | None = None
    revision: str | None = None
    rules: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    created_at: str = ""
    duration: float = 0.0
    tags: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    library_version: str = ""
    num_samples: int = 0
    missing: str = "error"
    cluster_by: str | None = None


@runtime_checkable
class SampleRows(Protocol):
    """The samples of a run, in memory or in a file."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[SampleResult]: ...
    @overload
    def __getitem__(self, index: int) -> SampleResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SampleResult]: ...

    def ids(self) -> list[str]:
        """The id of every row."""
        ...

    def epochs(self) -> np.ndarray:
        """The repetition of every row."""
        ...

    def values(self, key: str) -> np.ndarray:
        """The value of every row under a metric; NaN where there is none."""
        ...

    def outcomes(self, key: str) -> list[Outcome]:
        """The outcome of every row under a metric."""
        ...

    def at(self, path: str) -> list[Any]:
        """The value of every row at a path, such as `subject`, `metadata.subject` or `metadata.source.name`."""
        ...


class SampleList(list[SampleResult]):
    """Samples in memory."""

    def ids(self) -> list[str]:
        """The id of every row."""
        return [sample.id for sample in self]

    def epochs(self) -> np.ndarray:
        """The repetition of every row."""
        import numpy as np

        return np.array([sample.epoch for sample in self], dtype=np.int64)

    def values(self, key: str) -> np.ndarray:
        """The value of every row under a metric; NaN where there is none."""
        return values_of(self.outcomes(key))

    def outcomes(self, key: str) -> list[Outcome]:
        """The outcome of every row under a metric."""
        return [sample.outcomes[key] for sample in self]

    def at(self, path: str) -> list[Any]:
        """What every row has at a path."""
        return [at_path(sample, path) for sample in self]


def values_of(outcomes: Sequence[Outcome]) -> np.ndarray:
    """The values of outcomes; NaN where there is none."""
    import numpy as np

    nothing = float("nan")
    return np.array([nothing if one.value is None else one.value for one in outcomes], dtype=np.float64)


def key_in(summary: Mapping[str, MetricSummary], metric: str | None) -> str:
    """The key of a metric of a run, given by any of its names; without a name, that of the first metric."""
    found = [key for key in summary if metric in {None, key, key.rpartition("@")[0]}]
    if not found:
        from crucible_datasets.evaluation.metrics.known import known_key

        found = [key for key in summary if key == known_key(str(metric))]
    if not found:
        raise UnknownEntryError("metric of this run", str(metric), list(summary))
    return found[0]


class Summaries(dict[str, MetricSummary]):
    """The summary of each metric by its key, `exact_match@2`; lookup accepts any name of the metric."""

    def __missing__(self, metric: str) -> MetricSummary:
        return self[key_in(self, metric)]


class EvaluationResult(Viewable):
    """A run with its samples and its summaries."""

    def __init__(
        self, info: RunInfo, samples: SampleRows | Sequence[SampleResult], summary: Mapping[str, MetricSummary]
    ) -> None:
        self.info = info
        self.samples: SampleRows = samples if isinstance(samples, SampleRows) else SampleList(samples)
        self.summary = Summaries(summary)

    def __len__(self) -> int:
        return len(self.samples)

    def __str__(self) -> str:
        from crucible_datasets.evaluation.runs.shown import as_text

        return as_text(self)

    def __repr__(self) -> str:
        from crucible_datasets.evaluation.runs.shown import data_name

        scores = ", ".join(f"{key}={one.value}" for key, one in self.summary.items())
        return f"EvaluationResult({self.info.model!r} on {data_name(self.info)!r}, {len(self)} samples, {scores})"

    def _repr_html_(self) -> str:
        from crucible_datasets.evaluation.runs.shown import as_html

        return as_html(self)

    @property
    def ids(self) -> list[str]:
        """The id of every sample once, in order; `values` are aligned with it."""
        return list(dict.fromkeys(self.samples.ids()))

    def key(self, metric: str | None = None) -> str:
        """The key of a metric of this run: `exact_match` is `exact_match@2`; default: the first metric."""
        return key_in(self.summary, metric)

    def value(self, metric: str | None = None) -> float | None:
        """The score under a metric; default: the first."""
        return self.summary[self.key(metric)].value

    def values(self, metric: str | None = None) -> np.ndarray:
        """The value of every sample, aligned with `ids`: the mean over repetitions, NaN if none counts."""
        from crucible_datasets.evaluation.runs.repetitions import means

        values = self.samples.values(self.key(metric))
        return means(self.samples.ids(), values) if self.samples.epochs().any() else values

    def repeats(self, metric: str | None = None) -> np.ndarray:
        """The values as a matrix of samples × repetitions, NaN where one is missing."""
        from crucible_datasets.evaluation.runs.repetitions import matrix

        return matrix(self.samples.ids(), self.samples.values(self.key(metric)))

    def column(self, path: str) -> list[Any]:
        """The value of every sample at a path, aligned with `ids`: `subject`, `metadata.subject`, `target` …"""
        found = self.samples.at(path)
        refuse_unknown(self.samples, path, found)
        first = dict(zip(reversed(self.samples.ids()), reversed(found), strict=True))
        return [first[one] for one in self.ids]

    def by(self, path: str) -> dict[Any, dict[str, MetricSummary]]:
        """The summaries by groups of samples with the same value at a path: group → metric → summary."""
        from crucible_datasets.evaluation.runs.summaries import by_group

        return by_group(self, path)

    def to_dataset(self) -> Dataset:
        """A dataset with a row per sample: input, prediction, and the outcome under each metric."""
        from crucible_datasets.evaluation.exports.tables import as_dataset

        return as_dataset(self)

    def to_pandas(self) -> pd.DataFrame:
        """The rows of `to_dataset` as a pandas data frame."""
        return self.to_dataset().to_pandas()

    def to_dict(self) -> dict[str, Any]:
        """Info and summaries as plain values, without the samples."""
        from msgspec import to_builtins

        return {"info": to_builtins(self.info), "summary": to_builtins(self.summary)}
