"""The best vectors for a query: exact results from blocked matrix products.

A matrix product gives all costs of a block up to a bounded rounding error. Only rows that may be among the best
within that bound are computed again, one by one in double precision. So results do not depend on blocks, batches and
threads, equal vectors get equal scores, and equal scores are ranked by row number.
"""

from __future__ import annotations

import math

import numpy as np

from crucible_datasets.ops.search.metrics import Metric, norms_of
from crucible_datasets.ops.search.vectors import Matrix, spans

# Elements of a block of vectors and of a block of costs: 16 MB each in single precision.
BLOCK = 1 << 22


def block_rows(width: int) -> int:
    """The number of vectors of a block."""
    return max(1, BLOCK // max(width, 256))


def best(vectors: Matrix, norms: Matrix, queries: Matrix, k: int, metric: Metric) -> tuple[Matrix, Matrix]:
    """Scores and rows of the `k` best vectors for each query; fewer if there are fewer vectors."""
    dtype = np.result_type(vectors.dtype, np.float32)
    k = min(k, len(vectors))
    scores, rows = np.empty((len(queries), k), dtype), np.empty((len(queries), k), np.int64)
    with np.errstate(all="ignore"):
        for few in spans(len(queries), max(1, BLOCK // block_rows(vectors.shape[1]))):
            found = _best_of_few(vectors, norms, queries[few].astype(dtype, "C"), k, metric)
            for at, (costs, best_rows) in enumerate(found, few.start):
                scores[at], rows[at] = costs * metric.sign, best_rows
    return scores, rows


def _best_of_few(
    vectors: Matrix, norms: Matrix, queries: Matrix, k: int, metric: Metric
) -> list[tuple[Matrix, Matrix]]:
    dtype, query_norms = queries.dtype, norms_of(queries)
    kept = [(np.empty(0, dtype), np.empty(0, np.int64))] * len(queries)
    for span in spans(len(vectors), block_rows(vectors.shape[1])):
        block = vectors[span].astype(dtype, copy=False)
        estimates = metric.estimate(queries @ block.T, norms[span].astype(dtype), query_norms.astype(dtype))
        extremes = _extremes(norms[span])
        for at, query in enumerate(queries):
            slack = _slack(metric, block, extremes, float(query_norms[at]))
            near = _near(estimates[at], kept[at][0], k, slack)
            if len(near):
                costs = metric.measure(block[near].astype(np.float64), query.astype(np.float64)).astype(dtype)
                kept[at] = _merged(kept[at], (costs, near + span.start), k)
    return kept


def _extremes(norms: Matrix) -> tuple[float, float]:
    """The smallest and the largest nonzero norm."""
    positive = norms[norms > 0]
    return (float(positive.min()), float(positive.max())) if len(positive) else (1.0, 1.0)


def _slack(metric: Metric, block: Matrix, extremes: tuple[float, float], query_norm: float) -> float:
    """The maximal error of estimates; infinite if squares of norms overflow or underflow."""
    limits, terms = np.finfo(block.dtype), block.shape[1] + 8
    lengths = (*extremes, query_norm or 1.0)
    if max(lengths) > float(limits.max) ** 0.4 or min(lengths) < float(limits.tiny) ** 0.4:
        return math.inf
    return metric.error(4 * terms * float(limits.eps), terms * float(limits.tiny), *extremes, query_norm)


def _near(estimates: Matrix, kept: Matrix, k: int, slack: float) -> Matrix:
    """Positions that may belong to the best `k`. Comparisons are negated so that NaN is kept."""
    limit = float(kept[-1]) + slack if len(kept) == k else math.inf
    near = np.flatnonzero(~(estimates > limit))
    if len(near) > k:
        among = estimates[near]
        near = near[~(among > float(np.partition(among, k - 1)[k - 1]) + 2 * slack)]
    return near


def _merged(kept: tuple[Matrix, Matrix], more: tuple[Matrix, Matrix], k: int) -> tuple[Matrix, Matrix]:
    costs, rows = (np.concatenate(pair) for pair in zip(kept, more, strict=True))
    order = np.argsort(costs, kind="stable")[:k]
    return costs[order], rows[order]
