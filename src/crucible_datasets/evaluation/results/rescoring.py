"""Scoring stored predictions again, with other rules or metrics, and which samples changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.results.places import new_run_id, now
from crucible_datasets.evaluation.results.runfile import batches
from crucible_datasets.evaluation.runs.counting import Counting
from crucible_datasets.evaluation.runs.judging import AsMetrics, Judging, judging, without_permission
from crucible_datasets.evaluation.runs.record import EvaluationResult, RunInfo, SampleList, SampleResult
from crucible_datasets.keywords import passing_on, refuse_unknown_keywords
from crucible_datasets.progress import bar


@dataclass(frozen=True)
class Move:
    """A sample whose value changed."""

    id: str
    epoch: int
    prediction: Any
    before: Outcome
    after: Outcome


@dataclass(frozen=True)
class Rescored:
    """The old run, the new run, and the samples that changed under their common metric."""

    before: EvaluationResult
    result: EvaluationResult
    metric: str
    moved: list[Move] = field(repr=False)
    run_id: str | None = None

    def kept(self, run_id: str) -> Rescored:
        """The same with the run id under which it was stored."""
        return replace(self, run_id=run_id)

    @property
    def up(self) -> list[Move]:
        """The samples whose value rose."""
        return [move for move in self.moved if (move.after.value or 0) > (move.before.value or 0)]

    @property
    def down(self) -> list[Move]:
        """The samples whose value fell."""
        return [move for move in self.moved if (move.after.value or 0) < (move.before.value or 0)]

    def __str__(self) -> str:
        old, new = self.before.summary, self.result.summary
        first, second = (_shown(one) for one in (next(iter(old.values())).value, new[self.metric].value))
        moved = f"{len(self.moved)} samples moved: {len(self.up)} up, {len(self.down)} down"
        return f"{self.metric}: {first} → {second} ({_rules(self.before)} → {_rules(self.result)}); {moved}"


def rescored(
    before: EvaluationResult,
    metrics: AsMetrics | None = None,
    *,
    extract: Any = None,
    run_id: str | None = None,
    metric_options: Mapping[str, Mapping[str, Any]] | None = None,
    **shared: Any,
) -> Rescored:
    """Score the predictions of a run again; arguments default to those of the run, `extract=False` means no rule."""
    how = judging(
        list(before.summary) if metrics is None else metrics,
        next(iter(before.info.rules), False) if extract is None else extract,
        _recorded(before) if metric_options is None and metrics is None else metric_options,
        before.info.missing,
        shared,
    )
    names = [name for metric in how.metrics.values() for name in metric.options]
    with passing_on(rescored):
        refuse_unknown_keywords(", ".join(how.metrics), shared, [*names, "allow_code_execution"])
    info = _info(before.info, how, run_id)
    samples, counting = SampleList(), Counting(info, how.metrics)
    with bar(total=len(before), desc="Rescoring", unit=" samples") as progress:
        for batch in batches(before.samples):
            judged = _judged(batch, how)
            samples += judged
            counting.add(judged)
            progress.update(len(batch))
    result = EvaluationResult(info, samples, counting.summary())
    key, old_key = _shared_metric(before, how)
    return Rescored(before, result, key, _moves(before, samples, old_key, key))


def _recorded(before: EvaluationResult) -> dict[str, dict[str, Any]]:
    return without_permission(before.info.options.get("metric_options") or {})


def _info(old: RunInfo, how: Judging, run_id: str | None) -> RunInfo:
    return msgspec.structs.replace(
        old,
        run_id=run_id or new_run_id(old.model, old.dataset),
        created_at=now(),
        rules=how.rules,
        metrics=list(how.metrics),
        options={**old.options, "metric_options": how.recorded, "rescored_from": old.run_id},
    )


def _judged(batch: list[SampleResult], how: Judging) -> list[SampleResult]:
    outcomes = how.outcomes([one.prediction for one in batch], [one.target for one in batch], batch)
    return [msgspec.structs.replace(one, outcomes=judged) for one, judged in zip(batch, outcomes, strict=True)]


def _shared_metric(before: EvaluationResult, how: Judging) -> tuple[str, str]:
    """The first metric that both have in any version, else the first of each."""
    for key, metric in how.metrics.items():
        for old in before.summary:
            if old.rpartition("@")[0] == metric.name:
                return key, old
    return next(iter(how.metrics)), next(iter(before.summary))


def _moves(before: EvaluationResult, after: SampleList, old_key: str, key: str) -> list[Move]:
    pairs = zip(before.samples.outcomes(old_key), after, strict=True)
    return [
        Move(sample.id, sample.epoch, sample.prediction, was, sample.outcomes[key])
        for was, sample in pairs
        if (was.value, was.status) != (sample.outcomes[key].value, sample.outcomes[key].status)
    ]


def _rules(result: EvaluationResult) -> str:
    return ", ".join(result.info.rules) or "no rule"


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
