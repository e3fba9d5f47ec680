"""`train_test_split` and `sample`, plain or stratified by any column. Folds are in `folds`.

The same seed gives the same rows as in Hugging Face `datasets`: the same random numbers are drawn in the same order.
Everything else is numpy on the codes of a column.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from crucible_datasets.exceptions import ArgumentError, SplitSizeError, StratificationError
from crucible_datasets.ops.codes import Codes, by_code, key_column, sorted_codes, turns
from crucible_datasets.ops.rows import random_generator
from crucible_datasets.tables.rows import Rows, tightest
from crucible_datasets.tables.view import View

Size = float | None
Indices = npt.NDArray[np.int64]


def train_test_split(
    view: View,
    test_size: Size = None,
    train_size: Size = None,
    shuffle: bool = True,
    stratify_by_column: str | None = None,
    seed: int | None = None,
    generator: np.random.Generator | None = None,
    train_fingerprint: str | None = None,
    test_fingerprint: str | None = None,
) -> tuple[View, View]:
    """The train rows and the test rows. A float is a fraction, an int a number of rows."""
    train: Rows = range(0)
    test: Rows = range(0)
    if len(view):
        num_train, num_test = _sizes(test_size, train_size, len(view))
        if shuffle:
            draw = random_generator(None if generator is not None else seed, generator)
            train, test = _drawn_split(view, stratify_by_column, num_train, num_test, draw)
        elif stratify_by_column is not None:
            raise StratificationError(stratify_by_column, "rows stay in their order with shuffle=False.")
        else:
            train, test = range(num_train), range(num_train, num_train + num_test)
    return (
        view.moved(train, "train_test_split.train", train_fingerprint),
        view.moved(test, "train_test_split.test", test_fingerprint),
    )


def _drawn_split(
    view: View, stratify_by_column: str | None, num_train: int, num_test: int, draw: np.random.Generator
) -> tuple[Rows, Rows]:
    if stratify_by_column is None:
        permutation = draw.permutation(len(view))
        train, test = permutation[num_test : num_test + num_train], permutation[:num_test]
    else:
        train, test = _stratified_split(view, stratify_by_column, num_train, num_test, draw)
    return tightest(train), tightest(test)


def _sizes(test_size: Size, train_size: Size, num_rows: int) -> tuple[int, int]:
    """The sizes of train and test; if one is not given, it is the rest."""

    def refuse(reason: str) -> SplitSizeError:
        return SplitSizeError(test_size, train_size, num_rows, reason)

    given = 0.25 if test_size is None and train_size is None else test_size
    for name, size in (("test_size", given), ("train_size", train_size)):
        if size is None:
            continue
        if not isinstance(size, (int, float, np.integer, np.floating)):
            raise refuse(f"{name} is a {type(size).__name__}; give a fraction or a number of rows.")
        limit = num_rows if _is_count(size) else 1
        if not 0 < size < limit:
            raise refuse(f"{name} must lie between 0 and {limit}, both excluded.")
    if _is_fraction(given) and _is_fraction(train_size) and given + train_size > 1:  # type: ignore[operator]
        raise refuse("the two fractions add up to more than 1.")
    num_test = None if given is None else _count(given, num_rows, math.ceil)
    num_train = None if train_size is None else _count(train_size, num_rows, math.floor)
    num_test = num_rows - num_train if num_test is None and num_train is not None else num_test or 0
    num_train = num_rows - num_test if num_train is None else num_train
    if num_train + num_test > num_rows:
        raise refuse(f"together they need {num_train + num_test} rows.")
    if num_train == 0:
        raise refuse("no row would be left for train.")
    return num_train, num_test


def _is_count(size: Any) -> bool:
    return isinstance(size, (int, np.integer))


def _is_fraction(size: Any) -> bool:
    return isinstance(size, (float, np.floating))


def _count(size: float, num_rows: int, rounded: Any) -> int:
    return int(size) if _is_count(size) else int(rounded(size * num_rows))


def _stratified_split(
    view: View, column: str, num_train: int, num_test: int, draw: np.random.Generator
) -> tuple[Indices, Indices]:
    codes = _classes(view, column)
    counts = np.bincount(codes)
    if counts.min() < 2:
        raise StratificationError(column, "a value occurs in only one row, and each must occur in train and in test.")
    for name, size in (("train", num_train), ("test", num_test)):
        if size < len(counts):
            raise StratificationError(column, f"{name} has {size} rows for {len(counts)} different values.")
    train_shares = _likeliest_shares(counts, num_train, draw)
    test_shares = _likeliest_shares(counts - train_shares, num_test, draw)
    order, starts = by_code(codes)
    shuffled = [start + draw.permutation(count) for start, count in zip(starts.tolist(), counts.tolist(), strict=False)]
    within = np.arange(len(codes)) - np.repeat(starts[:-1], counts)
    first = np.repeat(train_shares, counts)
    last = first + np.repeat(test_shares, counts)
    rows = order[np.concatenate(shuffled)]
    return draw.permutation(rows[within < first]), draw.permutation(rows[(within >= first) & (within < last)])


def _likeliest_shares(counts: Indices, total: int, draw: np.random.Generator) -> Indices:
    """How many of `total` rows, drawn without replacement, most likely come from each class; ties are drawn."""
    expected = total * counts / counts.sum()
    shares = np.floor(expected)
    left = int(total - shares.sum())
    fractions = expected - shares
    for fraction in np.unique(fractions)[::-1]:
        if left <= 0:
            break
        tied = np.flatnonzero(fractions == fraction)
        lucky = draw.choice(tied, size=min(len(tied), left), replace=False)
        shares[lucky] += 1
        left -= len(lucky)
    whole: Indices = shares.astype(np.int64)
    return whole


def _classes(view: View, column: str) -> Codes:
    return sorted_codes(key_column(view, column))


def sample(
    view: View,
    n: float,
    seed: int | None = None,
    generator: np.random.Generator | None = None,
    stratify_by_column: str | None = None,
    replace: bool = False,
) -> View:
    """`n` rows (a float: that fraction of them) in random order.

    Without stratification and replacement they are the first `n` of `shuffle` with the
    same seed. Stratified, each value of the column gets its exact share of `n`, and the
    rows that rounding leaves go to the largest remainders.
    """
    size = _sample_size(n, len(view), replace)
    draw = random_generator(seed, generator)
    if stratify_by_column is None:
        rows = draw.integers(0, len(view), size) if replace and size else draw.permutation(len(view))[:size]
        return view.moved(tightest(rows), "sample")
    codes = _classes(view, stratify_by_column)
    if not size:
        return view.moved(range(0), "sample")
    quotas = _exact_shares(np.bincount(codes), size)
    if replace:
        return view.moved(tightest(_drawn_again(codes, quotas, draw)), "sample")
    permutation = draw.permutation(len(view))
    shuffled = codes[permutation]
    return view.moved(tightest(permutation[turns(shuffled) < quotas[shuffled]]), "sample")


def _sample_size(n: float, num_rows: int, replace: bool) -> int:
    if isinstance(n, bool) or not (_is_count(n) or _is_fraction(n)) or not 0 <= n < math.inf:
        raise ArgumentError("n", n, "expected a number of rows, or a fraction of them as a float.")
    size = _count(n, num_rows, round)
    if size > num_rows and not (replace and num_rows):
        hint = "" if replace else "; replace=True would draw rows more than once"
        raise ArgumentError("n", n, f"the dataset has {num_rows} rows{hint}.")
    return size


def _exact_shares(counts: Indices, total: int) -> Indices:
    """`total` divided in proportion to `counts` by largest remainder; equal remainders go to the first."""
    shares, remainders = np.divmod(counts * total, counts.sum())
    shares[np.argsort(-remainders, kind="stable")[: total - shares.sum()]] += 1
    return shares


def _drawn_again(codes: Codes, quotas: Indices, draw: np.random.Generator) -> Indices:
    """For each class as many of its rows as its quota, each draw among all of them."""
    order, starts = by_code(codes)
    lows, highs = np.repeat(starts[:-1], quotas), np.repeat(starts[1:], quotas)
    return draw.permutation(order[draw.integers(lows, highs)])
