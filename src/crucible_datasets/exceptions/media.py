"""Errors about images, audio and other media."""

from __future__ import annotations

from typing import Any

from crucible_datasets.exceptions.base import DatasetsError, without_secrets
from crucible_datasets.exceptions.making import LimitExceededError


class BadMediaError(DatasetsError, ValueError, OSError, RuntimeError):
    """An image, a recording or other media cannot be decoded."""

    def message(
        self, kind: str, decoder: str, path: str | None, reason: str, column: str | None = None, row: int | None = None
    ) -> str:
        self.kind, self.decoder, self.path, self.reason, self.column, self.row = (
            kind,
            decoder,
            path,
            reason,
            column,
            row,
        )
        place = f"Column {column!r}" if column is not None else "A value"
        where = f", row {row}" if row is not None else ""
        named = f" ({without_secrets(path)})" if path else ""
        text = (reason.strip() or "no reason was given").rstrip(".")
        return f"{place}{where}{named} cannot be decoded as {kind}: {text} [{decoder}]."

    def at(self, column: str | None, row: int | None) -> BadMediaError:
        """The same error, with the column and row of the value."""
        there = self.column if column is None else column
        return type(self)(self.kind, self.decoder, self.path, self.reason, there, row)


class MissingMediaError(BadMediaError, FileNotFoundError):
    """The file of a media value does not exist."""


class OversizedMediaError(BadMediaError, LimitExceededError):  # type: ignore[misc]
    """A media value would take more memory than a setting allows; it was not decoded."""

    def message(  # type: ignore[override]
        self, kind: str, decoder: str, path: str | None, what: str, limit: int, setting: str, *place: Any
    ) -> str:
        self.what, self.limit, self.setting = what, limit, setting
        reason = f"the {what} exceeds the limit of {limit:,}; if the data is trusted, raise {setting}"
        return BadMediaError.message(self, kind, decoder, path, reason, *place)

    def at(self, column: str | None, row: int | None) -> BadMediaError:
        there = self.column if column is None else column
        facts = self.kind, self.decoder, self.path, self.what, self.limit, self.setting
        return OversizedMediaError(*facts, there, row)
