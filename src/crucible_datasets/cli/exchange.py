"""`crucible report`, `crucible results export`, `import`, `mirror`: runs as files, in databases, and from files."""

from __future__ import annotations

import os
from argparse import ArgumentParser

from crucible_datasets.cli.command import Command, force_argument, run_argument, store_argument
from crucible_datasets.cli.completion import file_argument
from crucible_datasets.cli.opening import existing_store, open_store, run_named
from crucible_datasets.cli.output import Message, Outputs, Sections, plural
from crucible_datasets.cli.scores import result_rows, score_table
from crucible_datasets.cli.writing import require_absent
from crucible_datasets.exceptions import ArgumentError

_OF_ROWS = ("csv", "jsonl", "parquet")


def report(
    runs: list[str], store: str | None, output: str, title: str | None, max_samples: int, force: bool
) -> Outputs:
    """Write runs as one HTML page: charts, comparisons, and every sample."""
    from crucible_datasets.evaluation.report.page import write_report

    require_absent(output, force)
    place = existing_store(store)
    path = write_report(output, [place.load(run_named(place, run)) for run in runs], title, max_samples=max_samples)
    yield _written(path, runs)
    return None


def export(
    runs: list[str], store: str | None, output: str, format: str | None, rows: str | None, force: bool
) -> Outputs:
    """Write runs to a file for other programs; its name says the format."""
    from crucible_datasets.evaluation.exports import export as exported

    place = existing_store(store)
    if rows is not None and (format or os.path.splitext(output)[1].lower()[1:]) not in _OF_ROWS:
        raise ArgumentError("rows", rows, f"only {', '.join(_OF_ROWS)} have rows to choose.")
    require_absent(output, force)
    options = {} if rows is None else {"rows": rows}
    yield _written(exported([place.load(run_named(place, run)) for run in runs], output, format, **options), runs)
    return None


def _written(path: str, runs: list[str]) -> Message:
    size = os.path.getsize(path)
    return Message(f"{path}: {plural(len(runs), 'run')}, {size:,} bytes", {"path": path, "runs": runs, "size": size})


def import_(files: list[str], store: str | None, model: str | None) -> Outputs:
    """Store the logs of other programs as runs: inspect_ai (.eval) and lm-eval samples (.jsonl)."""
    from crucible_datasets.evaluation.imports import read_log

    place = open_store(store)
    results = [read_log(path, model) for path in files]
    names = [place.save(result) for result in results]
    scores = score_table([row for result in results for row in result_rows(result)])
    yield Sections({"scores": scores, "stored": Message(f"kept in {place.path}", {"store": place.path, "runs": names})})
    return None


def mirror(store: str | None, url: str | None, samples: bool) -> Outputs:
    """Copy the runs to a database: SQLite in the store, or PostgreSQL by its URL."""
    with existing_store(store).mirror(url, samples) as database:
        runs, where = [run.info.run_id for run in database.list()], database.place
    yield Message(f"{where} has {plural(len(runs), 'run')}", {"database": where, "runs": runs})
    return None


def report_arguments(parser: ArgumentParser) -> None:
    """The arguments of `crucible report`."""
    run_argument(parser, several=True)
    store_argument(parser)
    file_argument(parser, "-o", "--output", metavar="FILE", default="report.html", help="%(default)s by default")
    parser.add_argument("--title", help="the title of the page")
    most = "how many samples the page holds at most; %(default)s by default"
    parser.add_argument("--max-samples", type=int, default=2000, metavar="N", help=most)
    force_argument(parser)


def _export_arguments(parser: ArgumentParser) -> None:
    run_argument(parser, several=True)
    store_argument(parser)
    how = "such as runs.csv, runs.jsonl, runs.parquet, runs.md, runs.html"
    file_argument(parser, "-o", "--output", metavar="FILE", required=True, help=how)
    parser.add_argument("--format", metavar="NAME", help="the format, if the name of the file does not say it")
    parser.add_argument("--rows", choices=("samples", "runs"), help="a row for each sample, or for each run and metric")
    force_argument(parser)


def _import_arguments(parser: ArgumentParser) -> None:
    file_argument(parser, "files", nargs="+", metavar="FILE", help="logs of inspect_ai, samples of lm-eval")
    store_argument(parser)
    parser.add_argument("--model", metavar="NAME", help="the name of the model, if the log does not say it")


def _mirror_arguments(parser: ArgumentParser) -> None:
    store_argument(parser)
    parser.add_argument("--url", help="such as postgresql://host/name; a SQLite file in the store by default")
    parser.add_argument("--samples", action="store_true", help="copy every sample too")


ACTIONS = (
    Command.of(export, _export_arguments),
    Command.of(import_, _import_arguments),
    Command.of(mirror, _mirror_arguments),
)
