"""`evaluate`: scores of predictions, per sample and aggregated with uncertainty."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from crucible_datasets import config
from crucible_datasets.evaluation.predictions.cache import prediction_cache
from crucible_datasets.evaluation.predictions.forms import is_function
from crucible_datasets.evaluation.predictions.generating import Generation
from crucible_datasets.evaluation.results.store import ResultStore
from crucible_datasets.evaluation.runs.judging import AsMetrics, judging
from crucible_datasets.evaluation.runs.questions import questions_of
from crucible_datasets.evaluation.runs.record import EvaluationResult
from crucible_datasets.evaluation.runs.running import EvaluationCall, run
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError
from crucible_datasets.exceptions.base import listed
from crucible_datasets.executors.base import Executor, executor_of
from crucible_datasets.reading.format_choice import stem_of


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
    synthetic: bool = False,
    prediction_column: str | None = None,
    id_column: str | None = None,
    concurrency: int | None = None,
    repeats: int = 1,
    timeout: float | None = None,
    cache: bool | str | os.PathLike[str] = True,
    cache_key: str | None = None,
    executor: str | Executor | None = None,
) -> EvaluationResult:
    """Score predictions on a benchmark, on samples or on a dataset.

    `predictions` is a list as long as the data, a dict of ids, a JSONL, JSON, CSV or Parquet file, a dataset, a column,
    or a function of a sample, which may be async. `data` is a benchmark or its name, samples, a dataset, a file, a list
    of samples or rows, or the result of a sampler. Metrics and the extraction rule (`extract`) default to those of
    the benchmark; `extract=False` means no rule. `missing` is how samples without prediction count: "error", "wrong"
    or "ignore". `synthetic` uses the generated miniature of a benchmark instead of its data. `executor` ("processes",
    "ray" or a RayExecutor) calls the function and the metrics; results are stored by this process. `resume` continues
    the run `run_id` of the `store`, and begins it if there is none.
    """
    kept_in = _store(store)
    if resume:
        _require_named_run(kept_in, run_id)
    questions = questions_of(data, fields, synthetic)
    if metrics is None:
        questions.refuse_without_metric()
    chosen = questions.metrics if metrics is None else metrics
    rule = questions.extract if extract is None else extract
    how = judging(chosen, rule, metric_options, missing, {"allow_code_execution": allow_code_execution})
    questions.refuse_without_targets(how.metrics.values())
    name = model or _name(predictions)
    facts = {**questions.drawn, "metric_options": how.recorded, "level": level, "seed": seed, "repeats": repeats}
    call = EvaluationCall(
        questions=questions,
        how=how,
        model=name,
        tags=[tags] if isinstance(tags, str) else list(tags),
        options={**(options or {}), **facts},
        cluster_by=questions.checked_field(cluster_by),
        columns=(prediction_column, id_column),
        store=kept_in,
        run_id=run_id,
        resume=resume,
        executor=_executor(executor),
    )
    if not is_function(predictions):
        return run(call, predictions)
    how.check_ready()
    answers = prediction_cache(predictions, name, cache, cache_key) if cache else None
    with nullcontext() if answers is None else answers:
        is_tolerant = missing != "error"
        asked = Generation(predictions, how.reads, concurrency, repeats, timeout, is_tolerant, answers)
        return run(replace(call, how=replace(how, generated=True)), asked)


def evaluate_many(predictions: Mapping[str, Any], data: Any, *args: Any, **kwargs: Any) -> dict[str, EvaluationResult]:
    """Score the predictions of several models on the same samples; the other arguments are those of `evaluate`."""
    _refuse_no_models(predictions, kwargs.get("run_id"))
    questions = questions_of(data, kwargs.pop("fields", None), kwargs.pop("synthetic", False))
    found: dict[str, EvaluationResult] = {}
    for model, given in predictions.items():
        try:
            found[model] = evaluate(given, questions, *args, **{"model": model, **kwargs})
        except Exception as error:
            if len(predictions) > 1:
                error.add_note(f"This is about the predictions of {model!r}.{_kept(found, kwargs.get('store'))}")
            raise
    return found


def _kept(found: Mapping[str, EvaluationResult], store: Any) -> str:
    """A note on which runs are in the store already, for the error."""
    return f" Kept before: {', '.join(run.info.run_id for run in found.values())}." if found and store else ""


def _refuse_no_models(predictions: Any, run_id: str | None) -> None:
    if not isinstance(predictions, Mapping):
        kind = type(predictions).__name__
        raise ArgumentTypeError("predictions", kind, "expected a dict of models: {name: predictions}.")
    if run_id is not None and len(predictions) > 1:
        raise ArgumentError("run_id", run_id, "each model is a run of its own: call `evaluate` for each.")


def _store(given: Any) -> ResultStore | None:
    if given is None or isinstance(given, ResultStore):
        return given
    if isinstance(given, (str, os.PathLike)):
        return ResultStore(given)
    reason = "expected a folder or a ResultStore; ResultStore() is the one of the settings."
    raise ArgumentTypeError("store", given, reason)


def _require_named_run(store: ResultStore | None, run_id: str | None) -> None:
    """Raise if it is not said which run to continue: everything would be run again without a word."""
    if store is None:
        raise ArgumentError("resume", True, "pass store= and run_id= too: where the run is kept, and its name.")
    if run_id is None:
        begun = listed((run.info.run_id for run in store.unfinished()), 10)
        reason = f"pass run_id= too, the name of the run. Unfinished in {store.path}: {begun}."
        raise ArgumentError("resume", True, reason)


def _executor(given: str | Executor | None) -> Executor | None:
    chosen = executor_of(given or config.CRUCIBLE_EXECUTOR or "serial")
    return None if chosen.name == "serial" else chosen


def _name(predictions: Any) -> str:
    if isinstance(predictions, (str, os.PathLike)):
        return stem_of(os.fspath(predictions))
    if not is_function(predictions):
        return "unknown"
    inner = getattr(predictions, "func", predictions)  # of a partial
    return str(getattr(inner, "__name__", type(inner).__name__))
