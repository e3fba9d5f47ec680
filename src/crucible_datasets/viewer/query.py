"""The query of a URL: which rows, in which order, which columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any
from urllib.parse import unquote

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.records import dataclass
from crucible_datasets.viewer.errors import UnknownParameterError

MOST_ROWS = 200  # in one response
_LONGEST = 20_000
_QUOTED = 40  # characters of a long value in an error
_DEEPEST = 200  # DuckDB takes 10 s to parse 2,000 nested brackets


@dataclass(frozen=True)
class Query:
    """The query of a URL."""

    config: str | None = None
    split: str | None = None
    where: str | None = None
    sql: str | None = None
    q: str | None = None
    sort: str | None = None
    seed: int | None = None
    columns: str | None = None

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Query:
        """The query of URL parameters; empty values are ignored."""
        given: dict[str, Any] = {each.name: query.get(each.name) or None for each in fields(cls)}
        given["seed"] = whole_number("seed", given["seed"])
        for name in ("where", "sql", "q"):
            _refuse_endless(name, given[name] or "")
        return cls(**given)

    def facts(self) -> dict[str, Any]:
        """The parameters that are set."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}

    @property
    def is_whole(self) -> bool:
        """Whether it is for all rows in their original order."""
        return not (self.where or self.sql or self.q or self.order) and self.seed is None

    @property
    def order(self) -> list[tuple[str, bool]]:
        """The columns to sort by, and whether descending."""
        named = [name for name in (self.sort or "").split(",") if name]
        return [(_spelled(name.removeprefix("-")), name.startswith("-")) for name in named]

    @property
    def shown(self) -> list[str] | None:
        """The requested columns; None for all."""
        return None if self.columns is None else [_spelled(name) for name in self.columns.split(",") if name]


PARAMETERS = tuple(each.name for each in fields(Query))


def refuse_unknown_parameters(query: Mapping[str, str], known: Sequence[str]) -> None:
    """Raise for a parameter that an address does not have."""
    for name in query:
        if name not in known and name != "token":  # an old token, beside a valid cookie
            raise UnknownParameterError(name[:_QUOTED], known)


def _spelled(name: str) -> str:
    """A name in a list of names; a single percent sign is the empty name."""
    return "" if name == "%" else unquote(name)


def stretch(query: Mapping[str, str]) -> range:
    """The requested range of rows of the result."""
    offset = whole_number("offset", query.get("offset")) or 0
    limit = whole_number("limit", query.get("limit"))
    if offset < 0 or (limit is not None and limit < 0):
        raise ArgumentError("offset", offset, "offset and limit are 0 or more.")
    return range(offset, offset + min(MOST_ROWS if limit is None else limit, MOST_ROWS))


def _refuse_endless(name: str, text: str) -> None:
    if len(text) > _LONGEST or max(text.count(sign) for sign in "([{") > _DEEPEST:
        limits = f"has at most {_LONGEST:,} characters and {_DEEPEST} brackets in a question."
        raise ArgumentError(name, f"{text[:_QUOTED]}…", limits)


def whole_number(name: str, text: str | None) -> int | None:
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise ArgumentError(name, text, "it is a whole number.") from None
