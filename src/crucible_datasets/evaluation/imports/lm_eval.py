"""Samples that lm-evaluation-harness logs: one line per document and filter.

    {"doc_id": 0, "doc": {…}, "target": "18", "arguments": …, "resps": [["…"]], "filtered_resps": ["18"],
     "filter": "strict-match", "metrics": ["exact_match"], "exact_match": 1.0}

The results file next to it has the model and the version of the task.

Some metrics are computed over all samples, and logged as a pair of target and answer for each. Those of translation are
computed here by sacrebleu, as lm-eval does; the Brier score is the mean of those of the samples.
"""

from __future__ import annotations

import glob
import math
import os
import re
from collections.abc import Iterator
from typing import Any

from crucible_datasets.evaluation.imports.foreign import content_hash, imported, number, reason_of
from crucible_datasets.evaluation.metrics.base import METRICS
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.predictions.files import read_json, read_lines
from crucible_datasets.evaluation.runs.record import EvaluationResult, SampleResult
from crucible_datasets.exceptions import FileFormatError

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d:.-]+)\.jsonl")
_INVALID = "[invalid]"
_FIELDS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "doc_hash", "prompt_hash"}
_FIELDS |= {"target_hash", "metrics"}
_TRANSLATION = {"bleu", "chrf", "chrf++", "ter"}
_LOWER_IS_BETTER = {"ter", "brier_score", "wer", "perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte"}


def from_lm_eval_samples(
    path: str | os.PathLike[str], model: str | None = None, task: str | None = None
) -> EvaluationResult:
    """A file `samples_<task>_<time>.jsonl` as a result. `exact_match` of the filter `strict-match` is the metric
    `lm-eval/exact_match,strict-match@<version of the task>`.
    """
    name = os.fspath(path)
    rows = read_lines(name)
    named = _NAME.fullmatch(os.path.basename(name))
    results = _results_beside(name, named["time"]) if named else {}
    title = task or (named["task"] if named else os.path.splitext(os.path.basename(name))[0])
    version = str((results.get("versions") or {}).get(title, "0"))
    try:
        samples = list(_samples(rows, version))
        questions = {row["doc_id"]: (row["doc_id"], row.get("doc"), row.get("target")) for row in rows}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FileFormatError(name, f"these are no samples of lm-eval: {reason_of(error)}.") from error
    if not samples:
        raise FileFormatError(name, "there are no samples")
    directions = (results.get("higher_is_better") or {}).get(title) or {}
    keys = dict.fromkeys(key for sample in samples for key in sample.outcomes)
    return imported(
        samples,
        [key for key in keys if not directions.get(_name_of(key), _name_of(key) not in _LOWER_IS_BETTER)],
        model=model or results.get("model_name") or (results.get("config") or {}).get("model") or "unknown",
        dataset=title,
        dataset_hash=content_hash(questions.values()),
        rules=[f"lm-eval/{one}@{version}" for one in dict.fromkeys(str(row.get("filter", "none")) for row in rows)],
        options={"imported_from": os.path.basename(name), "lm_eval_commit": results.get("git_hash")},
    )


def _results_beside(path: str, time: str) -> dict[str, Any]:
    found = glob.glob(os.path.join(glob.escape(os.path.dirname(path)), f"results_{glob.escape(time)}.json"))
    read = read_json(found[0]) if found else {}
    return read if isinstance(read, dict) else {}


def _samples(rows: list[dict[str, Any]], version: str) -> Iterator[SampleResult]:
    """The samples; lines of one document under several filters are one sample with several outcomes."""
    by_document: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        by_document.setdefault(row["doc_id"], []).append(row)
    for document, lines in by_document.items():
        first = lines[0]
        said = _texts(first.get("resps"))
        yield SampleResult(
            id=str(document),
            prediction=said[0] if len(said) == 1 else said or None,
            target=first.get("target"),
            outcomes=dict(one for line in lines for one in _outcomes(line, version)),
            input=_prompt(first.get("arguments")),
            metadata={"doc": first.get("doc")},
        )


def _outcomes(line: dict[str, Any], version: str) -> Iterator[tuple[str, Outcome]]:
    chosen = str(line.get("filter", "none"))
    answers = _texts(line.get("filtered_resps"))
    extracted = answers[0] if len(answers) == 1 else None
    for name in line.get("metrics") or _metrics_in(line):
        outcome = _outcome(name, line.get(name), line)
        status = "unparsed" if extracted == _INVALID else outcome.status
        yield f"lm-eval/{name},{chosen}@{version}", Outcome(outcome.value, extracted, status, outcome.detail)


def _name_of(key: str) -> str:
    return key.removeprefix("lm-eval/").partition(",")[0]


def _outcome(name: str, logged: Any, line: dict[str, Any]) -> Outcome:
    value = number(logged)
    if value is not None:
        return Outcome(value)
    pair = logged if isinstance(logged, list) and len(logged) == 2 else None
    if pair is not None and name in _TRANSLATION:
        target, answer = pair
        return METRICS[name].score(answer[0] if isinstance(answer, list) and answer else answer, target)
    if pair is not None and name == "brier_score" and (error := _brier(pair[0], line)) is not None:
        return Outcome(error)
    reason = f"lm-eval computes {name} over all samples, and logs {logged!r:.100}, which is no value of this one"
    return Outcome(None, status="error", detail={"error": reason})


def _brier(target: Any, line: dict[str, Any]) -> float | None:
    """The squared error of the probabilities of the choices, by their log-likelihoods; lm-eval logs rounded ones."""
    replies = line.get("filtered_resps") or []
    logs = [number(reply[0]) if isinstance(reply, list) and reply else None for reply in replies]
    likelihoods = [value for value in logs if value is not None]
    if not likelihoods or len(likelihoods) < len(logs) or not isinstance(target, int) or not 0 <= target < len(logs):
        return None
    weights = [math.exp(value - max(likelihoods)) for value in likelihoods]
    return sum((weight / sum(weights) - (at == target)) ** 2 for at, weight in enumerate(weights))


def _metrics_in(line: dict[str, Any]) -> list[str]:
    """The metrics of a line written by older versions, which do not list them."""
    known = _TRANSLATION | _LOWER_IS_BETTER
    return [
        name for name, value in line.items() if name not in _FIELDS and (name in known or number(value) is not None)
    ]


def _texts(given: Any) -> list[str]:
    """The texts in nested lists (requests, repetitions); log-likelihoods as JSON."""
    if isinstance(given, list):
        return [text for one in given for text in _texts(one)]
    return [] if given is None else [given if isinstance(given, str) else str(given)]


def _prompt(arguments: Any) -> str | None:
    """The prompt of the model."""
    if isinstance(arguments, dict):
        first = next(iter(arguments.values()), None)
        return _prompt(list(first.values()) if isinstance(first, dict) else first)
    if isinstance(arguments, list) and arguments:
        return _prompt(arguments[0]) if isinstance(arguments[0], (list, dict)) else str(arguments[0])
    return arguments if isinstance(arguments, str) else None
