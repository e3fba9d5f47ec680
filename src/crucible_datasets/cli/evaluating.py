"""`crucible eval`, `crucible compare`: scores of predictions, and differences between models."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crucible_datasets.cli import exit_codes
from crucible_datasets.cli.advice import advice
from crucible_datasets.cli.benchmark_samples import fields_named, samples_of
from crucible_datasets.cli.command import (
    Command,
    benchmark_arguments,
    cluster_argument,
    code_argument,
    field_argument,
    force_argument,
    reading_arguments,
    run_argument,
    store_argument,
)
from crucible_datasets.cli.completion import file_argument
from crucible_datasets.cli.opening import existing_store, explained_run_names, open_store, run_named
from crucible_datasets.cli.output import Message, Outputs, Sections, plural
from crucible_datasets.cli.prediction_files import files_by_model, predictions_for
from crucible_datasets.cli.scores import comparison_table, run_notes, score_rows, score_table, scores_and_notes
from crucible_datasets.cli.writing import require_absent

if TYPE_CHECKING:
    from crucible_datasets.evaluation.runs.record import EvaluationResult


def eval_(
    benchmark: str,
    predictions: list[str],
    split: str | None,
    config: str | None,
    revision: str | None,
    synthetic: bool,
    model: str | None,
    metrics: str | None,
    extract: str | None,
    missing: str,
    input: str | None,
    target: str | None,
    field: list[str],
    column: str | None,
    id_column: str | None,
    cluster_by: str | None,
    limit: int | None,
    on_bad_rows: str,
    options: Mapping[str, Any],
    tag: list[str],
    store: str | None,
    no_store: bool,
    report: str | None,
    force: bool,
    fail_under: float | None,
    allow_code_execution: bool,
    executor: str | None,
) -> Outputs:
    """Score predictions for a benchmark, store the runs, and compare them if there are several."""
    from crucible_datasets.evaluation.evaluating import evaluate_many

    require_absent(report, force, "report")
    files = files_by_model(predictions, model)
    fields = fields_named(field, input=input, target=target)
    what = {"split": split, "config": config, "limit": limit}
    asked = {} if revision is None else {"revision": revision}
    samples = samples_of(benchmark, synthetic, fields, {**options, **what, **asked, "on_bad_rows": on_bad_rows})
    given, notes = _for_samples(files, samples, id_column) if any(what.values()) else (files, [])
    place = None if no_store else open_store(store)
    results = evaluate_many(
        given,
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
        executor=executor,
    ).values()
    yield _answer(list(results), notes, None if place is None else place.path, report)
    below = [] if fail_under is None else [one for one in results if (one.value() or 0.0) < fail_under]
    for one in below:
        yield f"{one.info.model}: {one.key()} is below --fail-under {fail_under:g}"
    return exit_codes.CHECK_FAILED if below else exit_codes.OK


def compare(
    runs: list[str],
    store: str | None,
    metric: str | None,
    baseline: str | None,
    level: float,
    correction: str,
    cluster_by: str | None,
    by: str | None,
    ignore_metadata: bool,
) -> Outputs:
    """Compare stored runs in pairs: differences with intervals and p-values."""
    from crucible_datasets.evaluation.comparing.comparison import compare as compared

    place = existing_store(store)
    results = [place.load(run_named(place, run)) for run in runs]
    with explained_run_names(place, runs):
        table = compared(
            *results,
            metric=metric,
            baseline=baseline,
            level=level,
            correction=None if correction == "none" else correction,
            cluster_by=cluster_by,
            by=by,
            ignore_metadata=ignore_metadata,
        )
    scores = {"scores": score_table(score_rows(table.scores)), **run_notes(results)}
    yield Sections({**scores, "comparisons": comparison_table(table)})
    return None


def _answer(results: list[EvaluationResult], notes: list[str], store: str | None, report: str | None) -> Sections:
    from crucible_datasets.evaluation.comparing.comparison import compare as compared

    parts = scores_and_notes(results, notes)
    if lines := advice(results, store is not None):
        parts["advice"] = Message("\n".join(lines), lines)
    if len(results) > 1:
        parts["comparisons"] = comparison_table(compared(*results))
    if store is not None:
        ids = [result.info.run_id for result in results]
        parts["stored"] = Message(f"kept in {store} as\n" + "\n".join(ids), {"store": store, "runs": ids})
    if report is not None:
        from crucible_datasets.evaluation.report.page import write_report

        parts["report"] = Message(f"report: {write_report(report, results)}", report)
    return Sections(parts)


def _for_samples(files: dict[str, str], samples: Any, id_column: str | None) -> tuple[dict[str, Any], list[str]]:
    """The predictions for the chosen samples, and notes on those for other samples."""
    ids = {str(sample.id) for sample in samples}
    found = {model: predictions_for(path, ids, id_column) for model, path in files.items()}
    notes = [
        f"{model}: {plural(others, 'prediction')} for other samples left out"
        for model, (_, others) in found.items()
        if others
    ]
    return {model: given for model, (given, _) in found.items()}, notes


_METRICS = "those of the benchmark by default; of your data multiple_choice where there are choices, else exact_match"


def _eval_arguments(parser: ArgumentParser) -> None:
    benchmark_arguments(parser)
    what = "files of predictions (JSON Lines, Parquet, CSV …) as FILE or MODEL=FILE"
    file_argument(parser, "predictions", nargs="+", metavar="PREDICTIONS", help=what)
    parser.add_argument("--model", metavar="NAME", help="the name of the model; by default that of the file")
    parser.add_argument("--metrics", metavar="A,B", help=_METRICS)
    parser.add_argument("--extract", metavar="RULE", help="the rule that extracts answers, as gsm8k/lm-eval-flexible")
    policies = ("error", "wrong", "ignore")
    parser.add_argument("--missing", choices=policies, default="error", help="how samples without a prediction count")
    parser.add_argument("--input", metavar="NAME", help="the column of your data with the questions")
    parser.add_argument("--target", metavar="NAME", help="the column of your data with the right answers")
    field_argument(parser)
    parser.add_argument("--column", metavar="NAME", help="the column of the predictions with the answers")
    parser.add_argument("--id-column", metavar="NAME", help="the column of the predictions with the sample ids")
    cluster_argument(parser)
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N samples")
    bad = "what to do with rows that cannot become samples: stop, or leave them out and count them"
    parser.add_argument("--on-bad-rows", choices=("error", "skip"), default="error", help=bad)
    reading_arguments(parser)
    parser.add_argument("--tag", action="append", default=[], help="a tag for the runs; may be repeated")
    store_argument(parser)
    parser.add_argument("--no-store", action="store_true", help="store nothing")
    file_argument(parser, "--report", metavar="FILE", help="also write an HTML report")
    force_argument(parser)
    parser.add_argument(
        "--fail-under", type=float, metavar="X", help="exit code 1 if a score, that of the first metric, is below X"
    )
    code_argument(parser)
    who = "where scoring runs: serial, processes or ray; by default what CRUCIBLE_EXECUTOR says"
    parser.add_argument("--executor", metavar="NAME", help=who)


def _compare_arguments(parser: ArgumentParser) -> None:
    run_argument(parser, several=True)
    store_argument(parser)
    parser.add_argument("--metric", metavar="NAME", help="the metric; by default the first of the runs")
    parser.add_argument("--baseline", metavar="MODEL", help="compare every model with this one only")
    parser.add_argument("--level", type=float, default=0.95, help="the confidence level; %(default)s by default")
    several = "for several comparisons; %(default)s by default"
    parser.add_argument("--correction", choices=("holm", "bh", "bonferroni", "none"), default="holm", help=several)
    cluster_argument(parser)
    parser.add_argument("--by", metavar="FIELD", help="compare on each group of samples, such as metadata.subject")
    same = "compare runs on data that differs only in the metadata of its samples"
    parser.add_argument("--ignore-metadata", action="store_true", help=same)


COMMANDS = (Command.of(eval_, _eval_arguments), Command.of(compare, _compare_arguments))
