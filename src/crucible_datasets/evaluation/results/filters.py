"""Conditions of queries for runs, shared by the store and its copy in a database."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any

from msgspec import Struct

from crucible_datasets.evaluation.metrics.known import known_metric
from crucible_datasets.evaluation.results.runfile import StoredRun
from crucible_datasets.exceptions import ArgumentError, UnknownEntryError

Range = tuple[float | None, float | None]


class Condition(Struct, frozen=True):
    """The conditions on a run. Names may contain `*`; one of several names must match; all tags must be present."""

    names: dict[str, list[str]]
    scores: dict[str, Range]
    since: str | None
    until: str | None
    tags: list[str]

    def holds(self, run: StoredRun) -> bool:
        """Whether a run meets the conditions."""
        info = run.info
        return (
            all(_fits(getattr(info, field), patterns) for field, patterns in self.names.items())
            and (self.since is None or info.created_at >= self.since)
            and (self.until is None or info.created_at < self.until)
            and set(self.tags) <= set(info.tags)
            and all(_within(run, metric, limits) for metric, limits in self.scores.items())
        )

    def refuse_unknown_metrics(self, keys: Collection[str]) -> None:
        """Raise for a score that no run has and that is not the name of a metric, since it is misspelt."""
        for metric in self.scores:
            if keys and known_metric(metric) is None and not any(same_metric(metric, key) for key in keys):
                raise UnknownEntryError("metric", metric, sorted(keys))


def condition(
    *,
    names: Mapping[str, str | Iterable[str] | None],
    scores: Mapping[str, Any] | None,
    since: str | date | None,
    until: str | date | None,
    tags: str | Iterable[str],
) -> Condition:
    """Conditions from the arguments of `query`; `scores={"exact_match": (0.5, None)}` are a minimum and a maximum."""
    return Condition(
        {field: _several(asked) for field, asked in names.items() if asked is not None},
        {_known(metric): _range(metric, limits) for metric, limits in (scores or {}).items()},
        moment_of(since, "since"),
        moment_of(until, "until"),
        _several(tags),
    )


def as_expression(pattern: str) -> str:
    """A name with `*` as a regular expression."""
    return "".join(".*" if part == "*" else re.escape(part) for part in re.split(r"(\*)", pattern))


def same_metric(asked: str, key: str) -> bool:
    """Whether `asked` (`exact_match` or `exact_match@2`) means the metric `key` of a run."""
    return asked in {key, key.rpartition("@")[0]}


def _known(metric: str) -> str:
    """The canonical name of a metric: token_f1 is f1; without a version, it means all versions."""
    found = known_metric(metric)
    if found is None:
        return metric
    return found.key if "@" in metric and metric.rpartition("@")[2] == found.version else found.name


def _several(asked: str | Iterable[str]) -> list[str]:
    return [asked] if isinstance(asked, str) else list(asked)


def _range(metric: str, limits: Any) -> Range:
    if isinstance(limits, (int, float)):
        return float(limits), None
    try:
        low, high = limits
        return None if low is None else float(low), None if high is None else float(high)
    except (TypeError, ValueError) as error:
        raise ArgumentError("scores", {metric: limits}, "must be the least value, or (least, greatest).") from error


def moment_of(asked: str | date | None, argument: str = "created_at") -> str | None:
    """A date or time in the format of runs; without a zone it is UTC."""
    if asked is None:
        return None
    try:
        given = datetime.fromisoformat(asked) if isinstance(asked, str) else asked
    except ValueError as error:
        raise ArgumentError(argument, asked, "must be a day or a moment, as 2026-11-16.") from error
    moment = given if isinstance(given, datetime) else datetime.combine(given, time())
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _fits(value: str | None, patterns: list[str]) -> bool:
    return value is not None and any(re.fullmatch(as_expression(one), value, re.DOTALL) for one in patterns)


def _within(run: StoredRun, metric: str, limits: Range) -> bool:
    low, high = limits
    values = [one.value for key, one in run.summary.items() if same_metric(metric, key)]
    return any(
        value is not None and (low is None or value >= low) and (high is None or value <= high) for value in values
    )
