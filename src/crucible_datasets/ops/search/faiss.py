"""Vector search by faiss: any index it can build, train, keep on a GPU, write and read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.ops.search.base import (
    BaseIndex,
    BatchedSearchResults,
    Path,
    SearchResults,
    one_query,
    positive,
    several_queries,
)
from crucible_datasets.ops.search.errors import NoGpuError, VectorError
from crucible_datasets.ops.search.files import reading, writing
from crucible_datasets.ops.search.vectors import Matrix, batches, vectors_of
from crucible_datasets.registry import need

Device = int | Sequence[int] | None


class FaissIndex(BaseIndex):
    """A faiss index: the given one, or one made for the first vectors added.

    `string_factory` is a description for `faiss.index_factory`; the default is a flat index. `device` is one GPU, a
    list of them, or a negative number for all.
    """

    def __init__(
        self,
        device: Device = None,
        string_factory: str | None = None,
        metric_type: int | None = None,
        custom_index: Any | None = None,
    ) -> None:
        if string_factory is not None and custom_index is not None:
            raise ArgumentError("string_factory", string_factory, "give either string_factory or custom_index.")
        need("faiss", extra="search")
        self.device, self.string_factory, self.metric_type = device, string_factory, metric_type
        self.faiss_index: Any = None if custom_index is None else on_device(custom_index, device)

    def __len__(self) -> int:
        return int(self.faiss_index.ntotal) if self.faiss_index is not None else 0

    def add_vectors(
        self,
        vectors: Any,
        column: str | None = None,
        batch_size: int = 1000,
        train_size: int | None = None,
        faiss_verbose: bool | None = None,
        dtype: npt.DTypeLike = np.float32,
    ) -> None:
        """Add the rows of a matrix, or of a column of a dataset, after training on the first `train_size`."""
        from crucible_datasets.progress import tqdm

        source = vectors_of(vectors, column, dtype)
        self.faiss_index = self._made(source.shape[1]) if self.faiss_index is None else self.faiss_index
        if source.shape[1] != self._width():
            raise VectorError(column, None, f"vectors of {source.shape[1]} numbers", f"{self._width()}")
        if faiss_verbose is not None:
            self.faiss_index.verbose = faiss_verbose
        if train_size is not None:
            self._train(np.ascontiguousarray(source[:train_size]), train_size)
        for batch in tqdm(batches(source, batch_size), unit="batch", disable=None):
            self.faiss_index.add(batch)

    def search(self, query: Any, k: int = 10, **kwargs: Any) -> SearchResults:
        """The `k` best rows for one vector; `kwargs` go to faiss."""
        scores, rows = self._found(one_query(query, self._width()), k, kwargs)
        return SearchResults(scores[0], rows[0].astype(int))

    def search_batch(self, queries: Any, k: int = 10, **kwargs: Any) -> BatchedSearchResults:
        """The `k` best rows for each vector; `kwargs` go to faiss."""
        scores, rows = self._found(several_queries(queries, self._width()), k, kwargs)
        return BatchedSearchResults(scores, rows.astype(int))

    def save(self, file: Path, storage_options: dict[str, Any] | None = None) -> None:
        """Write the index in faiss's own format."""
        faiss = need("faiss", extra="search")
        index = self.faiss_index if self.device is None else faiss.index_gpu_to_cpu(self.faiss_index)
        with writing(file, storage_options) as stream:
            faiss.write_index(index, faiss.PyCallbackIOWriter(stream.write))

    @classmethod
    def load(cls, file: Path, device: Device = None, storage_options: dict[str, Any] | None = None) -> FaissIndex:
        """Read an index that faiss wrote."""
        faiss = need("faiss", extra="search")
        with reading(file, storage_options) as stream:
            return cls(device, custom_index=faiss.read_index(faiss.PyCallbackIOReader(stream.read)))

    def _made(self, width: int) -> Any:
        faiss = need("faiss", extra="search")
        metric = () if self.metric_type is None else (self.metric_type,)
        return on_device(faiss.index_factory(width, self.string_factory or "Flat", *metric), self.device)

    def _train(self, vectors: Matrix, train_size: int) -> None:
        if not len(vectors):
            raise ArgumentError("train_size", train_size, "leaves no vectors to train on.")
        self.faiss_index.train(vectors)

    def _found(self, queries: Matrix, k: int, options: dict[str, Any]) -> tuple[Matrix, Matrix]:
        scores, rows = self.faiss_index.search(np.ascontiguousarray(queries), positive(k), **options)
        return scores, rows

    def _width(self) -> int:
        # The dimension of a binary index is in bits, its vectors are in bytes.
        binary = isinstance(self.faiss_index, need("faiss", extra="search").IndexBinary)
        width: int = self.faiss_index.code_size if binary else self.faiss_index.d
        return width


def on_device(index: Any, device: Device) -> Any:
    """The index, moved to one GPU or several if requested."""
    if device is None:
        return index
    if not isinstance(device, (int, list, tuple)):
        raise TypeError(f"device must be an int, a list of ints or None, not {type(device).__name__}.")
    faiss = need("faiss", extra="search")
    if not hasattr(faiss, "StandardGpuResources"):
        raise NoGpuError(device)
    if not isinstance(device, int):
        return faiss.index_cpu_to_gpus_list(index, gpus=list(device))
    if device < 0:
        return faiss.index_cpu_to_all_gpus(index)
    return faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), device, index)
