"""The data of a page: runs with scores, comparisons, groups, and samples within the limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from crucible_datasets import __version__
from crucible_datasets.evaluation.report.grouping import groups_of
from crucible_datasets.evaluation.report.pairing import comparison_rows
from crucible_datasets.evaluation.report.samples import Limits, samples_of
from crucible_datasets.evaluation.report.texts import plain
from crucible_datasets.evaluation.runs.record import EvaluationResult, MetricSummary
from crucible_datasets.evaluation.runs.shown import data_name

Results = Sequence[EvaluationResult]


def payload(results: Results, title: str | None, limits: Limits) -> dict[str, Any]:
    """The data that the script of the page reads."""
    datasets = _datasets(results)
    labels = _labels(results, datasets)
    samples = samples_of(results, [group["runs"] for group in datasets], limits)
    comparisons, note = comparison_rows(results, [group["runs"] for group in datasets])
    return {
        "title": plain(title or _title(results)),
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "library": __version__,
        "metrics": _metrics(results),
        "datasets": plain(datasets),
        "runs": [_run(result, label, labels) for result, label in zip(results, labels, strict=True)],
        "models": plain(list(dict.fromkeys(labels))),
        "comparisons": plain(comparisons),
        "comparison_note": note,
        "groups": plain([one for group in datasets for one in groups_of(results, group["runs"], group["name"])]),
        "samples": samples.rows,
        "sample_note": samples.note,
    }


def _title(results: Results) -> str:
    models = list(dict.fromkeys(result.info.model for result in results))
    names = list(dict.fromkeys(data_name(result.info) for result in results))
    few = 3
    who = " · ".join(models) if len(models) <= few else f"{len(models)} models"
    return f"{who} on {', '.join(names) if len(names) <= few else f'{len(names)} benchmarks'}"


def _datasets(results: Results) -> list[dict[str, Any]]:
    """Runs grouped by the samples they are over."""
    found: dict[Any, dict[str, Any]] = {}
    for number, result in enumerate(results):
        info = result.info
        name = data_name(info, info.dataset if info.split is None else f"{info.dataset}, {info.split}")
        group = found.setdefault((info.dataset, info.config, info.split, info.dataset_hash), {"name": name, "runs": []})
        group["runs"].append(number)
    return list(found.values())


def _metrics(results: Results) -> list[dict[str, Any]]:
    """Every metric; metrics whose values are all 0 or 1 are shown in percent."""
    found: dict[str, list[MetricSummary]] = {}
    for result in results:
        for key, summary in result.summary.items():
            found.setdefault(key, []).append(summary)
    return [{"key": plain(key), "share": all(one.binary for one in several)} for key, several in found.items()]


def _labels(results: Results, datasets: list[dict[str, Any]]) -> list[str]:
    """The labels of runs: their models, with the ids of the runs where a model ran twice on the same samples."""
    labels = [result.info.model for result in results]
    for group in datasets:
        models = [results[run].info.model for run in group["runs"]]
        for run in group["runs"]:
            if models.count(results[run].info.model) > 1:
                labels[run] = f"{results[run].info.model} ({results[run].info.run_id})"
    return labels


def _run(result: EvaluationResult, label: str, labels: list[str]) -> dict[str, Any]:
    info = result.info
    return {
        **plain({"model": label, "dataset": data_name(info), "tags": info.tags, "run_id": info.run_id}),
        "series": list(dict.fromkeys(labels)).index(label),
        "summary": {plain(key): _summary(one) for key, one in result.summary.items()},
        "facts": plain(list(_facts(result))),
    }


def _summary(one: MetricSummary) -> dict[str, Any]:
    said = {"value": one.value, "n": one.n, "unparsed_rate": one.unparsed_rate, "value_parsed": one.value_parsed}
    if one.interval is None:
        return said
    inside = one.interval
    return said | {"low": inside.low, "high": inside.high, "level": inside.level, "method": inside.method}


def _facts(result: EvaluationResult) -> Iterable[list[Any]]:
    info = result.info
    yield ["run", info.run_id]
    yield ["benchmark", info.dataset]
    yield ["configuration", info.config]
    yield ["split", info.split]
    yield ["revision", info.revision]
    yield ["hash of the samples", info.dataset_hash]
    yield ["rules", info.rules]
    yield ["metrics", info.metrics]
    yield ["missing predictions", info.missing]
    yield ["clusters", info.cluster_by]
    yield ["samples", info.num_samples]
    yield ["made at", info.created_at]
    yield ["seconds", round(info.duration, 3)]
    yield ["tags", info.tags]
    yield ["options", info.options or None]
    yield ["library", info.library_version]
    for key, one in result.summary.items():
        yield [f"statuses, {key}", ", ".join(f"{name} {count:,}" for name, count in one.counts.items())]
        yield [f"signature, {key}", one.signature]
