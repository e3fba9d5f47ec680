"""The interface of search indexes, and the results of searches."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Sized
from os import PathLike
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from crucible_datasets.exceptions import DatasetTransformationNotAllowedError, MissingIndexError
from crucible_datasets.ops.search.errors import IndexKindError, IndexSizeError, QueryError

Path = str | PathLike[str]
SizedIndex = TypeVar("SizedIndex", bound=Sized)


class SearchResults(NamedTuple):
    """The best rows for one query, best first."""

    scores: Any
    indices: Any


class BatchedSearchResults(NamedTuple):
    """The best rows for each of several queries."""

    total_scores: Any
    total_indices: Any


class NearestExamplesResults(NamedTuple):
    """The best examples for one query, as a batch of rows."""

    scores: Any
    examples: Any


class BatchedNearestExamplesResults(NamedTuple):
    """The best examples for each of several queries."""

    total_scores: list[Any]
    total_examples: list[Any]


class BaseIndex:
    """An index that finds row numbers for a query."""

    def search(self, query: Any, k: int = 10, **kwargs: Any) -> SearchResults:
        """The `k` best rows for one query."""
        raise NotImplementedError

    def search_batch(self, queries: Any, k: int = 10, **kwargs: Any) -> BatchedSearchResults:
        """The `k` best rows for each query."""
        found = [self.search(query, k, **kwargs) for query in queries]
        return BatchedSearchResults([result.scores for result in found], [result.indices for result in found])

    def save(self, file: Path, storage_options: dict[str, Any] | None = None) -> None:
        """Write the index to a file."""
        raise NotImplementedError

    @classmethod
    def load(cls, file: Path) -> BaseIndex:
        """Read an index from a file."""
        raise NotImplementedError


def named(indexes: dict[str, BaseIndex], index_name: str) -> BaseIndex:
    """The index of that name."""
    if index_name not in indexes:
        raise MissingIndexError(index_name, indexes)
    return indexes[index_name]


def of_type(indexes: dict[str, BaseIndex], index_name: str, kind: type[BaseIndex]) -> BaseIndex:
    """The index of that name, which must be of the given type."""
    index = named(indexes, index_name)
    if not isinstance(index, kind):
        raise IndexKindError(index_name, type(index).__name__, kind.__name__)
    return index


def sized(index: SizedIndex, index_name: str, num_rows: int) -> SizedIndex:
    """The index, checked to have one entry per row."""
    if len(index) != num_rows:
        raise IndexSizeError(index_name, len(index), num_rows)
    return index


def refuse_if_indexed(indexes: Collection[str], operation: str) -> None:
    """Raise for an operation that moves rows if there are indexes."""
    if indexes:
        raise DatasetTransformationNotAllowedError(operation, indexes)


def nearest(found: SearchResults, dataset: Any) -> NearestExamplesResults:
    """The rows that a search found, without empty results."""
    rows = [int(row) for row in found.indices if row >= 0]
    return NearestExamplesResults(found.scores[: len(rows)], dataset[rows])


def nearest_each(found: BatchedSearchResults, dataset: Any) -> BatchedNearestExamplesResults:
    """The rows that each of several searches found."""
    each: Iterable[SearchResults] = map(SearchResults, found.total_scores, found.total_indices)
    results = [nearest(result, dataset) for result in each]
    return BatchedNearestExamplesResults([one.scores for one in results], [one.examples for one in results])


def one_query(query: Any, width: int) -> npt.NDArray[Any]:
    """A single query as a matrix of one row."""
    array = np.asarray(query)
    if array.ndim == 1:
        array = array[np.newaxis]
    if array.ndim != 2 or array.shape[0] != 1:
        raise QueryError(_described(query, array), f"one vector of {width} numbers")
    return several_queries(array, width)


def several_queries(queries: Any, width: int) -> npt.NDArray[Any]:
    """Queries as a matrix with one row each."""
    array = np.asarray(queries)
    if array.ndim != 2 or array.shape[1] != width or array.dtype.kind not in "fiub":
        raise QueryError(_described(queries, array), f"an array of numbers of shape (n, {width})")
    return array


def positive(k: Any) -> int:
    """The number of rows, checked to be positive."""
    number = operator.index(k)
    if number < 1:
        raise QueryError(f"k={k}", "k to be 1 or more")
    return number


def _described(query: Any, array: npt.NDArray[Any]) -> str:
    return f"{type(query).__name__} of shape {array.shape} and dtype {array.dtype}"
