"""Errors of vectors, queries and index files."""

from __future__ import annotations

from crucible_datasets.exceptions import DatasetsError


class VectorError(DatasetsError, ValueError, AssertionError):
    """A row is not a vector, or differs in length from those before it."""

    def message(self, column: str | None, row: int | None, found: str, wanted: str) -> str:
        self.column, self.row, self.found, self.wanted = column, row, found, wanted
        place = f"Column {column!r}" if column is not None else "The arrays"
        where = f", row {row}" if row is not None else ""
        return f"{place}{where}: found {found}, but an index needs {wanted}."


class QueryError(DatasetsError, ValueError, AssertionError):
    """A query does not fit the index."""

    def message(self, asked: str, wanted: str) -> str:
        self.asked, self.wanted = asked, wanted
        return f"Cannot search with {asked}: expected {wanted}."


class IndexSizeError(DatasetsError, ValueError):
    """An index does not have one entry per row."""

    def message(self, index_name: str, size: int, num_rows: int) -> str:
        self.index_name, self.size, self.num_rows = index_name, size, num_rows
        return f"Index {index_name!r} has {size} entries, but the dataset has {num_rows} rows: each row needs one."


class IndexKindError(DatasetsError, ValueError):
    """An operation that only another type of index supports."""

    def message(self, index_name: str, kind: str, wanted: str) -> str:
        self.index_name, self.kind, self.wanted = index_name, kind, wanted
        return f"Index {index_name!r} is of type {kind}, but this call needs one of type {wanted}."


class IndexFileError(DatasetsError, ValueError, OSError):
    """A file is not an exact index."""

    def message(self, file: str, reason: str) -> str:
        self.file = file
        return f"{file} is not a readable exact index: {reason} Files of faiss are read by load_faiss_index."


class NoGpuError(DatasetsError, AttributeError):
    """A GPU was requested that faiss cannot use."""

    def message(self, device: object) -> str:
        self.device = device
        return f"device={device!r}: the installed faiss has no GPU support. Install faiss-gpu, or leave device out."
