"""`evaluate`: predictions judged against samples, every sample kept, the whole with its uncertainty."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import Any

from crucible_datasets.evaluation.generating import Generation
from crucible_datasets.evaluation.judging import AsMetrics, judging
from crucible_datasets.evaluation.prediction_cache import prediction_cache
from crucible_datasets.evaluation.predictions import is_function
from crucible_datasets.evaluation.questions import questions_of
from crucible_datasets.evaluation.record import EvaluationResult
from crucible_datasets.evaluation.results.store import ResultStore
from crucible_datasets.evaluation.running import Asked, run


def evaluate(
    predictions: Any,
    data: Any,
    metrics: AsMetrics | None = None,
    *,
    model: str | None = None,
    extract: Any = None,
    missing: str = "error",
    metric_options: Mapping[str, Mapping[str, Any]] | None = None,
    allow_code_execution: bool = False,
    cluster_by: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    store: ResultStore | str | os.PathLike[str] | None = None,
    run_id: str | None = None,
    resume: bool = False,
    tags: str | Iterable[str] = (),
    options: Mapping[str, Any] | None = None,
    fields: Any = None,
    prediction_column: str | None = None,
    id_column: str | None = None,
    concurrency: int | None = None,
    repeats: int = 1,
    timeout: float | None = None,
    cache: bool | str | os.PathLike[str] = True,
    cache_key: str | None = None,
) -> EvaluationResult:
    """Judge predictions on a benchmark, on samples or on a dataset.

    `predictions` is a list as long as the data, a dict of ids, a JSONL, JSON, CSV or Parquet file, a dataset, a column,
    or a function of a sample, which may be async. Metrics and the rule that reads answers (`extract`) default to
    those of the benchmark; `extract=False` means no rule. `missing` says what a sample without a prediction counts:
    "error", "wrong" or "ignore".
    """
    questions = questions_of(data, fields)
    chosen = questions.metrics if metrics is None else metrics
    rule = questions.extract if extract is None else extract
    how = judging(chosen, rule, metric_options, missing, {"allow_code_execution": allow_code_execution})
    name = model or _name(predictions)
    asked = Asked(
        questions=questions,
        how=how,
        model=name,
        tags=[tags] if isinstance(tags, str) else list(tags),
        options={**(options or {}), "metric_options": how.recorded, "level": level, "seed": seed, "repeats": repeats},
        cluster_by=cluster_by,
        columns=(prediction_column, id_column),
        store=ResultStore(store) if isinstance(store, (str, os.PathLike)) else store,
        run_id=run_id,
        resume=resume,
    )
    if not is_function(predictions):
        return run(asked, predictions)
    kept = prediction_cache(predictions, name, cache, cache_key) if cache else nullcontext()
    with kept as book:
        return run(asked, Generation(predictions, concurrency, repeats, timeout, missing != "error", book))


def evaluate_many(predictions: Mapping[str, Any], data: Any, *args: Any, **kwargs: Any) -> dict[str, EvaluationResult]:
    """Judge the predictions of several models on the same samples; the other arguments are those of `evaluate`."""
    questions = questions_of(data, kwargs.pop("fields", None))
    return {
        model: evaluate(given, questions, *args, **{"model": model, **kwargs}) for model, given in predictions.items()
    }


def _name(predictions: Any) -> str:
    if isinstance(predictions, (str, os.PathLike)):
        return os.path.splitext(os.path.basename(os.fspath(predictions)))[0]
    return str(getattr(predictions, "__name__", "unknown")) if is_function(predictions) else "unknown"
