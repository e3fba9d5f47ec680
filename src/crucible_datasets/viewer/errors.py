"""Errors of the viewer: missing pages, unknown parameters, incomplete streams."""

from __future__ import annotations

from collections.abc import Iterable

from crucible_datasets.exceptions import DatasetsError
from crucible_datasets.exceptions.base import closest, listed

_QUOTED = 200  # characters of a query


class NotFoundHereError(DatasetsError, LookupError):
    """A page that does not exist."""

    def message(self, what: str) -> str:
        return what


class UnknownParameterError(DatasetsError, ValueError):
    """A parameter that a page does not have."""

    def message(self, name: str, available: Iterable[str]) -> str:
        self.name, self.available = name, list(available)
        hint = closest(name, self.available)
        return f"There is no parameter {name!r} at this address.{hint} Available: {listed(self.available)}."


class BrokenStreamError(DatasetsError, RuntimeError):
    """A stream that failed before its first rows were read."""

    def message(self, count: int, error: Exception) -> str:
        return f"The stream broke after {count:,} rows: {type(error).__name__}: {error}"


class QuestionError(DatasetsError, ValueError):
    """A filter, query or search that takes too long, too much memory, or crashed its process."""

    def message(self, name: str, text: str, reason: str) -> str:
        return f"{name} {text[:_QUOTED]!r}: {reason}."


class QuestionDroppedError(DatasetsError, RuntimeError):
    """A filter, query or search for which nobody waits any more."""

    def message(self, name: str, text: str) -> str:
        return f"{name} {text[:_QUOTED]!r} was dropped: nobody waits for its result."
