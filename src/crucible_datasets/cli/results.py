"""`crucible results`: stored runs."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from crucible_datasets.cli import diffs, exchange
from crucible_datasets.cli.command import Command, run_argument, store_argument
from crucible_datasets.cli.opening import existing_store, missing_store, open_store, run_named, runs_of
from crucible_datasets.cli.output import Column, Facts, Message, Outputs, Sections, Table, amount, plural
from crucible_datasets.cli.run_samples import KINDS, answers
from crucible_datasets.cli.scores import data_column, interval, number, scores_and_notes
from crucible_datasets.exceptions import ArgumentError, RunNotFoundError
from crucible_datasets.exceptions.base import listed

if TYPE_CHECKING:
    from crucible_datasets.evaluation.results.store import ResultStore
    from crucible_datasets.evaluation.runs.record import EvaluationResult


def list_(
    store: str | None,
    model: str | None,
    dataset: str | None,
    split: str | None,
    revision: str | None,
    tag: list[str],
    since: str | None,
    until: str | None,
    score: list[str],
    limit: int | None,
    unfinished: bool,
) -> Outputs:
    """List the runs, newest first."""
    from msgspec import to_builtins

    place = open_store(store)
    if problem := missing_store(store, place):
        yield f"{place.path}: {problem}"  # not an error, since a store is created by its first run
    if unfinished:
        begun = [to_builtins(run.info) for run in place.unfinished()]
        yield _runs(begun, _SO_FAR, f"no unfinished runs in {place.path}")
        return None
    found = place.query(
        model,
        dataset,
        split=split,
        revision=revision,
        scores=_ranges(score),
        since=since,
        until=until,
        tags=tag,
        limit=limit,
    )
    rows = [{**to_builtins(run.info), "summary": to_builtins(run.summary), **_first(run.summary)} for run in found]
    begun_too = len(place.unfinished())
    empty = f"no {'finished ' if begun_too else ''}runs in {place.path}"
    yield _runs(rows, _SCORED, empty if rows or not len(place) else _none_fits(place, model, dataset))
    if begun_too:
        yield f"{plural(begun_too, 'unfinished run')}, which --unfinished lists"
    return None


def _none_fits(place: ResultStore, model: str | None, dataset: str | None) -> str:
    """The message if no run matches: which models and datasets there are."""
    message, infos = f"none of the {plural(len(place), 'run')} in {place.path} fits", [run.info for run in place.list()]
    for asked, what, names in (
        (model, "models", {info.model for info in infos}),
        (dataset, "benchmarks", {info.dataset for info in infos}),
    ):
        if asked is not None and asked not in names:
            message += f"; {what}: {listed(sorted(names), 10)}"
    return message


def _runs(rows: list[dict[str, Any]], more: Sequence[Column], empty: str) -> Table:
    return Table(
        (Column("run_id", "run", keep=True), Column("model"), data_column("dataset", rows), *more), rows, empty
    )


def moment(written: str) -> str:
    """A time to the second: `2026-11-16T16:12:03.445416+00:00` as `2026-11-16 16:12:03`."""
    return written[:19].replace("T", " ")


_SO_FAR = (amount("num_samples", "samples so far"), Column("created_at", "begun at", moment, spare=True))
_SCORED = (
    amount("n", spare=True),
    Column("metric", spare=True),
    amount("score", shown=number),
    Column("interval", shown=interval, keep=True, spare=True),
    Column("rules", "rule", ", ".join, spare=True),
    Column("tags", shown=", ".join, spare=True),
)


def _first(summary: dict[str, Any]) -> dict[str, Any]:
    """The first metric of a run, which lists show."""
    from msgspec import to_builtins

    for key, one in summary.items():
        return {"metric": key, "score": one.value, "interval": to_builtins(one.interval), "n": one.n}
    return {}


def _ranges(scores: list[str]) -> dict[str, tuple[float | None, float | None]] | None:
    """`exact_match=0.5:0.9` as the name of a metric and a range of values."""
    found: dict[str, tuple[float | None, float | None]] = {}
    for asked in scores:
        name, _, ends = asked.partition("=")
        low, colon, high = ends.partition(":")
        try:
            found[name] = (float(low) if low else None, float(high) if high else None if colon else float(low))
        except ValueError:
            raise ArgumentError("score", asked, "write a range as exact_match=0.5: or exact_match=0.5:0.9.") from None
    return found or None


def show(run: str, store: str | None, by: str | None, samples: str | None, metric: str | None, limit: int) -> Outputs:
    """Show a run: what was run on what, its scores, those of groups of its samples, and its answers."""
    place = existing_store(store)
    result = place.load(run_named(place, run))
    finished = result.info.run_id in place
    so_far = f"unfinished: {plural(len(result), 'sample')} so far, and the scores are of those"
    parts: dict[str, Any] = {} if finished else {"state": Message(so_far, "unfinished")}
    parts |= {"info": _info(result), **scores_and_notes([result])}
    if by is not None:
        parts["groups"] = _groups(result, by)
    if samples is not None:
        parts["samples"] = answers(result, samples, metric, limit)
    yield Sections(parts)
    return None


_POLICIES = {
    "error": "samples without a prediction would have stopped the run",
    "wrong": "samples without a prediction count as wrong",
    "ignore": "samples without a prediction are left out",
}


def _info(result: EvaluationResult) -> Facts:
    from msgspec import to_builtins

    from crucible_datasets.evaluation.runs.shown import data_name

    info = result.info
    options = ", ".join(f"{name}: {value}" for name, value in info.options.items() if value not in ({}, []))
    policy = _POLICIES.get(info.missing, info.missing)
    shown = {"dataset": data_name(info), "created_at": moment(info.created_at), "options": options}
    return Facts(to_builtins(info), {**shown, "duration": f"{info.duration:.3g} s", "missing": policy})


def _groups(result: EvaluationResult, by: str) -> Table:
    from msgspec import to_builtins

    rows = [
        {"group": str(group), "metric": key, **to_builtins(one)}
        for group, summaries in result.by(by).items()
        for key, one in summaries.items()
    ]
    measured = (amount("value", "score", number), Column("interval", shown=interval), amount("n"))
    return Table((Column("group", by), Column("metric"), *measured), rows)


def delete(runs: list[str], store: str | None) -> Outputs:
    """Remove runs, by their full names."""
    place = existing_store(store)
    gone = {run: place.delete(run) for run in runs}
    yield Message("\n".join(f"removed {run}" for run, was_there in gone.items() if was_there), gone)
    for run, was_there in gone.items():
        if not was_there:
            raise _not_removed(run, place)
    return None


def _not_removed(asked: str, place: ResultStore) -> RunNotFoundError:
    """The error for a name that is not a full run id, since it may mean another run tomorrow."""
    meant = [run.info.run_id for run in runs_of(place, asked)]
    error = RunNotFoundError(asked, place.path, meant or [*place, *(run.info.run_id for run in place.unfinished())])
    if meant:
        error.add_note(f"{asked} is a model: runs are removed by their full names, which are those above.")
    return error


def _list_arguments(parser: ArgumentParser) -> None:
    store_argument(parser)
    parser.add_argument("--model", metavar="NAME", help="only of this model")
    parser.add_argument("--dataset", metavar="NAME", help="only on this benchmark")
    parser.add_argument("--split", metavar="SPLIT", help="only on this split")
    parser.add_argument("--revision", metavar="COMMIT", help="only on this revision")
    parser.add_argument("--tag", action="append", default=[], help="only with this tag; may be repeated")
    parser.add_argument("--since", metavar="DATE", help="from this day on: 2026-01-31")
    parser.add_argument("--until", metavar="DATE", help="before this day")
    parser.add_argument("--score", action="append", default=[], metavar="METRIC=LOW:HIGH", help="as exact_match=0.5:")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N runs")
    parser.add_argument("--unfinished", action="store_true", help="all that were begun and not finished, instead")


def _show_arguments(parser: ArgumentParser) -> None:
    run_argument(parser)
    store_argument(parser)
    parser.add_argument("--by", metavar="FIELD", help="scores of groups too, as metadata.subject")
    parser.add_argument("--samples", choices=KINDS, help="answers too: those that are wrong, could not be read …")
    parser.add_argument("--metric", metavar="NAME", help="what judges the answers; the first of the run by default")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="at most N answers; %(default)s by default")


def _delete_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="the full names of runs")
    store_argument(parser)


COMMANDS = (
    Command.group(
        "results",
        "List, show, compare, rescore, export, import or delete stored runs.",
        Command.of(list_, _list_arguments),
        Command.of(show, _show_arguments),
        *diffs.ACTIONS,
        *exchange.ACTIONS,
        Command.of(delete, _delete_arguments),
        default="list",
    ),
    Command.of(exchange.report, exchange.report_arguments),
)
