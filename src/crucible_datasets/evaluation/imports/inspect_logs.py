"""Logs of inspect_ai, `.eval` or `.json`: every sample with its scores, under the names of the scorers.

If inspect_ai reduced the scores of a sample's epochs otherwise than by their mean, the score of each answer is the
reduced one: so the score of the run is that of inspect_ai.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from crucible_datasets.evaluation.imports.foreign import content_hash, imported, number, reason_of
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.runs.record import EvaluationResult, SampleResult
from crucible_datasets.exceptions import FileFormatError, FileNotFoundDatasetsError, LimitExceededError
from crucible_datasets.formats.eval_members import content
from crucible_datasets.formats.json.rows import loads
from crucible_datasets.formats.streams import Budget
from crucible_datasets.reading.format_choice import names_beside

_SAMPLE = re.compile(r"samples/(.+)_epoch_(\d+)\.json")
_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32})")
_OF_FILES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
_OF_CONTENT = (ValueError, KeyError, TypeError, AttributeError)


def from_inspect_log(path: str | os.PathLike[str], model: str | None = None) -> EvaluationResult:
    """A log of inspect_ai as a result. A scorer `match` is the metric `inspect/match@<version of inspect_ai>`."""
    name = os.fspath(path)
    try:
        header, samples = _read_json(name) if name.lower().endswith(".json") else _read_zip(name)
        return _result(header, samples, model, name)
    except FileNotFoundError:
        raise FileNotFoundDatasetsError(name, "there is no such file.", names_beside(name)) from None
    except (*_OF_FILES, *_OF_CONTENT) as error:
        if isinstance(error, (FileFormatError, LimitExceededError)):
            raise
        raise FileFormatError(name, f"this is no log of inspect_ai: {reason_of(error)}.") from error


def _read_zip(path: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header, with the reductions of scores, and the samples."""
    with zipfile.ZipFile(path) as log:
        members = {member.filename: member for member in log.infolist()}
        # An interrupted run has no header.
        first = members.get("header.json") or members["_journal/start.json"]
        budget = Budget(path, os.path.getsize(path))
        header = loads(content(log, first, path, budget))
        if "reductions.json" in members:
            header["reductions"] = loads(content(log, members["reductions.json"], path, budget))
        chosen = [member for member in log.infolist() if _SAMPLE.fullmatch(member.filename)]
        return header, [loads(content(log, member, path, budget)) for member in chosen]


