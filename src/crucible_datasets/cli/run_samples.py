"""The samples of one run, by outcome: wrong, correct, unparsed, failed."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from crucible_datasets.cli.command import require_count
from crucible_datasets.cli.output import Output, Records, Table

if TYPE_CHECKING:
    from crucible_datasets.evaluation.outcome import Outcome
    from crucible_datasets.evaluation.runs.record import EvaluationResult

KINDS = ("wrong", "right", "unparsed", "failed", "all")
_NONE = {"all": "no sample", "failed": "no sample failed"}
_UNREAD = ("unparsed", "empty", "truncated", "refused")
_SHOWN = ("id", "input", "target", "prediction", "extracted", "score", "status")


def answers(result: EvaluationResult, kind: str, metric: str | None, limit: int) -> Output:
    """The first answers of a kind under one metric; 1 is correct, as in `results diff`.

    Questions and answers are not cut: if they do not fit into a table, each field has its own line.
    """
    require_count(limit, "limit")
    key = result.key(metric)
    found = (
        {
            "id": sample.id,
            "score": outcome.value,
            "status": outcome.status,
            "target": sample.target,
            "extracted": outcome.extracted,
            "prediction": sample.prediction,
            "input": sample.input,
        }
        for sample in result.samples
        if is_kind(outcome := sample.outcomes[key], kind)
    )
    rows = list(islice(found, limit))
    names = [name for name in _SHOWN if any(row[name] is not None for row in rows)]
    return Records(names, rows) if rows else Table((), (), _NONE.get(kind, f"no sample is {kind}"))


def is_kind(outcome: Outcome, kind: str) -> bool:
    """Whether an outcome is of this kind. Unparsed ones are also wrong; those without a value are neither."""
    if kind in ("right", "wrong"):
        return outcome.value is not None and (outcome.value >= 1) == (kind == "right")
    if kind == "unparsed":
        return outcome.status in _UNREAD
    return kind == "all" or outcome.status not in ("ok", *_UNREAD)
