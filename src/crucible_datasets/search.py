"""Search over the rows of a dataset: the methods that `Dataset` inherits, and the index classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from crucible_datasets.exceptions import MissingIndexError
from crucible_datasets.ops.search import elastic, exact, faiss, vectors
from crucible_datasets.ops.search.base import (
    BaseIndex,
    BatchedNearestExamplesResults,
    BatchedSearchResults,
    NearestExamplesResults,
    Path,
    SearchResults,
    named,
    nearest,
    nearest_each,
    of_type,
    refuse_if_indexed,
    sized,
)

if TYPE_CHECKING:
    from typing import Self

    from crucible_datasets.ops.search.elastic import ElasticSearchIndex
    from crucible_datasets.ops.search.exact import ExactIndex
    from crucible_datasets.ops.search.faiss import Device, FaissIndex
    from crucible_datasets.tables.view import View

__all__ = [
    "BaseIndex",
    "BatchedNearestExamplesResults",
    "BatchedSearchResults",
    "ElasticSearchIndex",
    "ExactIndex",
    "FaissIndex",
    "IndexableMixin",
    "MissingIndex",
    "NearestExamplesResults",
    "SearchResults",
    "refuse_if_indexed",
]

MissingIndex = MissingIndexError
_KINDS = {"ElasticSearchIndex": elastic, "ExactIndex": exact, "FaissIndex": faiss}


def __getattr__(name: str) -> Any:
    """The index classes, imported on first use."""
    if name not in _KINDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_KINDS[name], name)


class IndexableMixin:
    """Search methods over the rows of `_view`; the indexes are in `_indexes`."""

    if TYPE_CHECKING:
        _indexes: dict[str, BaseIndex]
        _view: View

        def __len__(self) -> int: ...
        def __getitem__(self, key: Any, /) -> Any: ...

    def is_index_initialized(self, index_name: str) -> bool:
        """Whether an index of that name is attached."""
        return index_name in self._indexes

    def list_indexes(self) -> list[str]:
        """The names of the attached indexes."""
        return list(self._indexes)

    def get_index(self, index_name: str) -> BaseIndex:
        """The index of that name."""
        return named(self._indexes, index_name)

    def drop_index(self, index_name: str) -> None:
        """Detach an index."""
        named(self._indexes, index_name)
        del self._indexes[index_name]

    def add_exact_index(
        self,
        column: str,
        index_name: str | None = None,
        metric: str = "cosine",
        batch_size: int = 1000,
        dtype: npt.DTypeLike = np.float32,
    ) -> Self:
        """Index the vectors of a column for exact search by "cosine", "l2" or "inner_product"."""
        index = exact.ExactIndex(vectors.column_matrix(self._view, column, batch_size, dtype), metric)
        return self._attached(index_name or column, index)

    def add_exact_index_from_external_arrays(
        self, external_arrays: Any, index_name: str, metric: str = "cosine", dtype: npt.DTypeLike = np.float32
    ) -> None:
        """Index one vector for each row for exact search, from an array that is not part of the dataset."""
        index = exact.ExactIndex(vectors.finite_matrix(external_arrays, dtype), metric)
        self._indexes[index_name] = sized(index, index_name, len(self))

    def save_index(self, index_name: str, file: Path, storage_options: dict[str, Any] | None = None) -> None:
        """Write an index to a file."""
        named(self._indexes, index_name).save(file, storage_options)

    def load_index(self, index_name: str, file: Path, storage_options: dict[str, Any] | None = None) -> None:
        """Attach an exact index that `save_index` wrote."""
        self._indexes[index_name] = sized(exact.ExactIndex.load(file, storage_options), index_name, len(self))

    def add_faiss_index(
        self,
        column: str,
        index_name: str | None = None,
        device: Device = None,
        string_factory: str | None = None,
        metric_type: int | None = None,
        custom_index: Any | None = None,
        batch_size: int = 1000,
        train_size: int | None = None,
        faiss_verbose: bool = False,
        dtype: npt.DTypeLike = np.float32,
    ) -> Self:
        """Index the vectors of a column with faiss."""
        index = faiss.FaissIndex(device, string_factory, metric_type, custom_index)
        index.add_vectors(self._view, column, batch_size, train_size, faiss_verbose, dtype)
        return self._attached(index_name or column, index)

    def add_faiss_index_from_external_arrays(
        self,
        external_arrays: Any,
        index_name: str,
        device: Device = None,
        string_factory: str | None = None,
        metric_type: int | None = None,
        custom_index: Any | None = None,
        batch_size: int = 1000,
        train_size: int | None = None,
        faiss_verbose: bool = False,
        dtype: npt.DTypeLike = np.float32,
    ) -> None:
        """Index one vector for each row with faiss, from an array that is not part of the dataset."""
        index = faiss.FaissIndex(device, string_factory, metric_type, custom_index)
        index.add_vectors(external_arrays, None, batch_size, train_size, faiss_verbose, dtype)
        self._indexes[index_name] = sized(index, index_name, len(self))

    def save_faiss_index(self, index_name: str, file: Path, storage_options: dict[str, Any] | None = None) -> None:
        """Write a faiss index to a file."""
        of_type(self._indexes, index_name, faiss.FaissIndex).save(file, storage_options)

    def load_faiss_index(
        self, index_name: str, file: Path, device: Device = None, storage_options: dict[str, Any] | None = None
    ) -> None:
        """Attach an index that faiss wrote to a file."""
        self._indexes[index_name] = sized(faiss.FaissIndex.load(file, device, storage_options), index_name, len(self))

    def add_elasticsearch_index(
        self,
        column: str,
        index_name: str | None = None,
        host: str | None = None,
        port: int | None = None,
        es_client: Any | None = None,
        es_index_name: str | None = None,
        es_index_config: dict[str, Any] | None = None,
    ) -> Self:
        """Index the texts of a column on an Elasticsearch server."""
        index = elastic.ElasticSearchIndex(host, port, es_client, es_index_name, es_index_config)
        index.add_documents(self._view, column)
        return self._attached(index_name or column, index)

    def load_elasticsearch_index(
        self,
        index_name: str,
        es_index_name: str,
        host: str | None = None,
        port: int | None = None,
        es_client: Any | None = None,
        es_index_config: dict[str, Any] | None = None,
    ) -> None:
        """Attach an index that already exists on an Elasticsearch server."""
        self._indexes[index_name] = elastic.ElasticSearchIndex(host, port, es_client, es_index_name, es_index_config)

    def search(self, index_name: str, query: Any, k: int = 10, **kwargs: Any) -> SearchResults:
        """The scores and row numbers of the `k` best rows for a query."""
        return named(self._indexes, index_name).search(query, k, **kwargs)

    def search_batch(self, index_name: str, queries: Any, k: int = 10, **kwargs: Any) -> BatchedSearchResults:
        """The scores and row numbers of the `k` best rows for each query."""
        return named(self._indexes, index_name).search_batch(queries, k, **kwargs)

    def get_nearest_examples(self, index_name: str, query: Any, k: int = 10, **kwargs: Any) -> NearestExamplesResults:
        """The scores and contents of the `k` best rows for a query."""
        return nearest(self.search(index_name, query, k, **kwargs), self)

    def get_nearest_examples_batch(
        self, index_name: str, queries: Any, k: int = 10, **kwargs: Any
    ) -> BatchedNearestExamplesResults:
        """The scores and contents of the `k` best rows for each query."""
        return nearest_each(self.search_batch(index_name, queries, k, **kwargs), self)

    def _attached(self, index_name: str, index: BaseIndex) -> Self:
        self._indexes[index_name] = index
        return self