def _read_json(path: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    with open(path, "rb") as file:
        log = loads(file.read())
    return log, log.get("samples") or []


def _result(log: dict[str, Any], samples: list[dict[str, Any]], model: str | None, path: str) -> EvaluationResult:
    task = log["eval"]
    version = (task.get("packages") or {}).get("inspect_ai", "0")
    dataset = task.get("dataset") or {}
    failure = _failure(log, len(samples))
    reductions = _reductions(log)
    rows = sorted((_sample(one, version, reductions) for one in samples), key=_place)
    if not rows:
        raise FileFormatError(path, "the log has no samples" + (f": {failure}" if failure else ""))
    questions = {one.id: (one.id, one.input, one.target, one.choices) for one in rows}
    return imported(
        _with_all(rows),
        model=model or task.get("model") or "unknown",
        dataset=task.get("task") or dataset.get("name") or "unknown",
        created_at=task.get("created") or "",
        tags=list(task.get("tags") or []),
        dataset_hash=content_hash(questions.values()),
        options={
            "imported_from": os.path.basename(path),
            "inspect_run_id": task.get("run_id"),
            "dataset": dataset.get("name"),
            **({"failed": failure} if failure else {}),
        },
    )


def _failure(log: dict[str, Any], num_samples: int) -> str | None:
    """Why the run did not finish, and how many of its samples there are."""
    status = log.get("status", "success")
    if status == "success":
        return None
    reason = (log.get("error") or {}).get("message") or {"started": "it was interrupted"}.get(status, status)
    total = (log["eval"].get("dataset") or {}).get("samples")
    epochs = (log["eval"].get("config") or {}).get("epochs") or 1
    return f"{reason} (after {num_samples} of {total * epochs} samples)" if total else str(reason)


Reductions = dict[
    str, list[tuple[str, dict[str, Any] | None]]
]  # per scorer: a reducer, and each sample's reduced score


def _reductions(log: dict[str, Any]) -> Reductions:
    """The reductions of each scorer. The mean, which is that of this library, has no name and no scores."""
    asked = (log["eval"].get("config") or {}).get("epochs_reducer") or ["mean"]
    found: Reductions = {}
    for reduction in log.get("reductions") or []:
        if (reducer := reduction.get("reducer") or "mean") in asked:
            scores = {str(score["sample_id"]): score.get("value") for score in reduction["samples"]}
            entry = ("", None) if reducer == "mean" else (f",{reducer}", scores)
            found.setdefault(reduction["scorer"], []).append(entry)
    return found


def _place(sample: SampleResult) -> tuple[Any, ...]:
    digits = sample.id.isdecimal()
    return not digits, int(sample.id) if digits else 0, sample.id, sample.epoch


def _with_all(rows: list[SampleResult]) -> Iterator[SampleResult]:
    """The samples with an outcome under every metric; samples that failed before scoring lack some."""
    keys = dict.fromkeys(key for row in rows for key in row.outcomes)
    for row in rows:
        failed = row.metadata.get("inspect_error")
        absent = Outcome(None, status="error" if failed else "missing", detail={"error": failed} if failed else None)
        outcomes = {key: row.outcomes.get(key, absent) for key in keys}
        yield SampleResult(
            row.id, row.prediction, row.target, outcomes, row.input, row.choices, row.metadata, row.epoch
        )


def _sample(sample: dict[str, Any], version: str, reductions: Reductions) -> SampleResult:
    attached = sample.get("attachments") or {}
    metadata = dict(sample.get("metadata") or {})
    if sample.get("error"):
        metadata["inspect_error"] = str(sample["error"].get("message", sample["error"]))
    return SampleResult(
        id=str(sample["id"]),
        prediction=_filled(_completion(sample.get("output") or {}), attached),
        target=sample.get("target"),
        outcomes=dict(_outcomes(sample, version, reductions)),
        input=_filled(_spoken(sample.get("input")), attached),
        choices=sample.get("choices"),
        metadata=metadata,
        epoch=int(sample.get("epoch", 1)) - 1,
    )


def _completion(output: dict[str, Any]) -> str | None:
    if isinstance(output.get("completion"), str):
        return output["completion"] or None if not output.get("choices") else output["completion"]
    said = [_words((choice.get("message") or {}).get("content")) for choice in output.get("choices") or []]
    return said[0] if said else None


def _spoken(given: Any) -> Any:
    """The input: a text, or messages with role and content."""
    if not isinstance(given, list):
        return given
    return [{"role": one.get("role"), "content": _words(one.get("content"))} for one in given]


def _words(given: Any) -> str:
    if isinstance(given, list):
        return "".join(part.get("text") or "" for part in given if isinstance(part, dict))
    return given or ""


def _filled(given: Any, attached: dict[str, str]) -> Any:
    """The value with attachments, which inspect_ai stores once and references by digest, put back."""
    if isinstance(given, str):
        return _ATTACHMENT.sub(lambda found: str(attached.get(found[1], found[0])), given)
    if isinstance(given, list):
        return [{**one, "content": _filled(one["content"], attached)} for one in given]
    return given


def _outcomes(sample: dict[str, Any], version: str, reductions: Reductions) -> Iterator[tuple[str, Outcome]]:
    for scorer, score in (sample.get("scores") or {}).items():
        for reducer, scores in reductions.get(scorer, [("", None)]):
            reduced = None if scores is None else scores.get(str(sample["id"]))
            value = score.get("value")
            if isinstance(value, dict):
                for part, one in value.items():
                    of_part = reduced.get(part) if isinstance(reduced, dict) else None
                    yield f"inspect/{scorer}/{part}{reducer}@{version}", _outcome(score, one, reducer, of_part)
            else:
                yield f"inspect/{scorer}{reducer}@{version}", _outcome(score, value, reducer, reduced)


def _outcome(score: dict[str, Any], value: Any, reducer: str, reduced: Any) -> Outcome:
    """The outcome of an answer; if scores were reduced, its value is that of all answers to the sample."""
    answer = score.get("answer")
    detail = {"explanation": score["explanation"]} if score.get("explanation") else {}
    counted = reduced if reducer else value
    found, status = number(counted), "unparsed" if value == "N" else "ok"
    if reducer:
        detail |= {"value": value, "reducer": reducer.removeprefix(",")}
    if found is None:
        status = "error"
    if found is None and isinstance(counted, str):
        found, detail["reason"] = 0.0, f"inspect_ai counts the value {counted!r:.100} as 0"
    return Outcome(found, None if answer is None else str(answer), status, detail or None)
