"""`crucible results diff`, `crucible results rescore`: samples whose scores differ."""

from __future__ import annotations

from argparse import ArgumentParser

from crucible_datasets.cli.command import Command, code_argument, require_count, run_argument, store_argument
from crucible_datasets.cli.opening import existing_store, explained_run_names, run_named
from crucible_datasets.cli.output import Column, Message, Outputs, Sections, Table, amount
from crucible_datasets.cli.scores import interval, number, percent, result_rows


def diff(
    first: str, second: str, store: str | None, metric: str | None, kind: str | None, limit: int | None
) -> Outputs:
    """Show which samples were fixed and which were broken between two runs."""
    require_count(limit or 0, "limit")
    place = existing_store(store)
    with explained_run_names(place, [first, second]):
        found = place.diff(run_named(place, first), run_named(place, second), metric)
    counts = Table((Column("kind"), amount("samples")), [{"kind": k, "samples": n} for k, n in found.counts.items()])
    kinds = ("fixed", "broken") if kind is None else (kind,)
    rows = [
        {
            "kind": row.kind,
            "id": row.id,
            "target": (row.first or row.second).target,  # type: ignore[union-attr]
            "first": None if row.first is None else row.first.prediction,
            "second": None if row.second is None else row.second.prediction,
        }
        for each in kinds
        for row in found.of(each)
    ]
    names = (("id", "id"), ("target", "target"), ("first", found.first.info.model), ("second", found.second.info.model))
    columns = (Column("kind", keep=True), *(Column(key, heading) for key, heading in names))
    empty = "no samples moved" if kind is None else f"no samples are {kind}"
    yield Sections({"counts": counts, "samples": Table(columns, rows[:limit], empty)})
    return None


def rescore(
    run: str,
    store: str | None,
    metrics: str | None,
    extract: str | None,
    no_store: bool,
    allow_code_execution: bool,
) -> Outputs:
    """Score the stored predictions of a run again, with another rule or other metrics."""
    place = existing_store(store)
    chosen = metrics.split(",") if metrics else None
    name, keep = run_named(place, run), not no_store
    made = place.rescore(name, chosen, extract=extract, save=keep, allow_code_execution=allow_code_execution)
    moved = [
        {
            "id": move.id,
            "before": move.before.value,
            "after": move.after.value,
            "was": move.before.status,
            "is": move.after.status,
            "read": move.after.extracted,
        }
        for move in made.moved
    ]
    columns = (Column("id"), amount("before"), amount("after"), Column("was"), Column("is"), Column("read"))
    both = {"before": made.before, "after": made.result}
    rows = [{"scored": when, **row} for when, result in both.items() for row in result_rows(result)]
    yield Sections(
        {
            "scores": Table(_TWICE, rows),
            "moved": Table(columns, moved, "no sample moved"),
            "stored": Message("" if made.run_id is None else f"kept as {made.run_id}", made.run_id),
        }
    )
    return None


def _listed(rules: list[str]) -> str:
    return ", ".join(rules) or "none"


# Unchanged rules are left out, since their names are long.
_TWICE = (
    Column("scored", keep=True),
    Column("rules", "rule", _listed, keep=True),
    Column("metric", keep=True),
    amount("value", "score", number),
    amount("unparsed_rate", "unparsed", percent),
    Column("interval", shown=interval, keep=True, spare=True),
    amount("n", spare=True),
)


def _diff_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("first", metavar="RUN", help="the run before")
    parser.add_argument("second", metavar="RUN", help="the run after")
    store_argument(parser)
    parser.add_argument("--metric", metavar="NAME", help="the metric; by default the first of the runs")
    kinds = ("fixed", "broken", "both_right", "both_wrong", "uncounted", "only_first", "only_second")
    parser.add_argument("--kind", choices=kinds, help="which samples; fixed and broken by default")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N samples; all by default")


def _rescore_arguments(parser: ArgumentParser) -> None:
    run_argument(parser)
    store_argument(parser)
    parser.add_argument("--metrics", metavar="A,B", help="by default those of the run")
    parser.add_argument("--extract", metavar="RULE", help="the rule that extracts answers, as gsm8k/lm-eval-flexible")
    parser.add_argument("--no-store", action="store_true", help="store nothing")
    code_argument(parser)


ACTIONS = (Command.of(diff, _diff_arguments), Command.of(rescore, _rescore_arguments))
