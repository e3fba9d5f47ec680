"""How answers are scored: metrics, extraction rule and options, for new and for stored answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crucible_datasets.evaluation.metrics.base import Metric, metric_of
from crucible_datasets.evaluation.metrics.known import known_key
from crucible_datasets.evaluation.metrics.passing import keeping_verdicts
from crucible_datasets.evaluation.outcome import MISSING, Outcome
from crucible_datasets.evaluation.predictions.responses import are_numbers_by_name
from crucible_datasets.evaluation.rules.base import Rule, rule_of
from crucible_datasets.exceptions import ArgumentError, CodeExecutionRefusedError, PredictionsError
from crucible_datasets.registry import need

POLICIES = ("error", "wrong", "ignore")
LEAVE = "allow_code_execution"
_WITHOUT_THINKING = "strip_thinking@2"
DEFAULT_METRICS = ("exact_match",)
AsMetric = str | Metric | Callable[..., Any]
AsMetrics = AsMetric | Sequence[AsMetric] | Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Judging:
    """Metrics with their options, the extraction rule, and the policy for missing answers."""

    metrics: dict[str, Metric]
    options: dict[str, dict[str, Any]]
    rule: Rule | None
    missing: str
    generated: bool = False  # by a function: one answer that cannot be judged does not end the run

    @property
    def rules(self) -> list[str]:
        """The rule in the form that runs record."""
        return [] if self.rule is None else [self.rule.key]

    @property
    def together(self) -> bool:
        """Whether all answers to a question are scored together, as by pass@k."""
        return any(getattr(metric, "several", False) for metric in self.metrics.values())

    @property
    def numbers_are_one(self) -> bool:
        """Whether a list of numbers is one answer, such as two rewards."""
        return any(metric.numbers_are_one for metric in self.metrics.values())

    def reads(self, answer: Mapping[str, Any]) -> bool:
        """Whether a metric reads a mapping: users' functions any, those of this library know theirs by its fields."""
        numbers = are_numbers_by_name(answer)
        return "answer" in answer or any(
            not metric.is_built_in or (numbers and metric.numbers_by_name) for metric in self.metrics.values()
        )

    def check_ready(self) -> None:
        """Raise errors that would otherwise come after the model was called: a missing package or permission."""
        for key, metric in self.metrics.items():
            if metric.package is not None and metric.extra is not None:
                need(metric.package, extra=metric.extra)
            # Metrics of several answers also accept verdicts, which need no permission to run code.
            if LEAVE in metric.options and not metric.several and not self.options.get(key, {}).get(LEAVE):
                raise CodeExecutionRefusedError(metric.name)

    def outcomes(
        self, predictions: Sequence[Any], targets: Sequence[Any], samples: Sequence[Any]
    ) -> list[dict[str, Outcome]]:
        """The outcome of every prediction under every metric."""
        with keeping_verdicts():
            columns = [self._column(key, predictions, targets, samples) for key in self.metrics]
        return [dict(zip(self.metrics, row, strict=True)) for row in zip(*columns, strict=True)]

    @property
    def recorded(self) -> dict[str, dict[str, Any]]:
        """The options in the form that runs record."""
        return without_permission(self.options)

    def _column(
        self, key: str, predictions: Sequence[Any], targets: Sequence[Any], samples: Sequence[Any]
    ) -> list[Outcome]:
        metric = self.metrics[key]
        found = [MISSING] * len(predictions)
        there = [place for place, given in enumerate(predictions) if given is not None]
        self._judge(metric, there, predictions, targets, samples, found)
        if self.missing == "wrong" and len(there) < len(predictions):
            absent = sorted(set(range(len(predictions))) - set(there))
            if metric.corpus or not metric.higher_is_better:
                # The value of a missing answer is that of an empty answer under the metric.
                self._judge(metric, absent, dict.fromkeys(absent, ""), targets, samples, found)
            for place in absent:
                found[place] = _wrong(metric, found[place])
        return found

    def _judge(
        self, metric: Metric, places: list[int], predictions: Any, targets: Any, samples: Any, found: list[Outcome]
    ) -> None:
        if places:
            columns = [[column[place] for place in places] for column in (predictions, targets, samples)]
            for place, outcome in zip(places, self._scored(metric, *columns), strict=True):
                found[place] = outcome

    def _scored(self, metric: Metric, *columns: list[Any]) -> list[Outcome]:
        """The outcomes of predictions, targets and samples; an error of one prediction says whose it is.

        Of what a function returned, it is the outcome of this one.
        """
        single: list[Outcome] = []

        def scored(predictions: list[Any], targets: list[Any], samples: list[Any]) -> list[Outcome]:
            options = self.options.get(metric.key, {})
            return metric.score_many(predictions, targets, extract=self.rule, samples=samples, **options)

        try:
            return scored(*columns)
        except PredictionsError:
            for prediction, target, sample in zip(*columns, strict=True):
                try:
                    single += scored([prediction], [target], [sample])
                except PredictionsError as error:
                    if self.generated:
                        single.append(Outcome(None, status="error", detail={"error": str(error)}))
                        continue
                    error.add_note(f"This is about the prediction for sample {str(sample.id)!r}.")
                    raise
            if self.generated:
                return single
            raise


