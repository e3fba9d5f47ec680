"""`read_log`: a log of any supported program."""

from __future__ import annotations

import os

from crucible_datasets.evaluation.runs.record import EvaluationResult


def read_log(path: str | os.PathLike[str], model: str | None = None) -> EvaluationResult:
    """A log of inspect_ai (`.eval`, `.json`) or the samples of lm-eval (`.jsonl`) as a result."""
    path = os.path.expanduser(os.fspath(path))
    if path.lower().endswith(".jsonl"):
        from crucible_datasets.evaluation.imports.lm_eval import from_lm_eval_samples

        return from_lm_eval_samples(path, model)
    from crucible_datasets.evaluation.imports.inspect_logs import from_inspect_log

    return from_inspect_log(path, model)
