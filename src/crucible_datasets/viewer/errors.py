"""Errors of the viewer: missing pages, incomplete streams."""

from __future__ import annotations

from crucible_datasets.exceptions import DatasetsError


class NotFoundHereError(DatasetsError, LookupError):
    """A page that does not exist."""

    def message(self, what: str) -> str:
        return what


class BrokenStreamError(DatasetsError, RuntimeError):
    """A stream that failed before its first rows were read."""

    def message(self, count: int, error: Exception) -> str:
        return f"The stream broke after {count:,} rows: {type(error).__name__}: {error}"
