"""`compare`: which model is better, by how much, and how certain that is.

Runs are grouped by benchmark, checked (comparability), paired sample by sample (matching) and tested; p-values are
corrected for the number of rows in the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import msgspec
import numpy as np

from crucible_datasets.evaluation.comparing.comparability import require_comparable
from crucible_datasets.evaluation.comparing.compared import ComparedScore, ComparisonRow, ComparisonTable
from crucible_datasets.evaluation.comparing.matching import clusters_of, is_corpus, matched
from crucible_datasets.evaluation.results.runfile import StoredRun
from crucible_datasets.evaluation.runs.record import EvaluationResult
from crucible_datasets.evaluation.runs.shown import data_name
from crucible_datasets.evaluation.statistics.corrections import adjusted, correction_named
from crucible_datasets.evaluation.statistics.means import mean_interval
from crucible_datasets.evaluation.statistics.pairs import PairedDifference
from crucible_datasets.evaluation.statistics.student import critical
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, IncomparableRunsError


@dataclass(frozen=True)
class Run:
    """A result with the names of its model and benchmark in the table."""

    model: str
    benchmark: str
    result: EvaluationResult


def compare(
    *results: Any,
    metric: str | Sequence[str] | None = None,
    baseline: str | None = None,
    level: float = 0.95,
    correction: str | None = "holm",
    cluster_by: str | None = None,
    by: str | None = None,
    ignore_metadata: bool = False,
    seed: int = 0,
) -> ComparisonTable:
    """Compare models pairwise, on every benchmark that at least two of them have, over the samples that both have.

    `results` are EvaluationResults or runs listed by a store, lists of them, or dicts of them by model, or by model
    and benchmark. `metric` defaults to the first metric of each benchmark. With `baseline`, every model is compared
    with that one only. `cluster_by` is a field such as "metadata.document": samples with equal values form a cluster.
    `by` is a field whose every value gets its own rows. Runs on different data, or scored by different versions of a
    rule or a metric, raise an error; with `ignore_metadata`, data may differ in the metadata of its samples, if ids,
    inputs, targets and choices are the same.
    """
    runs = list(_runs(results))
    critical(level)
    correction = correction_named(correction)
    if baseline is not None and baseline not in {run.model for run in runs}:
        raise ArgumentError("baseline", baseline, f"the models are {', '.join(dict.fromkeys(r.model for r in runs))}.")
    rows: list[ComparisonRow] = []
    scores: list[ComparedScore] = []
    for together in _by_benchmark(runs):
        for asked in [metric] if metric is None or isinstance(metric, str) else metric:
            key = require_comparable([(run.model, run.result) for run in together], asked, ignore_metadata)
            scores += [_score(run, key, level, cluster_by) for run in together]
            pairs = _pairs(together, baseline)
            for first, second in pairs:
                rows += _rows(first, second, key, level, cluster_by, by, seed)
    if not rows:
        raise IncomparableRunsError("benchmark", *_alone(runs))
    corrected = adjusted([row.p_value for row in rows], correction)
    final = [msgspec.structs.replace(row, p_adjusted=float(p)) for row, p in zip(rows, corrected, strict=True)]
    return ComparisonTable(final, scores, level, correction)


def _runs(results: Iterable[Any]) -> Iterator[Run]:
    for given in map(_loaded, results):
        if isinstance(given, EvaluationResult):
            yield Run(given.info.model, _benchmark(given), given)
        elif isinstance(given, Mapping):
            for model, inner in given.items():
                yield from _named(str(model), inner)
        elif isinstance(given, (list, tuple)):
            yield from _runs(given)
        else:
            raise _no_result(given)


def _loaded(given: Any) -> Any:
    return given.load() if isinstance(given, StoredRun) else given


def _no_result(given: Any) -> ArgumentTypeError:
    expected = "expected results of `evaluate`, runs of `store.list()`, or dicts of them."
    hint = " The run of an id is `store.load(id)`." if isinstance(given, str) else ""
    return ArgumentTypeError("results", given if hint else type(given).__name__, expected + hint)


def _named(model: str, inner: Any) -> Iterator[Run]:
    """The runs of one model in a mapping: a result, several, or one per benchmark."""
    inner = _loaded(inner)
    if isinstance(inner, EvaluationResult):
        yield Run(model, _benchmark(inner), inner)
        return
    if not isinstance(inner, (Mapping, list, tuple)):
        raise ArgumentTypeError("results", type(inner).__name__, f"expected the results of {model!r}.")
    named = inner.items() if isinstance(inner, Mapping) else [(None, result) for result in inner]
    for benchmark, result in ((benchmark, _loaded(one)) for benchmark, one in named):
        if not isinstance(result, EvaluationResult):
            raise ArgumentTypeError("results", type(result).__name__, f"expected the results of {model!r}.")
        yield Run(model, str(benchmark) if benchmark is not None else _benchmark(result), result)


def _benchmark(result: EvaluationResult) -> str:
    info = result.info
    return data_name(info, "/".join(part for part in (info.dataset, info.config, info.split) if part))


def _by_benchmark(runs: list[Run]) -> list[list[Run]]:
    """The runs by benchmark. If a model ran twice on one, the run ids are added to its name."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.benchmark, []).append(run)
    return [_with_unique_names(group) for group in groups.values()]


