"""Tables of scores and of comparisons, shared by commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crucible_datasets.cli.output import Column, Message, Output, Sections, Table, amount, plural

if TYPE_CHECKING:
    from crucible_datasets.evaluation.comparing.compared import ComparedScore, ComparisonTable
    from crucible_datasets.evaluation.runs.record import EvaluationResult, MetricSummary, RunInfo


def summary_rows(info: RunInfo, summary: dict[str, MetricSummary]) -> list[dict[str, Any]]:
    """A row for each metric of a run."""
    from msgspec import to_builtins

    about = {"run": info.run_id, "model": info.model, "benchmark": info.dataset, "revision": info.revision}
    return [{**about, "rules": info.rules, "metric": key, **to_builtins(one)} for key, one in summary.items()]


def result_rows(result: EvaluationResult) -> list[dict[str, Any]]:
    """A row for each metric of a run."""
    return summary_rows(result.info, result.summary)


def score_rows(scores: Sequence[ComparedScore]) -> list[dict[str, Any]]:
    """A row per score of a comparison."""
    from msgspec import to_builtins

    return [to_builtins(score) for score in scores]


def scores_and_notes(results: Sequence[EvaluationResult], notes: Sequence[str] = ()) -> dict[str, Output]:
    """The scores of runs, with important notes."""
    return {"scores": score_table([row for result in results for row in result_rows(result)])} | run_notes(
        results, notes
    )


def run_notes(results: Sequence[EvaluationResult], notes: Sequence[str] = ()) -> dict[str, Output]:
    """Important notes, such as on samples that were missing or failed."""
    from crucible_datasets.evaluation.runs.shown import remarks

    said = [*notes, *(f"{result.info.model}: {note}" for result in results for note in remarks(result))]
    return {"notes": Message("\n".join(said), said)} if said else {}


def data_column(key: str, rows: Sequence[Mapping[str, Any]]) -> Column:
    """A column with the names of data; always shown if there are miniatures."""

    def named(row: Mapping[str, Any]) -> str:
        from crucible_datasets.evaluation.runs.shown import name_at

        return name_at(row[key], row.get("revision"))

    return Column(key, "benchmark", spare=all(named(row) == row[key] for row in rows), of=named)


def score_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Scores with intervals, and the share of parsed answers."""
    data = data_column("benchmark", rows)
    return Table(
        (
            Column("model"),
            data,
            Column("metric"),
            amount("value", "score", number),
            Column("interval", shown=interval, keep=True),
            amount("unparsed_rate", "unparsed", percent),
            amount("value_parsed", "if parsed", number, spare=not data.spare),
            amount("n", shown=lambda count: f"{count:,}"),
        ),
        rows,
        "no scores",
    )


def comparison_table(table: ComparisonTable) -> Output:
    """Differences, second minus first, with intervals and p-values."""
    facts = table.to_dict()
    about = {key: list(dict.fromkeys(row[key] for row in facts["rows"])) for key in ("metric", "benchmark", "test")}
    where = [Column(key) for key in ("benchmark", "metric") if len(about[key]) > 1] + [Column("group")]
    rows = Table((*where, *_DIFFERENCE), facts["rows"])
    what = " on ".join(about[key][0] for key in ("metric", "benchmark") if len(about[key]) == 1)
    notes = [what, f"{100 * table.level:g} % intervals", *about["test"]]
    over = f" ({table.correction}, {len(table)} comparisons)" if len(table) > 1 and table.correction != "none" else ""
    notes.append(f"* adjusted p ≤ {1 - table.level:.4g}{over}")
    if left_out := sum(row.left_out for row in table):
        notes.append(f"{plural(left_out, 'sample')} that do not count in both runs left out")
    notes += table.cautions()
    note = Message("; ".join(filter(None, notes)), {"level": table.level, "correction": table.correction})
    return Sections({"rows": rows, "note": note})


def number(value: float) -> str:
    """A score."""
    return f"{value:.3f}"


def signed(value: float) -> str:
    """A difference."""
    return f"{value:+.3f}"


def percent(value: float) -> str:
    """A share."""
    return f"{100 * value:.1f} %"


def probability(value: float) -> str:
    """A p-value; zero means that it was too small for a float."""
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}" if value >= 1e-99 else "<1e-99"


def interval(ends: dict[str, Any]) -> str:
    """The interval of a score."""
    return f"[{ends['low']:.3f}, {ends['high']:.3f}]"


def signed_interval(ends: dict[str, Any]) -> str:
    """The interval of a difference."""
    return f"[{ends['low']:+.3f}, {ends['high']:+.3f}]"


def _adjusted(row: Mapping[str, Any]) -> str:
    return probability(row["p_adjusted"]) + (" *" if row["significant"] else "  ")


_DIFFERENCE = (
    Column("second"),
    Column("first", "minus"),
    amount("difference", shown=signed),
    Column("interval", shown=signed_interval, keep=True),
    amount("p_value", "p", probability),
    Column("adjusted p", right=True, keep=True, of=_adjusted),
    amount("n", spare=True),
)
