"""`OverlapReport`: the result of `overlap`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.benchmarks.contamination.scan import Found
from crucible_datasets.benchmarks.contamination.sources import Side
from crucible_datasets.benchmarks.contamination.words import spelled
from crucible_datasets.forking import cached_property

_SHOWN = 160


@dataclass(frozen=True)
class OverlapExample:
    """A test row, the first training row that matches it, and their longest common passage."""

    test_row: int
    train_row: int
    share: float
    passage: str


@dataclass(frozen=True)
class How:
    """How texts were compared."""

    method: str
    n: int | None
    threshold: float
    train_columns: Sequence[str]
    test_columns: Sequence[str]
    max_matches: int

    def __str__(self) -> str:
        if self.method == "exact":
            return "equal texts"
        kind = f"{self.n}-grams of words"
        return kind if self.method == "ngrams" else f"at least {self.threshold:.0%} of their {kind} in common"


@dataclass(frozen=True, repr=False)
class OverlapReport:
    """Which test rows are contained in training rows, and to what extent.

    `shares` has for each test row the share of its n-grams that occur in training rows (with "exact" 0 or 1, with
    "minhash" the similarity). A row is contaminated if its share is positive and at least the threshold.
    """

    how: How
    found: Found
    short_rows: int = 0  # test rows with fewer than n words, which only match equal texts
    examples: Sequence[OverlapExample] = ()

    @property
    def num_test(self) -> int:
        """The number of test rows."""
        return len(self.found.share)

    @property
    def num_train(self) -> int:
        """The number of training rows."""
        return len(self.found.train_matched)

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """For each test row, the share of it that occurs in training rows."""
        return self.found.share

    @cached_property
    def contaminated(self) -> list[int]:
        """The indices of the contaminated test rows."""
        return np.flatnonzero((self.shares > 0) & (self.shares >= self.how.threshold)).tolist()

    @property
    def rate(self) -> float:
        """The share of test rows that are contaminated."""
        return len(self.contaminated) / self.num_test if self.num_test else 0.0

    @cached_property
    def train_rows(self) -> list[int]:
        """The indices of the training rows that match any test row."""
        return np.flatnonzero(self.found.train_matched).tolist()

    def matches(self, test_row: int) -> list[int]:
        """The first training rows that match this test row, at most `max_matches`."""
        first, last = np.searchsorted(self.found.test_rows, [test_row, test_row + 1])
        return self.found.train_rows[first:last].tolist()

    @cached_property
    def rows(self) -> Dataset:
        """A dict for each test row: its index, share, whether it is contaminated, and matching training rows."""
        import pyarrow as pa

        offsets = np.searchsorted(self.found.test_rows, np.arange(self.num_test + 1)).astype(np.int64)
        marked = np.zeros(self.num_test, bool)
        marked[self.contaminated] = True
        columns = {
            "row": np.arange(self.num_test),
            "share": self.shares,
            "contaminated": marked,
            "train_rows": pa.LargeListArray.from_arrays(offsets, self.found.train_rows),
        }
        return Dataset(pa.table(columns))

    def to_dict(self) -> dict[str, Any]:
        """The summary, the contaminated rows with their matches, and the examples."""
        rows = {row: {"share": float(self.shares[row]), "train_rows": self.matches(row)} for row in self.contaminated}
        how = {name: list(value) if isinstance(value, list) else value for name, value in vars(self.how).items()}
        return {**how, **self._summary(), "rows": rows, "examples": [asdict(each) for each in self.examples]}

    def _summary(self) -> dict[str, Any]:
        return {
            "test_rows": self.num_test,
            "contaminated": len(self.contaminated),
            "rate": self.rate,
            "mean_share": float(self.shares.mean()) if self.num_test else 0.0,
            "short_rows": self.short_rows,
            "train_rows": self.num_train,
            "matching_train_rows": len(self.train_rows),
        }

    def to_markdown(self) -> str:
        """The summary and the examples as tables."""
        facts = [f"| {name.replace('_', ' ')} | {_shown(value)} |" for name, value in self._summary().items()]
        lines = ["| overlap | " + str(self.how) + " |", "|---|---|", *facts]
        if self.examples:
            lines += ["", "| test row | share | train row | passage |", "|---|---|---|---|"]
            lines += [
                f"| {e.test_row} | {e.share:.0%} | {e.train_row} | {_clipped(e.passage)} |" for e in self.examples
            ]
        return "\n".join(lines)

    def __str__(self) -> str:
        where = f"{len(self.train_rows):,} of {self.num_train:,} train rows match"
        line = (
            f"{len(self.contaminated):,} of {self.num_test:,} test rows ({self.rate:.1%}) are contaminated; "
            f"{where} ({self.how}{self._shorter()})"
        )
        shown = [
            f"  test {e.test_row} ({e.share:.0%}) in train {e.train_row}: {_clipped(e.passage)}" for e in self.examples
        ]
        return "\n".join([line, *shown])

    def _shorter(self) -> str:
        """A note on rows with fewer than n words."""
        if not self.short_rows or self.how.n is None:
            return ""
        rows = f"; {self.short_rows:,} shorter test row{'' if self.short_rows == 1 else 's'} as a whole"
        return f"{rows}, so in equal texts only: name columns, or a smaller n, to find more" if self._blind else rows

    @property
    def _blind(self) -> bool:
        """Whether no row matched, but most test rows are too short for n-grams."""
        return self.how.method == "ngrams" and not self.contaminated and 2 * self.short_rows > self.num_test

    def __repr__(self) -> str:
        return f"<OverlapReport: {str(self).partition(chr(10))[0]}>"


def _shown(value: float) -> str:
    return f"{value:.2%}" if isinstance(value, float) else f"{value:,}"


def _clipped(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


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
