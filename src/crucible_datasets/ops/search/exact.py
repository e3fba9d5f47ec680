"""An exact index, which compares a query with every vector, in numpy."""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import Any

import numpy as np

from crucible_datasets.exceptions import ArgumentError, UnknownEntryError
from crucible_datasets.keywords import refuse_unknown_keywords
from crucible_datasets.ops.search.base import (
    BaseIndex,
    BatchedSearchResults,
    Path,
    SearchResults,
    one_query,
    positive,
    several_queries,
)
from crucible_datasets.ops.search.errors import IndexFileError, QueryError
from crucible_datasets.ops.search.files import reading, writing
from crucible_datasets.ops.search.metrics import METRICS, norms_of
from crucible_datasets.ops.search.ranking import best, block_rows
from crucible_datasets.ops.search.vectors import Matrix, check_finite, spans

_KIND = "crucible-exact-index"


class ExactIndex(BaseIndex):
    """Vectors in memory, one per row, and the metric that ranks them.

    Scores are similarities for "cosine" and "inner_product", squared distances for "l2".
    """

    def __init__(self, vectors: Matrix, metric: str = "cosine") -> None:
        if metric not in METRICS:
            raise UnknownEntryError("metric", metric, sorted(METRICS))
        if vectors.dtype.kind != "f":
            raise ArgumentError("dtype", str(vectors.dtype), "an exact index keeps float16, float32 or float64.")
        self.metric, self.vectors = metric, vectors
        parts = [norms_of(vectors[span]) for span in spans(len(vectors), block_rows(vectors.shape[1]))]
        self._norms = np.concatenate([np.empty(0), *parts])

    def __len__(self) -> int:
        return len(self.vectors)

    def search(self, query: Any, k: int = 10, **kwargs: Any) -> SearchResults:
        """The `k` best rows for one vector."""
        scores, rows = self._best(one_query(query, self.vectors.shape[1]), k, kwargs)
        return SearchResults(scores[0], rows[0])

    def search_batch(self, queries: Any, k: int = 10, **kwargs: Any) -> BatchedSearchResults:
        """The `k` best rows for each vector."""
        return BatchedSearchResults(*self._best(several_queries(queries, self.vectors.shape[1]), k, kwargs))

    def _best(self, queries: Matrix, k: int, options: dict[str, Any]) -> tuple[Matrix, Matrix]:
        refuse_unknown_keywords("the search of an exact index", options)
        if not np.isfinite(queries).all():
            raise QueryError("NaN or infinity", "finite numbers")
        return best(self.vectors, self._norms, queries, positive(k), METRICS[self.metric])

    def save(self, file: Path, storage_options: dict[str, Any] | None = None) -> None:
        """Write one uncompressed .npz with the vectors and a header in JSON."""
        header = json.dumps({"kind": _KIND, "version": 1, "metric": self.metric}).encode()
        with writing(file, storage_options) as stream:
            np.savez(stream, header=np.frombuffer(header, np.uint8), vectors=self.vectors)

    @classmethod
    def load(cls, file: Path, storage_options: dict[str, Any] | None = None) -> ExactIndex:
        """Read a file that `save` wrote; nothing in it is executed, and damage is detected."""
        try:
            with reading(file, storage_options) as stream, np.load(_seekable(stream), allow_pickle=False) as parts:
                header, vectors = json.loads(parts["header"].tobytes()), parts["vectors"]
                if header["kind"] != _KIND or header["version"] != 1 or vectors.ndim != 2:
                    raise ValueError(f"unexpected header {header}.")
        except FileNotFoundError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, EOFError, OSError, zipfile.BadZipFile) as error:
            raise IndexFileError(os.fspath(file), str(error)) from error
        check_finite(vectors, None)
        return cls(vectors, header["metric"])


def _seekable(stream: Any) -> Any:
    return stream if stream.seekable() else io.BytesIO(stream.read())
