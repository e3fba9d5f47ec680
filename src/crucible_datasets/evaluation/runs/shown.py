"""Results as text and as HTML for notebooks. Everything that comes from data is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crucible_datasets.evaluation.runs.record import MetricSummary

if TYPE_CHECKING:
    from crucible_datasets.evaluation.runs.record import EvaluationResult, RunInfo

_REASON = 200  # characters
_MADE_UP = "miniature@"  # the revision of data loaded with synthetic=True
HEADS = ("metric", "value", "interval", "n", "unparsed", "among parsed")


def as_text(result: EvaluationResult) -> str:
    """A line about the run, and one for each metric."""
    rows = [HEADS, *(cells(key, one) for key, one in result.summary.items())]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEADS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([printable(headline(result)), *map(printable, lines), *remarks(result)])


def as_html(result: EvaluationResult) -> str:
    """The same as a table."""
    heads = "".join(f"<th>{escape(head)}</th>" for head in HEADS)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(printable(cell))}</td>" for cell in cells(key, one)) + "</tr>"
        for key, one in result.summary.items()
    )
    notes = "".join(f"<p>{escape(note)}</p>" for note in remarks(result))
    title = escape(printable(headline(result)))
    return f"<div><p>{title}</p><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{notes}</div>"


def headline(result: EvaluationResult) -> str:
    """Model and data of a run."""
    info = result.info
    rule = f", {', '.join(info.rules)}" if info.rules else ""
    split = f" ({info.split})" if info.split else ""
    noun = "sample" if info.num_samples == 1 else "samples"
    return f"{info.model} on {data_name(info)}{split}: {info.num_samples:,} {noun}{rule}"


def data_name(info: RunInfo, name: str | None = None) -> str:
    """The name of the data of a run, with a note if it is a miniature of the benchmark."""
    return name_at(info.dataset if name is None else name, info.revision)


def name_at(name: str, revision: str | None) -> str:
    """The name of data, with a note if its revision is that of a miniature."""
    return f"{name} (miniature)" if (revision or "").startswith(_MADE_UP) else name


def cells(key: str, one: MetricSummary) -> tuple[str, ...]:
    """The cells of a metric in the columns HEADS."""
    interval = f"[{_number(one.interval.low)}, {_number(one.interval.high)}]" if one.interval else "–"
    return key, _number(one.value), interval, f"{one.n:,}", f"{one.unparsed_rate:.1%}", _number(one.value_parsed)


def remarks(result: EvaluationResult) -> list[str]:
    """Remarks on an imported run that failed, and on samples that were missing or failed."""
    failure = result.info.options.get("failed")
    notes = [printable(f"the run failed: {str(failure)[:_REASON]}")] if failure else []
    for key, one in result.summary.items():
        for status in ("missing", "error", "timeout"):
            if one.counts.get(status):
                counted = "left out" if one.n + one.counts[status] <= sum(one.counts.values()) else "counted as wrong"
                why = reason_of(result, key, status)
                notes.append(printable(f"{key}: {one.counts[status]:,} {status}, {counted}{why}"))
        if one.n == 0 and set(one.counts) == {"ok"}:
            notes.append(printable(f"{key}: no score, since the metric gave None for every sample"))
    return notes


def reason_of(result: EvaluationResult, key: str, status: str) -> str:
    """The reason of the first failed sample."""
    if status == "missing":
        return ""
    details = (one.detail for one in result.samples.outcomes(key) if one.status == status and one.detail)
    reasons = (detail.get("error") or detail.get("reason") for detail in details)
    return next((f" ({str(reason)[:_REASON]})" for reason in reasons if reason), "")


def printable(text: str) -> str:
    """Text without characters that control terminals."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
