"""The paired permutation test: under the null hypothesis, every difference has either sign with equal probability."""

from __future__ import annotations

from typing import Any

import numpy as np

from crucible_datasets.evaluation.statistics.arrays import Floats, codes_of, numbers, of_one_length
from crucible_datasets.evaluation.statistics.clusters import totals
from crucible_datasets.evaluation.statistics.discordance import fair_coin_tail
from crucible_datasets.evaluation.statistics.resampling import blocks
from crucible_datasets.exceptions import ArgumentError

# All 65,536 ways to sign 16 differences take a millisecond.
_MOST_TO_ENUMERATE = 16
# Tolerance for sums of the same numbers in another order.
_ROUNDING = 1e-9


def sign_flip_test(differences: Any, n: int = 20_000, seed: int = 0, clusters: Any = None) -> float:
    """The p-value of the mean difference, over assignments of random signs.

    With `clusters`, the differences of a cluster change their signs together. It is exact for differences of equal
    size (then it is McNemar's test) and for up to 16 differences; otherwise it is estimated from `n` random
    assignments.
    """
    data = numbers("differences", differences)
    of_one_length(differences=data, clusters=clusters)
    if n < 1:
        raise ArgumentError("n", n, "at least one choice of signs is needed.")
    codes, names = (None, range(len(data))) if clusters is None else codes_of(clusters)
    sums, _ = totals(data, codes, len(names))
    sizes = np.abs(sums)
    sizes = np.sort(sizes[sizes > _ROUNDING * sizes.max(initial=0.0)])
    observed = abs(float(sums.sum())) - _ROUNDING * float(sizes.sum())
    if not len(sizes):
        return 1.0
    if sizes[-1] - sizes[0] <= _ROUNDING * sizes[-1]:
        steps = round(abs(float(sums.sum())) / float(sizes.mean()))
        return min(1.0, 2 * fair_coin_tail((len(sizes) - steps) // 2, len(sizes)))
    if len(sizes) <= _MOST_TO_ENUMERATE:
        return float(np.mean(np.abs(_every_total(sizes)) >= observed))
    beyond = int(np.count_nonzero(np.abs(_random_totals(sizes, n, seed)) >= observed))
    # The observed signs are one of the assignments.
    return (beyond + 1) / (n + 1)


def _every_total(sizes: Floats) -> Floats:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _random_totals(sizes: Floats, n: int, seed: int) -> Floats:
    draw = np.random.default_rng(seed)
    distinct, counts = np.unique(sizes, return_counts=True)
    sums = np.empty(n)
    if 10 * len(distinct) < len(sizes):
        for block in blocks(n, len(distinct)):
            positive = draw.binomial(counts, 0.5, size=(block.stop - block.start, len(distinct)))
            sums[block] = (2 * positive - counts) @ distinct
        return sums
    for block in blocks(n, len(sizes)):
        lines = block.stop - block.start
        bits = np.unpackbits(np.frombuffer(draw.bytes(lines * (len(sizes) + 7) // 8 + lines), dtype=np.uint8))
        signs = bits[: lines * len(sizes)].reshape(lines, len(sizes)).astype(np.float64)
        sums[block] = 2 * (signs @ sizes) - sizes.sum()
    return sums
