"""Metrics of vectors: squared distance, inner product, cosine.

A search minimizes a cost: a distance, or a similarity times `sign`. Norms are Euclidean; the cosine of a zero vector
with any other is 0.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from crucible_datasets.ops.search.vectors import Matrix


class Metric(Protocol):
    """The interface of a metric."""

    sign: int

    def estimate(self, products: Matrix, norms: Matrix, query_norms: Matrix) -> Matrix:
        """All costs from a matrix of inner products (queries × vectors), which may be overwritten."""

    def measure(self, vectors: Matrix, query: Matrix) -> Matrix:
        """The costs of some vectors for one query, row by row."""

    def error(self, rounding: float, underflow: float, smallest: float, largest: float, query_norm: float) -> float:
        """The maximal error of an estimate, for vectors with norms between `smallest` and `largest`."""


class SquaredDistance:
    sign = 1

    def estimate(self, products: Matrix, norms: Matrix, query_norms: Matrix) -> Matrix:
        products *= -2
        products += norms**2
        products += (query_norms**2)[:, np.newaxis]
        return products

    def measure(self, vectors: Matrix, query: Matrix) -> Matrix:
        differences = vectors - query
        differences *= differences
        return differences.sum(axis=1)

    def error(self, rounding: float, underflow: float, smallest: float, largest: float, query_norm: float) -> float:
        return rounding * (largest + query_norm) ** 2 + underflow


class InnerProduct:
    sign = -1

    def estimate(self, products: Matrix, norms: Matrix, query_norms: Matrix) -> Matrix:
        return np.negative(products, out=products)

    def measure(self, vectors: Matrix, query: Matrix) -> Matrix:
        return -(vectors * query).sum(axis=1)

    def error(self, rounding: float, underflow: float, smallest: float, largest: float, query_norm: float) -> float:
        return rounding * largest * query_norm + underflow


class Cosine:
    sign = -1

    def estimate(self, products: Matrix, norms: Matrix, query_norms: Matrix) -> Matrix:
        products *= -_inverse(norms)
        products *= _inverse(query_norms)[:, np.newaxis]
        return products

    def measure(self, vectors: Matrix, query: Matrix) -> Matrix:
        lengths = norms_of(vectors) * norms_of(query[np.newaxis])
        return -(vectors * query).sum(axis=1) * _inverse(lengths)

    def error(self, rounding: float, underflow: float, smallest: float, largest: float, query_norm: float) -> float:
        return rounding + (underflow / (smallest * query_norm) if query_norm else 0.0)


METRICS: dict[str, Metric] = {"cosine": Cosine(), "inner_product": InnerProduct(), "l2": SquaredDistance()}


def norms_of(vectors: Matrix) -> Matrix:
    """The Euclidean norm of each row, in double precision."""
    return np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))


def _inverse(norms: Matrix) -> Matrix:
    return np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
