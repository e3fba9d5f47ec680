"""Errors about columns, rows, splits and search indexes."""

from __future__ import annotations

from collections.abc import Iterable

from crucible_datasets.exceptions.base import DatasetsError, also_of_arrow, closest, listed


class ColumnNotFoundError(DatasetsError, KeyError, ValueError):
    """The dataset has no such column."""

    def message(self, column: object, available: Iterable[str]) -> str:
        self.column, self.available = column, list(available)
        hint = closest(column, self.available)
        return f"Column {column!r} does not exist.{hint} Available: {listed(self.available)}."


class ColumnNamesError(DatasetsError, ValueError, TypeError):
    """New column names are no texts, empty, repeated or already taken."""

    def message(self, names: Iterable[object], available: Iterable[str], reason: str) -> str:
        self.names, self.available, self.reason = list(names), list(available), reason
        what = "Column name" if len(self.names) == 1 else "Column names"
        existing = f" Existing columns: {listed(self.available)}." if self.available else ""
        return f"{what} {listed(map(repr, self.names))}: {reason}.{existing}"


@also_of_arrow("ArrowInvalid")
class ColumnLengthError(DatasetsError, ValueError):
    """Columns of one dataset differ in length."""

    def message(self, column: str, length: int, expected: int) -> str:
        self.column, self.length, self.expected = column, length, expected
        return f"Column {column!r} has {length} values, but {expected} are needed: all columns must be equally long."


class RowCountError(ColumnLengthError):
    """A batched function returned another number of rows, but columns of the old rows are kept."""

    def message(self, column: str, length: int, expected: int, kept: Iterable[str]) -> str:  # type: ignore[override]
        self.column, self.length, self.expected, self.kept = column, length, expected, list(kept)
        return (
            f"Column {column!r} has {length} values, but {expected} are needed beside {listed(self.kept)}. "
            f"A function that changes the number of rows needs remove_columns={self.kept!r}."
        )


class RowIndexError(DatasetsError, IndexError, OverflowError):
    """The dataset has no such row."""

    def message(self, index: int, num_rows: int) -> str:
        self.index, self.num_rows = index, num_rows
        return f"Row {index} does not exist: the dataset has {num_rows} rows."


class FrameIndexError(RowIndexError):
    """The video has no such frame."""

    def message(self, frame: str, length: str) -> str:  # type: ignore[override]
        self.frame, self.length = frame, length
        return f"{frame} does not exist: the film has {length}."


class SplitNotFoundError(DatasetsError, KeyError):
    """There is no such split."""

    def message(self, asked: object, available: Iterable[object]) -> str:
        self.asked, self.available = asked, [str(name) for name in available]
        hint = closest(asked, self.available)
        return f"There is no split {asked!r}.{hint}{self._advice()} Available: {listed(self.available)}."

    def _advice(self) -> str:
        return f" A row is found through its split, as in dataset[{self.available[0]!r}][0]." if self.available else ""


class StreamedSplitError(SplitNotFoundError, ValueError):
    """Part of a split was requested as a stream, or a split that does not exist."""

    def _advice(self) -> str:
        return " A stream gives whole splits; use take(n) and skip(n) for parts." if "[" in str(self.asked) else ""


class MissingIndexError(DatasetsError, KeyError):
    """No such search index is attached."""

    def message(self, name: object, available: Iterable[str]) -> str:
        self.name, self.available = name, list(available)
        return f"There is no search index {name!r}.{closest(name, self.available)} Attached: {listed(self.available)}."


class UnsavedIndexError(DatasetsError, ValueError):
    """A dataset would be saved without its search indexes."""

    def message(self, indexes: Iterable[str]) -> str:
        self.indexes = list(indexes)
        return (
            f"Search indexes are not part of a saved dataset: {listed(self.indexes)}. "
            "Save each with save_index(name, file) if needed, then drop it with drop_index(name)."
        )
