"""The table that `compare` returns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import msgspec
from msgspec import Struct

from crucible_datasets.evaluation.statistics.interval import Interval
from crucible_datasets.evaluation.statistics.pairs import EXACT_TEST
from crucible_datasets.evaluation.statistics.power import minimum_detectable_effect


class ComparedScore(Struct, frozen=True):
    """The score of one model on one benchmark."""

    benchmark: str
    model: str
    metric: str
    value: float | None
    interval: Interval | None
    stderr: float | None
    n: int


class ComparisonRow(Struct, frozen=True, kw_only=True):
    """Two models on one benchmark: the difference is second minus first, on the samples that both have."""

    benchmark: str
    metric: str
    first: str
    second: str
    first_value: float
    second_value: float
    difference: float
    interval: Interval | None
    p_value: float
    p_adjusted: float
    test: str
    n: int
    gained: int
    lost: int
    equal: int
    left_out: int = 0
    num_clusters: int | None = None
    stderr: float | None = None
    higher_is_better: bool = True
    group: str | None = None

    @property
    def detectable(self) -> float | None:
        """The minimum detectable effect at 80 % power, for this sample size and variance; None if there is none."""
        if self.test == EXACT_TEST:
            effect = minimum_detectable_effect(self.n, discordance=(self.gained + self.lost) / self.n)
            return effect if math.isfinite(effect) else None
        return None if self.stderr is None else minimum_detectable_effect(1, sd_difference=self.stderr)

    @property
    def better(self) -> str:
        """The model with the better score; empty if they are equal."""
        if not self.difference:
            return ""
        return self.second if (self.difference > 0) == self.higher_is_better else self.first


_NAMES = ("benchmark", "metric", "first", "second")
_FIGURES = ("first score", "second score", "difference", "interval", "p", "adjusted p", "n")
_HEADINGS = (*_NAMES, *_FIGURES, "test")


@dataclass(frozen=True, repr=False)
class ComparisonTable(Sequence[ComparisonRow]):
    """The rows of a comparison; printed as a table, also in notebooks."""

    rows: list[ComparisonRow]
    scores: list[ComparedScore]
    level: float
    correction: str

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[ComparisonRow]:
        return iter(self.rows)

    def significant(self) -> list[ComparisonRow]:
        """The rows whose difference is significant at the level of the table, after the correction."""
        return [row for row in self.rows if self.is_significant(row)]

    def is_significant(self, row: ComparisonRow) -> bool:
        """Whether the adjusted p-value of a row is at most 1 - level."""
        return row.p_adjusted <= 1 - self.level + 1e-12

    def to_dict(self) -> dict[str, Any]:
        """Rows and scores as plain values."""
        rows = [
            {
                **msgspec.to_builtins(row),
                "better": row.better,
                "detectable": row.detectable,
                "significant": self.is_significant(row),
            }
            for row in self.rows
        ]
        scores = [msgspec.to_builtins(score) for score in self.scores]
        return {"level": self.level, "correction": self.correction, "rows": rows, "scores": scores}

    def to_markdown(self) -> str:
        """The rows as a table of Markdown."""
        lines = [_HEADINGS, *map(self._cells, self.rows)]
        ruler = ["---:" if name in _FIGURES else "---" for name in _HEADINGS]
        escaped = [[_one_line(cell).replace("\\", "\\\\").replace("|", "\\|") for cell in line] for line in lines]
        return "\n".join(f"| {' | '.join(line)} |" for line in [escaped[0], ruler, *escaped[1:]])

    def __str__(self) -> str:
        lines = [list(_HEADINGS), *([_one_line(cell) for cell in self._cells(row)] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = ["  ".join(map(_padded, _HEADINGS, line, widths)).rstrip() for line in lines]
        return "\n".join([*shown, self._footnote()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in _HEADINGS)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_one_line(cell))}</td>" for cell in self._cells(row)) + "</tr>"
            for row in self.rows
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<div>{table}<p><small>{escape(self._footnote())}</small></p></div>"

    def _cells(self, row: ComparisonRow) -> list[str]:
        values = [f"{value:.4f}" for value in (row.first_value, row.second_value)]
        bounds = "–" if row.interval is None else f"[{row.interval.low:+.4f}, {row.interval.high:+.4f}]"
        star = " *" if self.is_significant(row) else ""
        chances = [_chance(row.p_value), _chance(row.p_adjusted) + star]
        benchmark = row.benchmark if row.group is None else f"{row.benchmark}: {row.group}"
        names = [benchmark, row.metric, row.first, row.second]
        return [*names, *values, f"{row.difference:+.4f}", bounds, *chances, str(row.n), row.test]

    def _footnote(self) -> str:
        left_out = sum(row.left_out for row in self.rows)
        corrected = len(self.rows) > 1 and self.correction != "none"
        over = f" after {self.correction} over {len(self.rows)} comparisons" if corrected else ""
        notes = [
            "difference = second − first",
            f"{100 * self.level:g} % intervals",
            f"* adjusted p ≤ {1 - self.level:.4g}{over}",
        ]
        if left_out:
            notes.append(f"{left_out} samples that do not count in both runs were left out")
        return "; ".join([*notes, *self.cautions()]) + "."

    def cautions(self) -> list[str]:
        """Why intervals and p-values may be inexact."""
        return list(dict.fromkeys(row.interval.note for row in self.rows if row.interval and row.interval.note))


def _chance(p: float) -> str:
    # A p-value of zero is one that was too small for a float.
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}" if p >= 1e-99 else "<1e-99"


def _padded(heading: str, cell: str, width: int) -> str:
    return cell.rjust(width) if heading in _FIGURES else cell.ljust(width)


def _one_line(text: str) -> str:
    """The text with unprintable characters escaped: names come from users and files."""
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in text)
