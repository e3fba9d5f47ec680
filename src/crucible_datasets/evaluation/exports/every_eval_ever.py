"""Every Eval Ever, a schema for collecting evaluations (version 0.3.0).

One run is one JSON file. Its samples are in a JSON Lines file next to it, to which it refers by the path in the
collection, `data/<dataset>/<developer>/<model>/<uuid>_samples.jsonl`, and by SHA-256.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from datetime import UTC, datetime
from typing import Any

from crucible_datasets.atomic import atomic_file
from crucible_datasets.evaluation.exports.base import Export
from crucible_datasets.evaluation.exports.rows import words
from crucible_datasets.evaluation.outcome import Outcome
from crucible_datasets.evaluation.results.encoding import encode, text
from crucible_datasets.evaluation.runs.record import EvaluationResult, MetricSummary, RunInfo, SampleResult
from crucible_datasets.exceptions import ArgumentError

VERSION = "0.3.0"
_RELATIONS = ("first_party", "third_party", "collaborative", "other")


def write(
    results: list[EvaluationResult],
    path: str,
    *,
    target: str,
    samples: bool = True,
    organization: str = "unknown",
    relationship: str = "other",
) -> None:
    """Write one run; with `samples`, also `<uuid>_samples.jsonl` with every sample and metric."""
    if len(results) != 1:
        raise ArgumentError(
            "results",
            len(results),
            "Every Eval Ever JSON holds one run per file: export them one by one, or as .jsonl.",
        )
    if relationship not in _RELATIONS:
        raise ArgumentError("relationship", relationship, f"expected one of {', '.join(_RELATIONS)}.")
    made = document(results[0], organization, relationship)
    if samples:
        made["detailed_evaluation_results"] = _write_samples(results[0], target)
    with open(path, "wb") as file:
        file.write(encode(made))


def document(result: EvaluationResult, organization: str, relationship: str) -> dict[str, Any]:
    """The run without its samples."""
    info = result.info
    return {
        "schema_version": VERSION,
        "evaluation_id": evaluation_id(info),
        "evaluation_timestamp": str(_seconds(info.created_at)),
        "retrieved_timestamp": str(datetime.now(UTC).timestamp()),
        "source_metadata": {
            "source_name": "crucible-datasets",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
        },
        "eval_library": {"name": "crucible-datasets", "version": info.library_version or "unknown"},
        "model_info": {
            "name": info.model,
            "id": info.model,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [_score(result, key) for key, one in result.summary.items() if one.value is not None],
    }


def evaluation_id(info: RunInfo) -> str:
    """The id of a run in the schema: dataset, model and time."""
    return f"{info.dataset}/{info.model.replace('/', '_')}/{_seconds(info.created_at)}"


def _seconds(moment: str) -> float:
    try:
        return datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return 0.0


def _score(result: EvaluationResult, key: str) -> dict[str, Any]:
    info, one = result.info, result.summary[key]
    return {
        "evaluation_result_id": f"{info.run_id}/{key}",
        "evaluation_name": info.dataset,
        "source_data": _source(info),
        "evaluation_timestamp": str(_seconds(info.created_at)),
        "metric_config": _metric(key, one, info),
        "score_details": {
            "score": one.value,
            "details": {name: str(value) for name, value in _details(one).items()},
            "uncertainty": _uncertainty(one),
        },
    }


def _source(info: RunInfo) -> dict[str, Any]:
    facts = {"revision": info.revision, "content_hash": info.dataset_hash, "split": info.split, "config": info.config}
    details = {name: value for name, value in facts.items() if value}
    return {"dataset_name": info.dataset, "source_type": "other", "additional_details": details}


def _metric(key: str, one: MetricSummary, info: RunInfo) -> dict[str, Any]:
    bounds = {"min_score": 0.0, "max_score": 1.0} if one.binary else dict.fromkeys(("min_score", "max_score"))
    facts = {"extraction_rules": " ".join(info.rules), "signature": one.signature, "missing": info.missing}
    return {
        "metric_id": key,
        "metric_name": key.rpartition("@")[0],
        "lower_is_better": not one.higher_is_better,
        "score_type": "continuous",
        **bounds,
        "additional_details": {name: value for name, value in facts.items() if value},
    }


def _details(one: MetricSummary) -> dict[str, Any]:
    counts = {f"count_{status}": number for status, number in one.counts.items()}
    return {"unparsed_rate": one.unparsed_rate, "value_among_parsed": one.value_parsed, **counts}


def _uncertainty(one: MetricSummary) -> dict[str, Any]:
    found: dict[str, Any] = {"num_samples": one.n}
    if one.stderr is not None:
        found["standard_error"] = {"value": one.stderr, "method": "analytic"}
    if one.interval is not None:
        found["confidence_interval"] = {
            "lower": one.interval.low,
            "upper": one.interval.high,
            "confidence_level": one.interval.level,
            "method": one.interval.method,
        }
    return found


def _write_samples(result: EvaluationResult, target: str) -> dict[str, Any]:
    place = place_in_collection(result.info)
    digest, rows = hashlib.sha256(), 0
    with (
        atomic_file(os.path.join(os.path.dirname(target), os.path.basename(place))) as temporary,
        open(temporary, "wb") as file,
    ):
        for sample in result.samples:
            for key, outcome in sample.outcomes.items():
                line = encode(_instance(result.info, sample, key, outcome)) + b"\n"
                digest.update(line)
                file.write(line)
                rows += 1
    facts = {"format": "jsonl", "file_path": place, "hash_algorithm": "sha256", "checksum": digest.hexdigest()}
    return {**facts, "total_rows": rows}


def place_in_collection(info: RunInfo) -> str:
    """The path of the samples of a run in the collection, which is deterministic."""
    developer, _, model = info.model.rpartition("/")
    name = uuid.UUID(bytes=hashlib.sha256(info.run_id.encode()).digest()[:16], version=4)
    folders = [re.sub(r"[^\w.-]+", "-", part).strip("-.") or "unknown" for part in (info.dataset, developer, model)]
    return "/".join(["data", *folders, f"{name}_samples.jsonl"])


def _instance(info: RunInfo, sample: SampleResult, key: str, outcome: Outcome) -> dict[str, Any]:
    said = sample.prediction if isinstance(sample.prediction, list) else [sample.prediction]
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    found = outcome.extracted if outcome.extracted is not None else words(sample.prediction)
    return {
        "schema_version": VERSION,
        "evaluation_id": evaluation_id(info),
        "model_id": info.model,
        "evaluation_name": info.dataset,
        "evaluation_result_id": f"{info.run_id}/{key}",
        "sample_id": sample.id,
        "interaction_type": "single_turn",
        "input": {
            "raw": words(sample.input) or "",
            "reference": [words(one) or "" for one in targets],
            "choices": sample.choices,
        },
        "output": {"raw": [words(one) or "" for one in said]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": found or "",
                "extraction_method": " ".join(info.rules) or "none",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": outcome.value or 0.0, "is_correct": outcome.value == 1.0},
        "error": (outcome.detail or {}).get("error") if outcome.status in {"error", "timeout"} else None,
        "metadata": {"status": outcome.status, "epoch": str(sample.epoch), "detail": text(outcome.detail) or "null"},
    }


EXPORT = Export("every_eval_ever", (".json",), write, ("eee",), companions=True)
