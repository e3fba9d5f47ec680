"""What is asked for and is not there, or is not there in whole."""

from __future__ import annotations

from crucible_datasets.exceptions import DatasetsError


class NotFoundHereError(DatasetsError, LookupError):
    """A page that is not there."""

    def message(self, what: str) -> str:
        return what


class BrokenStreamError(DatasetsError, RuntimeError):
    """A stream that failed before its head was read."""

    def message(self, count: int, error: Exception) -> str:
        return f"The stream broke after {count:,} rows: {type(error).__name__}: {error}"
