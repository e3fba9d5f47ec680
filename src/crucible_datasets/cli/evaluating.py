"""`crucible eval`, `crucible compare`: scores of predictions, and differences between models."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from crucible_datasets.cli import exits
from crucible_datasets.cli.command import (
    Command,
    benchmark_arguments,
    cluster_argument,
    file_argument,
    run_argument,
    store_argument,
)
from crucible_datasets.cli.opening import one_split, open_store
from crucible_datasets.cli.pieces import Piece, Pieces, Said, Several
from crucible_datasets.cli.scores import comparison_table, result_rows, score_rows, score_table
from crucible_datasets.exceptions import ArgumentError

if TYPE_CHECKING:
    from crucible_datasets.evaluation.runs.record import EvaluationResult


def eval_(
    benchmark: str,
    predictions: list[str],
    split: str | None,
    config: str | None,
    synthetic: bool,
    model: str | None,
    metrics: str | None,
    extract: str | None,
    missing: str,
    column: str | None,
    id_column: str | None,
    cluster_by: str | None,
    limit: int | None,
    tag: list[str],
    store: str | None,
    no_store: bool,
    report: str | None,
    fail_under: float | None,
    allow_code_execution: bool,
) -> Pieces:
    """Score predictions for a benchmark, keep the runs, and compare them if there are several."""
    from crucible_datasets.evaluation.evaluating import evaluate_many

    samples = _samples(benchmark, split, config, synthetic, limit)
    named = _named(predictions, model)
    place = None if no_store else open_store(store)
    results = evaluate_many(
        named,
        samples,
        metrics.split(",") if metrics else None,
        extract=extract,
        missing=missing,
        allow_code_execution=allow_code_execution,
        cluster_by=cluster_by,
        store=place,
        tags=tag,
        prediction_column=column,
        id_column=id_column,
    ).values()
    yield _answer(list(results), None if place is None else place.path, report)
    return exits.NO if fail_under is not None and _lowest(results) < fail_under else exits.OK


def compare(
    runs: list[str],
    store: str | None,
    metric: str | None,
    baseline: str | None,
    level: float,
    correction: str,
    cluster_by: str | None,
    by: str | None,
) -> Pieces:
    """Compare stored runs in pairs: differences with intervals and p-values."""
    from crucible_datasets.evaluation.comparing.comparison import compare as compared

    place = open_store(store)
    table = compared(
        *(place.load(run) for run in runs),
        metric=metric,
        baseline=baseline,
        level=level,
        correction=None if correction == "none" else correction,
        cluster_by=cluster_by,
        by=by,
    )
    yield Several({"scores": score_table(score_rows(table.scores)), "comparisons": comparison_table(table)})
    return None


def _answer(results: list[EvaluationResult], store: str | None, report: str | None) -> Several:
    from crucible_datasets.evaluation.comparing.comparison import compare as compared

    parts: dict[str, Piece] = {"scores": score_table([row for result in results for row in result_rows(result)])}
    if len(results) > 1:
        parts["comparisons"] = comparison_table(compared(*results))
    if store is not None:
        ids = [result.info.run_id for result in results]
        parts["stored"] = Said(f"kept in {store}", {"store": store, "runs": ids})
    if report is not None:
        from crucible_datasets.evaluation.report.page import write_report

        parts["report"] = Said(f"report: {write_report(report, results)}", report)
    return Several(parts)


def _samples(benchmark: str, split: str | None, config: str | None, synthetic: bool, limit: int | None) -> Any:
    """The samples of a benchmark of the registry, or of a file that has their columns."""
    from crucible_datasets.benchmarks.catalog.registry import Catalog

    if benchmark in Catalog() or benchmark.endswith(".toml"):
        from crucible_datasets.benchmarks.loading.load import load_benchmark

        return load_benchmark(benchmark, split, config=config, synthetic=synthetic, limit=limit)
    rows = one_split(benchmark, config, split, None)
    return rows if limit is None else rows.take(limit)


def _named(predictions: list[str], model: str | None) -> dict[str, str]:
    """Files by the name of the model: `name=file`, or what the file is called."""
    if model is not None and len(predictions) > 1:
        raise ArgumentError("--model", model, "with several files, write MODEL=FILE for each.")
    named: dict[str, str] = {}
    for given in predictions:
        name, equals, path = given.partition("=")
        if not equals or os.path.exists(given):
            name, path = model or os.path.basename(given).partition(".")[0], given
        if name in named:
            raise ArgumentError("PREDICTIONS", given, f"there are two models called {name!r}: write MODEL=FILE.")
        named[name] = path
    return named


def _lowest(results: Iterable[EvaluationResult]) -> float:
    return min(result.value() or 0.0 for result in results)


def _eval_arguments(parser: ArgumentParser) -> None:
    benchmark_arguments(parser)
    what = "files of predictions (JSON Lines, Parquet, CSV …) as FILE or MODEL=FILE"
    file_argument(parser, "predictions", nargs="+", metavar="PREDICTIONS", help=what)
    parser.add_argument("--model", metavar="NAME", help="the name of the model; that of the file by default")
    parser.add_argument("--metrics", metavar="A,B", help="those of the benchmark by default")
    parser.add_argument("--extract", metavar="RULE", help="the rule that reads answers, as gsm8k/lm-eval-flexible")
    policies = ("error", "wrong", "ignore")
    parser.add_argument("--missing", choices=policies, default="error", help="how samples without a prediction count")
    parser.add_argument("--column", metavar="NAME", help="the column with the predictions")
    parser.add_argument("--id-column", metavar="NAME", help="the column with the ids of samples")
    cluster_argument(parser)
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N samples")
    parser.add_argument("--tag", action="append", default=[], help="a tag for the runs; may be repeated")
    store_argument(parser)
    parser.add_argument("--no-store", action="store_true", help="keep nothing")
    file_argument(parser, "--report", metavar="FILE", help="write an HTML report too")
    parser.add_argument("--fail-under", type=float, metavar="X", help="exit code 1 if a score is below X")
    parser.add_argument("--allow-code-execution", action="store_true", help="let code metrics run what models wrote")


def _compare_arguments(parser: ArgumentParser) -> None:
    run_argument(parser, several=True)
    store_argument(parser)
    parser.add_argument("--metric", metavar="NAME", help="the first of the runs by default")
    parser.add_argument("--baseline", metavar="MODEL", help="compare every model with this one only")
    parser.add_argument("--level", type=float, default=0.95, help="of the intervals; %(default)s by default")
    parser.add_argument("--correction", choices=("holm", "bh", "none"), default="holm", help="for several comparisons")
    cluster_argument(parser)
    parser.add_argument("--by", metavar="FIELD", help="compare on each group of samples, as metadata.subject")


COMMANDS = (Command.of(eval_, _eval_arguments), Command.of(compare, _compare_arguments))