def _with_unique_names(group: list[Run]) -> list[Run]:
    names = [run.model for run in group]
    return [
        run
        if names.count(run.model) == 1
        else Run(f"{run.model} ({run.result.info.run_id})", run.benchmark, run.result)
        for run in group
    ]


def _pairs(runs: list[Run], baseline: str | None) -> list[tuple[Run, Run]]:
    if baseline is None:
        return list(combinations(runs, 2))
    base = [run for run in runs if run.model == baseline]
    return [(base[0], run) for run in runs if run is not base[0]] if base else []


def _alone(runs: list[Run]) -> tuple[str, str, str, str]:
    """Two runs without a common benchmark, for the error."""
    if len(runs) < 2:
        raise ArgumentError("results", ", ".join(run.model for run in runs), "a comparison needs at least two runs.")
    first, second = runs[0], next((run for run in runs if run.benchmark != runs[0].benchmark), runs[1])
    return first.model, first.benchmark, second.model, second.benchmark


def _score(run: Run, key: str, level: float, cluster_by: str | None) -> ComparedScore:
    summary = run.result.summary[key]
    value, interval, stderr, n = summary.value, summary.interval, summary.stderr, summary.n
    if not is_corpus(key):
        values, clusters = run.result.values(key), clusters_of(run.result, cluster_by)
        counting = ~np.isnan(values)
        chosen = None if clusters is None else [clusters[place] for place in np.flatnonzero(counting)]
        estimate = mean_interval(values[counting], chosen, level)
        value, interval, stderr, n = estimate.value, estimate.interval, estimate.stderr, estimate.n
    return ComparedScore(run.benchmark, run.model, key, value, interval, stderr, n)


def _rows(
    first: Run, second: Run, key: str, level: float, cluster_by: str | None, by: str | None, seed: int
) -> Iterator[ComparisonRow]:
    """The row of two runs, or one per group of their samples."""
    shared = matched(first.result, second.result, key, cluster_by)
    if not shared.ids:
        sizes = [f"{len(run.result.ids)} samples" for run in (first, second)]
        raise IncomparableRunsError("samples", first.model, sizes[0], second.model, f"{sizes[1]}, none in both")
    parts = [(None, shared)] if by is None else shared.by(by)
    for group, part in parts:
        yield ComparisonRow(
            benchmark=first.benchmark,
            group=None if by is None else str(group),
            metric=key,
            first=first.model,
            second=second.model,
            left_out=part.left_out,
            higher_is_better=first.result.summary[key].higher_is_better,
            **_facts(part.difference(level, seed)),
        )


def _facts(difference: PairedDifference) -> dict[str, Any]:
    facts = msgspec.structs.asdict(difference)
    names = {"first": "first_value", "second": "second_value"}
    return {names.get(name, name): value for name, value in facts.items()} | {"p_adjusted": difference.p_value}
