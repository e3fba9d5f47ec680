"""The data of a run: samples with ids, and their provenance."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.benchmarks.samples.decoding import FIELDS
from crucible_datasets.benchmarks.samples.stream import StreamedSamples
from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.benchmarks.types.sample import Sample
from crucible_datasets.evaluation.metrics.base import Metric
from crucible_datasets.evaluation.runs.paths import place_of, refuse_unknown
from crucible_datasets.evaluation.sampling.fieldvalues import field_values
from crucible_datasets.evaluation.sampling.samplers import Drawn
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, FileNotFoundDatasetsError
from crucible_datasets.forking import cached_property
from crucible_datasets.logging import get_logger
from crucible_datasets.reading.format_choice import is_missing_file, names_beside

_OF_ANSWERS = ("prediction", "epoch")  # fields of samples that have been answered
_FIELDS = frozenset(FIELDS)
_SHOWN = 10  # ids in a warning
_logger = get_logger(__name__)


class Questions:
    """The samples of a run, and the metrics and rule of their benchmark."""

    def __init__(self, samples: Samples, entry: Any = None, provenance: Any = None, drawn: Any = None) -> None:
        self.samples, self.entry = samples, entry
        self.provenance = provenance or samples.provenance
        self.drawn: dict[str, Any] = {} if drawn is None else {"drawn": msgspec.to_builtins(drawn)}

    @property
    def name(self) -> str:
        """The name of the data."""
        return self.samples.name

    @property
    def metrics(self) -> list[str] | None:
        """The metrics of the benchmark; for other data, multiple choice if all samples have choices."""
        named = list(getattr(self.entry, "metrics", ()))
        return named or (["multiple_choice"] if self._all_have_choices else None)

    @property
    def extract(self) -> str | None:
        """The extraction rule of the benchmark."""
        return getattr(self.entry, "extract", "") or None

    def checked_field(self, path: str | None) -> str | None:
        """The path, checked to be a field of the samples before the run begins."""
        if path is not None and place_of(path)[0] not in _OF_ANSWERS:
            refuse_unknown(self.samples, path, field_values(self.samples.dataset, path))
        return path

    def refuse_without_metric(self) -> None:
        """Raise if the benchmark has a metric that this library lacks: another one would score something else."""
        if self.metrics is None and self.entry is not None and self.extract is None:
            reason = "this library lacks its metric, and another one would score something else. Pass metrics= with a"
            raise ArgumentError("data", self.name, f"{reason} function of (prediction, target, sample=).")

    def refuse_without_targets(self, metrics: Iterable[Metric]) -> None:
        """Raise if metrics need targets and no sample has one: every answer would count as wrong."""
        comparing = [metric.key for metric in metrics if metric.needs_target]
        if comparing and self.ids and self._num_without_target == len(self.ids):
            # This benchmark is known to have no targets.
            named = "Name where targets are, as fields={'target': 'gold'}, or pass" if self.entry is None else "Pass"
            reason = f"no sample has a target, so {comparing[0]} has nothing to compare with. {named} metrics= with a"
            raise ArgumentError("data", self.name, f"{reason} function of (prediction, target, sample=).")

    @cached_property
    def _all_have_choices(self) -> bool:
        """Whether every sample has choices; warns once if only some have, since no metric fits both."""
        lists = self.samples.dataset["choices"].to_arrow()
        is_known = pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)
        having = (pc.sum(pc.greater(pc.list_value_length(lists), 0)).as_py() or 0) if is_known else 0
        if 0 < having < len(lists):
            text = "%d of %d samples have choices, which exact_match does not know: name metrics, or judge them apart."
            _logger.warning(text, having, len(lists))
        return 0 < having == len(lists)

    @cached_property
    def _num_without_target(self) -> int:
        """The number of samples without target; warns once if others have one. [] is a target: nothing is correct."""
        pairs = zip(self.ids, self.samples.dataset["target"][:], strict=True)
        absent = [one for one, target in pairs if target is None or target == ""]
        if 0 < len(absent) < len(self.ids):
            names = ", ".join(absent[:_SHOWN]) + (", …" if len(absent) > _SHOWN else "")
            text = "%d of %d samples have no target, and any answer to them counts as wrong: %s."
            _logger.warning(text, len(absent), len(self.ids), names)
        return len(absent)

    @cached_property
    def ids(self) -> list[str]:
        """The id of every sample, in order; ids are unique."""
        ids = [str(one) for one in self.samples.dataset["id"]]
        if twice := [one for one, times in Counter(ids).items() if times > 1]:
            raise ArgumentError("data", self.name, f"ids must differ, and these occur again: {', '.join(twice[:10])}.")
        return ids


def questions_of(data: Any, fields: Any = None, synthetic: bool = False) -> Questions:
    """Questions from a benchmark or its name, a dataset, a file, a list, or the result of a sampler."""
    if synthetic:
        return questions_of(_synthetic(data))
    if isinstance(data, Questions):
        return data
    if isinstance(data, Drawn):
        whole = questions_of(data.data, fields)
        return Questions(whole.samples, whole.entry, whole.provenance, data.info)
    if isinstance(data, str) and _names_a_benchmark(data):
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


def _names_a_benchmark(name: str) -> bool:
    """Whether a text is the name of a benchmark rather than a path or a URL; raises if it is none of these."""
    from crucible_datasets.benchmarks.catalog.registry import Catalog

    if os.path.isfile(name) or name.endswith(".toml"):
        return name.endswith(".toml")
    if name in Catalog():
        return True
    if os.path.isdir(name) or "://" in name:
        return False
    if is_missing_file(name) or "/" in name:
        reason = "there is no such file, and no benchmark is called so."
        raise FileNotFoundDatasetsError(name, reason, names_beside(name))
    return True  # `load_benchmark` raises an error that lists them


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
        expected = "expected a benchmark or its name, samples, a dataset, a file or a list"
        expected += "; the model comes first in the call." if callable(data) else "."
        raise ArgumentError("data", type(data).__name__, expected)
    rows = list(data)
    strangers = [row for row in rows if not isinstance(row, (Sample, Mapping))]
    if strangers:
        raise ArgumentTypeError("data", strangers[0], "expected samples or dicts; predictions come first in the call.")
    are_samples = fields is None and all(isinstance(row, Sample) or _is_like_sample(row) for row in rows)
    return samples_from(rows) if are_samples else load_samples(rows, fields)


def _is_like_sample(row: Mapping[str, Any]) -> bool:
    """Whether a row has exactly the fields of a sample, so that no columns must be detected or converted."""
    targets = row.get("target", "")
    texts = targets if isinstance(targets, list) else [targets]
    return {"id", "input"} <= row.keys() <= _FIELDS and all(isinstance(one, str) for one in texts)
