"""Whether runs are comparable: the same data, metric, rule and options, so that only the models differ."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from crucible_datasets.evaluation.results.encoding import encode
from crucible_datasets.evaluation.runs.record import EvaluationResult
from crucible_datasets.exceptions import IncomparableRunsError, UnknownEntryError


def require_comparable(
    runs: Sequence[tuple[str, EvaluationResult]], metric: str | None, ignore_metadata: bool = False
) -> str:
    """The metric that all runs have; raises if anything that affects scores differs between them."""
    (first, reference), *others = runs
    key = reference.key(metric)
    for name, result in others:
        found = _same_metric(result, key)
        if found != key:
            raise IncomparableRunsError("metric", first, key, name, found)
        for what, fact in _SAME:
            if fact(reference, key) != fact(result, key):
                alike = what == _DATA and _questions(reference) == _questions(result)
                if alike and ignore_metadata:
                    continue
                sizes = (len(set(reference.ids)), len(set(result.ids))) if what == _DATA else None
                raise IncomparableRunsError(what, first, fact(reference, key), name, fact(result, key), sizes, alike)
        _require_same_policy(first, reference, name, result, key)
    return key


def _content(result: EvaluationResult) -> str:
    """The hash of the data; if it is unknown, a hash of the sample ids."""
    if result.info.dataset_hash is not None:
        return result.info.dataset_hash
    ids = "\0".join(sorted(result.ids))
    return f"unknown, {len(result.ids)} ids with hash {hashlib.sha256(ids.encode()).hexdigest()[:16]}"


def _questions(result: EvaluationResult) -> dict[str, bytes]:
    """What affects scores of each sample: input, target and choices, but not metadata."""
    columns = [result.samples.at(field) for field in ("input", "target", "choices")]
    return {id: encode(fields) for id, *fields in zip(result.samples.ids(), *columns, strict=True)}


_DATA = "dataset hash"
# What must be equal: its name, and a function that gets it from a run and a metric.
_SAME: tuple[tuple[str, Callable[[EvaluationResult, str], Any]], ...] = (
    (_DATA, lambda result, key: _content(result)),
    ("rules", lambda result, key: sorted(result.info.rules)),
    ("metric options", lambda result, key: result.info.options.get("metric_options", {}).get(key) or {}),
)


def _same_metric(result: EvaluationResult, key: str) -> str:
    """The key of a run's metric with this name, in any version."""
    try:
        return result.key(key)
    except UnknownEntryError:
        name = key.rpartition("@")[0]
        return next((found for found in result.summary if found.rpartition("@")[0] == name), ", ".join(result.summary))


def _require_same_policy(
    first: str, reference: EvaluationResult, name: str, result: EvaluationResult, key: str
) -> None:
    """Raise if missing predictions count differently; a run without missing predictions fits any policy."""
    lacking = [run for run in (reference, result) if run.summary[key].counts.get("missing")]
    ignored = any(run.info.missing == "ignore" for run in lacking)
    if (len(lacking) == 2 or ignored) and reference.info.missing != result.info.missing:
        what = "policy for missing predictions"
        raise IncomparableRunsError(what, first, reference.info.missing, name, result.info.missing)
