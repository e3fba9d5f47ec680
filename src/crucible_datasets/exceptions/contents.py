"""What a dataset has or has not: columns, rows, splits, search indexes."""

from __future__ import annotations

from collections.abc import Iterable

from crucible_datasets.exceptions.base import DatasetsError, also_of_arrow, closest, listed


class ColumnNotFoundError(DatasetsError, KeyError, ValueError):
    """A column was named that the dataset does not have."""

    def message(self, column: object, available: Iterable[str]) -> str:
        self.column, self.available = column, list(available)
        hint = closest(column, self.available)
        return f"Column {column!r} does not exist.{hint} Available: {listed(self.available)}."


class ColumnNamesError(DatasetsError, ValueError):
    """New column names are empty, repeated or already taken."""

    def message(self, names: Iterable[str], available: Iterable[str], reason: str) -> str:
        self.names, self.available = list(names), list(available)
        return f"Column names {listed(self.names)}: {reason}. Existing columns: {listed(self.available)}."


@also_of_arrow("ArrowInvalid")
class ColumnLengthError(DatasetsError, ValueError):
    """Columns of one dataset differ in length."""

    def message(self, column: str, length: int, expected: int) -> str:
        self.column, self.length, self.expected = column, length, expected
        return f"Column {column!r} has {length} values, but {expected} are needed: all columns must be equally long."


class RowCountError(ColumnLengthError):
    """A function of batches gave another number of rows, but columns of the old rows are to stay beside them."""

    def message(self, column: str, length: int, expected: int, kept: Iterable[str]) -> str:  # type: ignore[override]
        self.column, self.length, self.expected, self.kept = column, length, expected, list(kept)
        return (
            f"Column {column!r} has {length} values, but {expected} are needed beside {listed(self.kept)}. "
            f"A function that changes the number of rows needs remove_columns={self.kept!r}."
        )


class RowIndexError(DatasetsError, IndexError, OverflowError):
    """A row was asked for that lies outside the dataset."""

    def message(self, index: int, num_rows: int) -> str:
        self.index, self.num_rows = index, num_rows
        return f"Row {index} does not exist: the dataset has {num_rows} rows."


class FrameIndexError(RowIndexError):
    """A frame was asked for that lies outside the film."""

    def message(self, frame: str, length: str) -> str:  # type: ignore[override]
        self.frame, self.length = frame, length
        return f"{frame} does not exist: the film has {length}."


class SplitNotFoundError(DatasetsError, KeyError):
    """A split was named that the dict does not have."""

    def message(self, asked: object, available: Iterable[object]) -> str:
        self.asked, self.available = asked, [str(name) for name in available]
        hint = closest(asked, self.available)
        example = (
            f" A row is found through its split, as in dataset[{self.available[0]!r}][0]." if self.available else ""
        )
        return f"There is no split {asked!r}.{hint}{example} Available: {listed(self.available)}."


class StreamedSplitError(SplitNotFoundError, ValueError):
    """A stream was asked for part of a split, or for one that is not there."""

    def message(self, asked: object, available: Iterable[object]) -> str:
        found = super().message(asked, available)
        return (
            f"{found} A stream gives whole splits; use take(n) and skip(n) for parts." if "[" in str(asked) else found
        )


class MissingIndexError(DatasetsError, KeyError):
    """A search index was named that is not attached."""

    def message(self, name: object, available: Iterable[str]) -> str:
        self.name, self.available = name, list(available)
        return f"There is no search index {name!r}.{closest(name, self.available)} Attached: {listed(self.available)}."


class UnsavedIndexError(DatasetsError, ValueError):
    """A dataset is saved without the search indexes that are attached to it."""

    def message(self, indexes: Iterable[str]) -> str:
        self.indexes = list(indexes)
        return (
            f"Search indexes are not part of a saved dataset: {listed(self.indexes)}. "
            "Save each with save_index(name, file) if needed, then drop it with drop_index(name)."
        )
