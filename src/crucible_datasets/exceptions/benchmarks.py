"""Samples, benchmarks and locks."""

from __future__ import annotations

from collections.abc import Iterable

from crucible_datasets.exceptions.base import DatasetsError, listed
from crucible_datasets.exceptions.contents import ColumnNotFoundError
from crucible_datasets.exceptions.making import DatasetNotFoundError


class BadRecordError(DatasetsError, ValueError):
    """A line of a file is invalid."""

    def message(self, file: str, line: int, reason: str) -> str:
        self.file, self.line, self.reason = file, line, reason
        return f"{file}, line {line}: {reason}. Pass on_error='skip' or 'collect' to go on."


class InvalidRecordError(DatasetsError, ValueError, TypeError):
    """A value does not fit the typed record it should become."""

    def message(self, kind: str, reason: str) -> str:
        self.kind, self.reason = kind, reason
        return f"{kind}: {reason}"


class TemplateError(DatasetsError, ValueError, KeyError):
    """A prompt template has a placeholder without a value."""

    def message(self, template: str, reason: str, available: Iterable[str]) -> str:
        self.template, self.reason, self.available = template, reason, list(available)
        return (
            f"Template {template!r}: {reason}. Fields: {listed(self.available)}; "
            "double the braces that are no place, as in {{x}}."
        )


class BadRowError(DatasetsError, ValueError, TypeError):
    """A row of a dataset cannot become a sample."""

    def message(self, dataset: str, row: int, column: str | None, reason: str) -> str:
        self.dataset, self.row, self.column, self.reason = dataset, row, column, reason
        place = f", column {column!r}" if column else ""
        text = reason.rstrip(".")
        return f"{dataset}, row {row}{place}: {text}. Pass on_bad_rows='skip' to leave such rows out and count them."


class MissingFieldError(ColumnNotFoundError):
    """A field of a sample is read from a column that the dataset does not have."""

    def message(  # type: ignore[override]
        self, dataset: str, field: str, column: str, available: Iterable[str], advice: str = ""
    ) -> str:
        self.dataset, self.field = dataset, field
        return f"{dataset}, field {field!r}: {super().message(column, available)}{advice}"


class BenchmarkFileError(DatasetsError, ValueError):
    """A file that describes a benchmark cannot be used."""

    def message(self, file: object, reason: str) -> str:
        self.file, self.reason = str(file), reason
        return f"{file!s}: {reason.rstrip('.')}."


class LockFileError(DatasetsError, ValueError):
    """A file that locks datasets cannot be used."""

    def message(self, file: object, reason: str) -> str:
        self.file, self.reason = str(file), reason
        return f"{file!s}: {reason.rstrip('.')}."


class NotLockedError(DatasetsError, KeyError):
    """A dataset that is loaded under a lock is not in the lock file."""

    def message(self, dataset: str, file: str, available: Iterable[str]) -> str:
        self.dataset, self.file, self.available = dataset, file, list(available)
        return (
            f"{dataset} is not in {file}. It has: {listed(self.available)}. "
            f"Add it: crucible lock {dataset} --file {file}"
        )


class LockMismatchError(DatasetsError, ValueError):
    """A loaded dataset differs from the lock. `moves` lists what changed, the locked value and the current one."""

    def message(self, dataset: str, file: str, moves: Iterable[tuple[str, object, object]]) -> str:
        self.dataset, self.file, self.moves = dataset, file, [tuple(move) for move in moves]
        text = "; ".join(f"{what} was {locked!s} and is {found!s}" for what, locked, found in self.moves)
        return (
            f"{dataset} is not as it was locked in {file}: {text}. Pass revision='latest' to go past the lock, "
            f"or renew it: crucible lock --update {dataset} --file {file}"
        )


class PinNotFoundError(DatasetNotFoundError):
    """A benchmark is pinned to a commit that the source does not have."""

    def message(self, benchmark: str, source: str, pin: str, place: str) -> str:  # type: ignore[override]
        self.benchmark, self.source, self.pin, self.place = benchmark, source, pin, place
        super().message(source)
        return (
            f"The benchmark {benchmark!r} is pinned to commit {pin} of {source}, which {place} does not have. "
            "Pass revision='latest' for what is there now, or set CRUCIBLE_PINS=0 for all benchmarks. "
            f"To copy the commit into a mirror: crucible hub mirror {source}@{pin} DIR"
        )
