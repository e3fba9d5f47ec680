"""Cross-validation: every row is in exactly one test fold."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.ops.codes import Codes, by_code, codes_of, key_column, sorted_codes
from crucible_datasets.ops.rows import random_generator
from crucible_datasets.tables.rows import tightest
from crucible_datasets.tables.view import View

Folds = npt.NDArray[np.int64]


def k_fold(
    view: View,
    k: int,
    shuffle: bool = True,
    seed: int | None = None,
    stratify_by_column: str | None = None,
    group_by_column: str | None = None,
) -> list[tuple[View, View]]:
    """`k` pairs of train rows and test rows.

    Sizes of folds differ by at most one. Stratified, so do the counts of each value.
    Rows of one group are never in two folds; then folds are as even as the groups allow.
    """
    if k < 2:
        raise ArgumentError("k", k, "at least 2 folds are needed, to train on one and test on the other.")
    if k > len(view):
        raise ArgumentError("k", k, f"there are only {len(view)} rows.")
    order = random_generator(seed, None).permutation(len(view)) if shuffle else np.arange(len(view), dtype=np.int64)
    classes = None if stratify_by_column is None else sorted_codes(key_column(view, stratify_by_column))[order]
    if group_by_column is not None:
        groups, _ = codes_of(key_column(view, group_by_column))
        folds = _grouped(groups[order], classes, k, group_by_column)
    else:
        folds = _even(len(view), k) if classes is None else _stratified(classes, k)
    return [
        (
            view.moved(tightest(order[folds != fold]), "k_fold.train"),
            view.moved(tightest(order[folds == fold]), "k_fold.test"),
        )
        for fold in range(k)
    ]


def _even(num_rows: int, k: int) -> Folds:
    """Contiguous folds of equal size."""
    return np.arange(num_rows) * k // num_rows


def _stratified(classes: Codes, k: int) -> Folds:
    """Deal the rows class by class to the folds in turn, so that sizes and class counts differ by at most one."""
    dealt, _ = by_code(classes)
    folds = np.empty(len(classes), dtype=np.int64)
    folds[dealt] = np.arange(len(classes)) % k
    return folds


def _grouped(groups: Codes, classes: Codes | None, k: int, column: str) -> Folds:
    # Codes are in order of appearance, so the shuffled order decides between groups of equal size.
    groups, _ = codes_of(pa.chunked_array([groups]))
    sizes = np.bincount(groups)
    if k > len(sizes):
        raise ArgumentError("k", k, f"column {column!r} has only {len(sizes)} different values to keep together.")
    largest_first = np.argsort(-sizes, kind="stable")
    if classes is None:
        return _smallest_fold_first(sizes, largest_first, k)[groups]
    return _most_even_mix(groups, classes, largest_first, k)[groups]


def _smallest_fold_first(sizes: Folds, largest_first: Folds, k: int) -> Folds:
    """The fold of each group: always the one with the fewest rows so far."""
    fold_of = np.empty(len(sizes), dtype=np.int64)
    heap = [(0, fold) for fold in range(k)]
    for group, size in zip(largest_first.tolist(), sizes[largest_first].tolist(), strict=True):
        filled, fold = heap[0]
        fold_of[group] = fold
        heapq.heapreplace(heap, (filled + size, fold))
    return fold_of


def _most_even_mix(groups: Codes, classes: Codes, largest_first: Folds, k: int) -> Folds:
    """The fold of each group: the one where it adds least to the squares of the folds' class shares.

    One more column counts all rows, so that folds also stay alike in size and none stays empty.
    """
    num_classes = int(classes.max()) + 1
    pairs, counts = np.unique(groups * num_classes + classes, return_counts=True)
    owners, kinds = np.divmod(pairs, num_classes)
    starts = np.searchsorted(owners, np.arange(len(largest_first) + 1))
    totals = np.bincount(classes, minlength=num_classes)
    filled = np.zeros((k, num_classes + 1))
    fold_of = np.empty(len(largest_first), dtype=np.int64)
    for group in largest_first.tolist():
        own = slice(starts[group], starts[group + 1])
        present, amount = kinds[own], counts[own]
        size = amount.sum()
        cost = filled[:, present] @ (amount / totals[present]) + filled[:, -1] * (size / len(classes))
        fold = int(np.argmin(cost))
        fold_of[group] = fold
        filled[fold, present] += amount
        filled[fold, -1] += size
    return fold_of
