"""`crucible results`: runs that were kept."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from crucible_datasets.cli import exchange, moves
from crucible_datasets.cli.command import Command, run_argument, store_argument
from crucible_datasets.cli.opening import open_store, run_named
from crucible_datasets.cli.pieces import Column, Facts, Pieces, Said, Several, Table, amount
from crucible_datasets.cli.scores import interval, number, scored
from crucible_datasets.exceptions import ArgumentError, RunNotFoundError


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
) -> Pieces:
    """List the runs, the newest first."""
    from msgspec import to_builtins

    place = open_store(store)
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
    columns = (
        Column("run_id", "run", keep=True),
        Column("model"),
        Column("dataset", "benchmark", spare=True),
        amount("n", spare=True),
        Column("metric", spare=True),
        amount("score", shown=number),
        Column("interval", shown=interval, keep=True, spare=True),
        Column("rules", "rule", ", ".join, spare=True),
        Column("tags", shown=", ".join, spare=True),
    )
    yield Table(columns, rows, f"no runs in {place.path}")
    return None


def _first(summary: dict[str, Any]) -> dict[str, Any]:
    """The first metric of a run, which is the one that a list shows."""
    from msgspec import to_builtins

    for key, one in summary.items():
        return {"metric": key, "score": one.value, "interval": to_builtins(one.interval), "n": one.n}
    return {}


def _ranges(scores: list[str]) -> dict[str, tuple[float | None, float | None]] | None:
    """`exact_match=0.5:0.9` as the name of a metric and what its value lies between."""
    found: dict[str, tuple[float | None, float | None]] = {}
    for asked in scores:
        name, _, ends = asked.partition("=")
        low, colon, high = ends.partition(":")
        try:
            found[name] = (float(low) if low else None, float(high) if high else None if colon else float(low))
        except ValueError:
            raise ArgumentError("score", asked, "write a range as exact_match=0.5: or exact_match=0.5:0.9.") from None
    return found or None


def show(run: str, store: str | None, by: str | None) -> Pieces:
    """Show a run: what was run on what, its scores, and those of groups of its samples."""
    from msgspec import to_builtins

    place = open_store(store)
    result = place.load(run_named(place, run))
    parts: dict[str, Any] = {"info": Facts(to_builtins(result.info)), **scored([result])}
    if by is not None:
        rows = [
            {"group": str(group), "metric": key, **to_builtins(one)}
            for group, summaries in result.by(by).items()
            for key, one in summaries.items()
        ]
        columns = (
            Column("group", by),
            Column("metric"),
            amount("value", "score", number),
            Column("interval", shown=interval),
            amount("n"),
        )
        parts["groups"] = Table(columns, rows)
    yield Several(parts)
    return None


def delete(runs: list[str], store: str | None) -> Pieces:
    """Remove runs, by their full names."""
    place = open_store(store)
    gone = {run: place.delete(run) for run in runs}
    yield Said("\n".join(f"removed {run}" for run, was_there in gone.items() if was_there), gone)
    for run, was_there in gone.items():
        if not was_there:
            raise RunNotFoundError(run, place.path, list(place))
    return None


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


def _show_arguments(parser: ArgumentParser) -> None:
    run_argument(parser)
    store_argument(parser)
    parser.add_argument("--by", metavar="FIELD", help="scores of groups too, as metadata.subject")


def _delete_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="the full names of runs")
    store_argument(parser)


COMMANDS = (
    Command.group(
        "results",
        "List, show, compare by sample, score again, export, import or remove runs that were kept.",
        Command.of(list_, _list_arguments),
        Command.of(show, _show_arguments),
        *moves.ACTIONS,
        *exchange.ACTIONS,
        Command.of(delete, _delete_arguments),
        default="list",
    ),
    Command.of(exchange.report, exchange.report_arguments),
)