def without_permission(options: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Options without the permission to run code, which is never stored or read from stored options."""
    kept = {key: {name: one for name, one in each.items() if name != LEAVE} for key, each in options.items()}
    return {key: each for key, each in kept.items() if each}


def _wrong(metric: Metric, of_nothing: Outcome) -> Outcome:
    value = 0.0 if metric.higher_is_better else of_nothing.value
    return Outcome(value, status="missing", detail=of_nothing.detail)


def judging(
    metrics: AsMetrics | None,
    extract: Any,
    options: Mapping[str, Mapping[str, Any]] | None,
    missing: str,
    shared: Mapping[str, Any] | None = None,
) -> Judging:
    """A `Judging` from the arguments of a call. `shared` are options for all metrics that have them."""
    if missing not in POLICIES:
        raise ArgumentError("missing", missing, f"expected one of {', '.join(map(repr, POLICIES))}.")
    chosen, given = _listed(metrics), dict(options or {})
    if isinstance(metrics, Mapping):
        given = {**metrics, **given}
    found = {metric.key: metric for metric in map(metric_of, chosen)}
    _require_known_options(found, given)
    by_key = {key: _options(metric, given, shared or {}) for key, metric in found.items()}
    kinds = {getattr(metric, "several", False) for metric in found.values()}
    if len(kinds) > 1:
        reason = "some judge all answers to a question together, others each one: evaluate them in calls of their own."
        raise ArgumentError("metrics", list(found), reason)
    rule = _usual_rule(found.values()) if extract is None else extract
    rule = None if rule in (None, False, "") else rule_of(rule)
    return Judging(found, {key: one for key, one in by_key.items() if one}, rule, missing)


def _usual_rule(metrics: Iterable[Metric]) -> str:
    """The rule of the metrics if they have one in common; else thinking is removed: it is no answer."""
    rules = {metric.reads for metric in metrics}
    return (rules.pop() if len(rules) == 1 else None) or _WITHOUT_THINKING


def _listed(metrics: AsMetrics | None) -> list[AsMetric]:
    if metrics is None:
        return list(DEFAULT_METRICS)
    if isinstance(metrics, (str, Metric)) or callable(metrics):
        return [metrics]
    if not metrics:
        raise ArgumentError("metrics", metrics, "name at least one metric.")
    return list(metrics)


def _require_known_options(metrics: Mapping[str, Metric], given: Mapping[str, Any]) -> None:
    for name in given:
        if not any(name in (key, metric.name) or known_key(name) == key for key, metric in metrics.items()):
            raise ArgumentError("metric_options", name, f"no such metric is evaluated: {', '.join(metrics)}.")


def _options(metric: Metric, given: Mapping[str, Mapping[str, Any]], shared: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: value for name, value in shared.items() if name in metric.options}
    for name, options in given.items():
        if name in (metric.key, metric.name) or known_key(name) == metric.key:
            own |= options
    return metric.spelt(own)
