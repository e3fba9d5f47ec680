"""Shared by imports: results from samples of other programs."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable
from typing import Any

import msgspec

from crucible_datasets.evaluation.results.encoding import encode
from crucible_datasets.evaluation.results.filters import moment_of
from crucible_datasets.evaluation.results.places import new_run_id, now
from crucible_datasets.evaluation.runs.counting import Counting
from crucible_datasets.evaluation.runs.record import EvaluationResult, RunInfo, SampleList, SampleResult

_WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def imported(samples: Iterable[SampleResult], lower_is_better: Collection[str] = (), **facts: Any) -> EvaluationResult:
    """A result from samples of another program; summaries are computed here."""
    rows = SampleList(samples)
    from crucible_datasets import __version__

    made = {"run_id": new_run_id(facts["model"], facts["dataset"]), "created_at": now(), "library_version": __version__}
    facts["created_at"] = moment_of(facts.get("created_at") or None) or made["created_at"]
    info = RunInfo(**{**made, **facts, "metrics": list(dict.fromkeys(key for one in rows for key in one.outcomes))})
    counting = Counting(info)
    counting.add(rows)
    info = msgspec.structs.replace(info, num_samples=counting.num_samples)
    summary = counting.summary()
    for key in lower_is_better:
        if key in summary:
            summary[key] = msgspec.structs.replace(summary[key], higher_is_better=False)
    return EvaluationResult(info, rows, summary)


def content_hash(questions: Iterable[Any]) -> str:
    """The hash of the samples of an imported run: equal for two runs over the same samples."""
    digest = hashlib.sha256()
    for line in sorted(encode(question) for question in questions):
        digest.update(line + b"\n")
    return digest.hexdigest()


def number(value: Any) -> float | None:
    """A score as a number, from a number, a letter of inspect_ai or a text; None if it is none of these."""
    if isinstance(value, (bool, int, float)):
        return float(value) if math.isfinite(value) else None
    if not isinstance(value, str):
        return None
    if value in _WORDS or value.lower() in _WORDS:
        return _WORDS.get(value, _WORDS.get(value.lower()))
    try:
        found = float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def reason_of(error: Exception) -> str:
    """The reason for an error of reading, as text."""
    if isinstance(error, KeyError):
        return f"there is no field {error}"
    return "it is built otherwise" if isinstance(error, (AttributeError, TypeError)) else str(error)
