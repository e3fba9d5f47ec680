"""Examples for a report: common passages of rows of both sides."""

from __future__ import annotations

from collections.abc import Iterator

from crucible_datasets.benchmarks.contamination.report import How, OverlapExample
from crucible_datasets.benchmarks.contamination.scan import Found
from crucible_datasets.benchmarks.contamination.sources import Side
from crucible_datasets.benchmarks.contamination.words import spelled

_LONGEST = 100_000  # characters of a text that are searched


def examples(train: Side, test: Side, how: How, found: Found, rows: list[int]) -> list[OverlapExample]:
    """For each of some test rows, its first matching training row and a common passage."""
    pairs = [(row, int(found.train_rows[found.test_rows.searchsorted(row)])) for row in rows]
    tests = test.texts_at([row for row, _ in pairs], how.test_columns) if pairs else {}
    trains = train.texts_at(sorted({row for _, row in pairs}), how.train_columns) if pairs else {}
    return [
        OverlapExample(row, other, float(found.share[row]), passage(tests[row], trains[other], how.n))
        for row, other in pairs
    ]


def passage(first: str, second: str, n: int | None) -> str:
    """The longest common passage of at least `n` words, in the words of the first text."""
    words, others = spelled(first[:_LONGEST]), spelled(second[:_LONGEST])
    size = min(n or len(words), len(words), len(others))
    known = {tuple(run) for run in _runs(others, size)}
    best, begin, length = (0, 0), 0, 0
    for place, run in enumerate(_runs(words, size)):
        begin, length = (begin if length else place, length + 1) if tuple(run) in known else (place, 0)
        best = max(best, (length, -begin))
    return " ".join(words[-best[1] : -best[1] + best[0] + size - 1]) if best[0] else ""


def _runs(words: list[str], n: int) -> Iterator[list[str]]:
    return (words[start : start + n] for start in range(len(words) - n + 1)) if n else iter(())
