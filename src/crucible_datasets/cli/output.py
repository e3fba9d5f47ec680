"""The results of commands, printed as text on a terminal or as JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from crucible_datasets.cli.escaping import escaped_json
from crucible_datasets.cli.layout import GAP, aligned, cell, fitted, stacked, terminal_width, width_of
from crucible_datasets.records import dataclass


class Output(Protocol):
    """A result: lines of text, and a value for programs."""

    def lines(self) -> Iterator[str]: ...
    @property
    def value(self) -> Any: ...


# A command yields notes, which are text, and at most one result; it may return an exit code.
Outputs = Generator[str | Output, None, int | None]


@dataclass(frozen=True)
class Column:
    """A column of a table: the key of its values, its heading, how a value is shown."""

    key: str
    heading: str = ""
    shown: Callable[[Any], str] = str
    right: bool = False
    keep: bool = False  # never cut
    spare: bool = False  # left out if there is no room for all columns
    of: Callable[[Mapping[str, Any]], Any] | None = None  # the value, if it is not that of the key

    def text(self, row: Mapping[str, Any]) -> str:
        value = row.get(self.key) if self.of is None else self.of(row)
        return "" if value is None else cell(self.shown(value))


def amount(key: str, heading: str = "", shown: Callable[[Any], str] = str, spare: bool = False) -> Column:
    """A column of numbers."""
    return Column(key, heading, shown, right=True, keep=True, spare=spare)


@dataclass(frozen=True)
class Table:
    """A table; the JSON value has all fields of the rows, also those without a column."""

    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    empty: str = "none"
    whole: bool = False  # keep empty columns

    def lines(self) -> Iterator[str]:
        """The table, at most as wide as the terminal, without empty columns and spare ones that do not fit."""
        if not self.rows:
            yield self.empty
            return
        columns = [column for column in self.columns if self.whole or any(map(column.text, self.rows))]
        room = terminal_width()
        while not self._fits(columns, room) and any(column.spare for column in columns):
            columns.remove([column for column in columns if column.spare][-1])
        right, keep = [column.right for column in columns], [column.keep for column in columns]
        yield from aligned(*self._cells(columns), right, keep, room)

    def _cells(self, columns: Sequence[Column]) -> tuple[list[str], list[list[str]]]:
        heading = [cell(column.heading or column.key.replace("_", " ")) for column in columns]
        return heading, [[column.text(row) for column in columns] for row in self.rows]

    def _fits(self, columns: Sequence[Column], room: int) -> bool:
        heading, rows = self._cells(columns)
        widths = [max(map(width_of, column)) for column in zip(heading, *rows, strict=True)]
        return fitted(widths, [column.keep for column in columns], room) is not None

    @property
    def value(self) -> list[Any]:
        """The rows."""
        return [dict(row) for row in self.rows]


@dataclass(frozen=True)
class Facts:
    """Names and values, one per line; `texts` replace values of the same name."""

    facts: Mapping[str, Any]
    texts: Mapping[str, str] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """One line per fact that is not empty."""
        shown = {cell(name): cell(self.texts.get(name, _text(value))) for name, value in self.facts.items()}
        shown = {name: text for name, text in shown.items() if text}
        width = max(map(width_of, shown), default=0)
        for name, text in shown.items():
            yield f"{name}{' ' * (width - width_of(name))}{GAP}{text}"

    @property
    def value(self) -> dict[str, Any]:
        """The facts."""
        return dict(self.facts)


def _text(value: object) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


@dataclass(frozen=True)
class Records:
    """Rows of data: as a table if all cells fit, else one field per line."""

    names: Sequence[str]
    rows: Sequence[Mapping[str, Any]]

    def lines(self) -> Iterator[str]:
        """The rows, as a table or one below the other."""
        if not self.rows:
            yield f"no rows; columns: {', '.join(map(cell, self.names))}" if self.names else "no rows"
            return
        room = terminal_width()
        columns = [[name, *(_data(row.get(name)) for row in self.rows)] for name in self.names]
        widths = [max(width_of(cell(each)) for each in column) for column in columns]
        if sum(widths) + len(GAP) * (len(widths) - 1) <= room:
            shown = [{name: _data(row.get(name)) for name in self.names} for row in self.rows]
            yield from Table([Column(name, name) for name in self.names], shown, whole=True).lines()
        else:
            yield from self._stacked(room)

    def _stacked(self, room: int) -> Iterator[str]:
        names = [cell(name) for name in self.names]
        for number, row in enumerate(self.rows):
            title = f"── {number} "
            yield title + "─" * max(0, min(room, 60) - len(title))
            yield from stacked(names, [cell(_data(row.get(name)), most=4000) for name in self.names], room)

    @property
    def value(self) -> list[Any]:
        """The rows."""
        return [dict(row) for row in self.rows]


@dataclass(frozen=True)
class JsonLines:
    """Rows of data as JSON Lines."""

    rows: Iterable[Mapping[str, Any]]

    def lines(self) -> Iterator[str]:
        """A line per row, escaped as JSON."""
        return (escaped_json(json.dumps(plain(row), ensure_ascii=False)) for row in self.rows)

    @property
    def value(self) -> list[Any]:
        """The rows."""
        return [dict(row) for row in self.rows]


def _data(value: object) -> str:
    """A value of a row: text unchanged, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)


@dataclass(frozen=True)
class Sections:
    """Several results, one below the other; by name in JSON."""

    parts: Mapping[str, Output]
    silent: Mapping[str, Any] = field(default_factory=dict)  # in JSON only

    def lines(self) -> Iterator[str]:
        """Each part, an empty line between them."""
        for number, part in enumerate(self.parts.values()):
            if number:
                yield ""
            yield from part.lines()

    @property
    def value(self) -> dict[str, Any]:
        """The parts by name."""
        return {name: part.value for name, part in self.parts.items()} | dict(self.silent)


@dataclass(frozen=True)
class Message:
    """A sentence as text, facts as JSON."""

    text: str
    value: Any

    def lines(self) -> Iterator[str]:
        """The sentence, if there is one."""
        yield from self.text.split("\n") if self.text else ()


def plural(number: int, what: str) -> str:
    """A number of things: `1 run`, `2 runs`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def plain(value: Any) -> Any:
    """A JSON value: NaN as null, bytes as Base64, other objects as text."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each) for each in value]
    if isinstance(value, bytes):
        from base64 import b64encode

        return b64encode(value).decode()
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def json_text(value: Any) -> str:
    """A value as indented JSON."""
    return json.dumps(plain(value), ensure_ascii=False, indent=2)
