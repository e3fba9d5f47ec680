"""`overlap` and `decontaminate`: which texts of a test set are in the training data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from crucible_datasets.benchmarks.contamination.minhash import nearly_same
from crucible_datasets.benchmarks.contamination.report import How, OverlapReport
from crucible_datasets.benchmarks.contamination.report import examples as examples_of
from crucible_datasets.benchmarks.contamination.scan import Found, Grams, runs, scanned, wholes
from crucible_datasets.benchmarks.contamination.sources import Side
from crucible_datasets.benchmarks.contamination.words import words_of
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.progress import bar

Method = Literal["ngrams", "exact", "minhash"]
Columns = Sequence[str] | str | None
# 13-grams are the standard for language models; near-duplicates share shorter ones.
_RUN = {"ngrams": 13, "minhash": 5}
_THRESHOLD = {"ngrams": 0.0, "exact": 0.0, "minhash": 0.8}


class Decontaminated(NamedTuple):
    """The training data without matching rows, and the report."""

    dataset: Any
    report: OverlapReport


def overlap(
    train: Any,
    test: Any,
    n: int | None = None,
    *,
    method: Method = "ngrams",
    columns: Columns = None,
    train_columns: Columns = None,
    test_columns: Columns = None,
    threshold: float | None = None,
    max_matches: int = 10,
    examples: int = 5,
) -> OverlapReport:
    """Which test rows are contained in training rows, and to what extent.

    Both sides may be datasets, streams, samples, files, names, or lists of texts. "ngrams" searches common runs of
    `n` words (13), "exact" equal texts, "minhash" near-duplicates (5-grams with a Jaccard similarity of at least
    `threshold`). Case, punctuation and white space are ignored. The smaller side is in memory, the other is streamed.
    """
    sides = Side(train, train_columns or columns), Side(test, test_columns or columns)
    return _report(*sides, _how(*sides, n, method, threshold, max_matches), examples)


def decontaminate(
    train: Any,
    test: Any,
    n: int | None = None,
    *,
    method: Method = "ngrams",
    columns: Columns = None,
    train_columns: Columns = None,
    test_columns: Columns = None,
    threshold: float | None = None,
    max_matches: int = 10,
    examples: int = 5,
) -> Decontaminated:
    """The training data without the rows that match a contaminated test row, and the report of `overlap`."""
    sides = Side(train, train_columns or columns), Side(test, test_columns or columns)
    how = _how(*sides, n, method, threshold, max_matches)
    report = _report(*sides, how, examples)
    found = report.found
    if method == "ngrams" and how.threshold > 0:
        # Training rows that only match test rows below the threshold are kept.
        found = _found(sides[0], sides[1].with_rows(np.array(report.contaminated, np.int64)), how)
    return Decontaminated(sides[0].without(found.train_matched), report)


def _how(train: Side, test: Side, n: int | None, method: Method, threshold: float | None, most: int) -> How:
    if method not in _THRESHOLD:
        raise ArgumentError("method", method, f"choose one of {', '.join(_THRESHOLD)}.")
    least = _THRESHOLD[method] if threshold is None else threshold
    if not 0 <= least <= 1 or (method == "minhash" and not least):
        raise ArgumentError("threshold", threshold, "it is a share between 0 and 1, for minhash above 0.")
    if n is not None and n < 1:
        raise ArgumentError("n", n, "runs have one word or more.")
    if most < 1:
        raise ArgumentError("max_matches", most, "keep one match or more.")
    length = None if method == "exact" else n or _RUN[method]
    return How(method, length, least, *_columns(train, test, method), most)


def _columns(train: Side, test: Side, method: Method) -> tuple[list[str], list[str]]:
    """The columns to compare: n-grams are searched in all texts of training rows, whole texts in columns of both."""
    if method == "ngrams":
        return train.columns or train.text_columns, test.default_columns()
    both = [name for name in test.default_columns() if name in (train.columns or train.text_columns)]
    return train.columns or both or train.default_columns(), test.columns or both or test.default_columns()


def _report(train: Side, test: Side, how: How, examples: int) -> OverlapReport:
    found = _found(train, test, how)
    report = OverlapReport(how, found, test.short_rows)
    return replace(report, examples=examples_of(train, test, how, found, report.contaminated[:examples]))


def _found(train: Side, test: Side, how: How) -> Found:
    # The length of a stream is unknown, so it is assumed to be the longer side.
    test_is_indexed = train.num_rows is None or (test.num_rows is not None and test.num_rows <= train.num_rows)
    sides = (train, how.train_columns), (test, how.test_columns)
    (small, few), (large, many) = reversed(sides) if test_is_indexed else sides
    indexed, streamed = _grams(small, few, how, "indexed"), _grams(large, many, how, "compared")
    if how.method == "minhash":
        return nearly_same(indexed, streamed, test_is_indexed, how.max_matches, how.threshold)
    return scanned(indexed, streamed, test_is_indexed, how.max_matches)


def _grams(side: Side, columns: Sequence[str], how: How, doing: str) -> Iterator[Grams]:
    side.short_rows = 0
    with bar(total=side.num_rows, unit=" rows", desc=f"Rows {doing}") as shown:
        for texts in side.blocks(columns):
            words = words_of(texts)
            side.short_rows += int(np.count_nonzero(words.per_text < (how.n or 1)))
            yield wholes(words) if how.n is None else runs(words, how.n)
            shown.update(len(texts))
