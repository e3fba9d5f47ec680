"""The results of a function for single rows → columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import repeat
from operator import contains, itemgetter
from typing import Any

from crucible_datasets.exceptions import FunctionResultError
from crucible_datasets.ops.mapping.calls import Returned
from crucible_datasets.ops.mapping.change_detection import is_unchanged
from crucible_datasets.ops.mapping.lazy import ABSENT, UNREAD, LazyRow, untouched_row
from crucible_datasets.ops.mapping.outcomes import NOTHING, Merged, Outcome


class Rows(Merged):
    """The results of a function for the rows of a block."""

    def outcome(self, returned: Returned) -> Outcome:
        values = returned.values
        if set(map(type, values)) == {dict}:
            overlays: list[Mapping[str, Any]] = values
            bases = self._rows_after() if self.block.written else []
        else:
            overlays, bases = self._separated(values)
        named = _names(overlays)
        changes = self._changes(bases, overlays, named)
        held = _names([base for base in bases if base is not None]) if self.block.source.is_python else {}
        for name in {**held, **changes, **named}:  # columns set in rows come before those returned
            if name in named:
                self.set(name, self._overlaid(name, overlays, bases))
            elif name in changes:
                self.set(name, changes[name])
        return self.finished(len(values))

    def _rows_after(self) -> list[LazyRow]:
        """The rows as the function left them."""
        blank, written = untouched_row(self.block), self.block.written
        return [written.get(place, blank) for place in self.places or range(len(self.rows))]

    def _separated(self, values: list[Any]) -> tuple[list[Mapping[str, Any]], list[Any]]:
        """For each row the returned update, and the dict it updates; None if nothing changes."""
        overlays: list[Mapping[str, Any]] = []
        bases: list[Any] = []
        for place, row, value in zip(self.places or range(len(values)), self._rows_after(), values, strict=True):
            own = isinstance(value, LazyRow) and value.block is self.block and value.place == place
            if not (value is None or isinstance(value, Mapping)):
                raise FunctionResultError(type(value).__name__, False)
            overlays.append(NOTHING if own or value is None else value)
            bases.append(value if own else None if value is None else row)
        return overlays, bases

    def _overlaid(self, name: str, overlays: list[Mapping[str, Any]], bases: list[Any]) -> list[Any]:
        try:
            return list(map(itemgetter(name), overlays))
        except KeyError:
            pass
        before = self._based(name, bases) if name not in self.merge.removed else None
        if before is None:
            return [overlay.get(name) for overlay in overlays]
        return [overlay.get(name, value) for overlay, value in zip(overlays, before, strict=True)]

    def _based(self, name: str, bases: list[Any]) -> list[Any]:
        """The values in rows after the call; None where the key is missing."""
        if name not in self.block.names:
            before: list[Any] = [None] * len(self.rows)
        elif self.block.source.is_python:
            before = self._without_silent(name, bases)
        else:
            before = self._pristine(name)
        return [_held(base, name, value) for base, value in zip(bases, before, strict=True)] if bases else before

    def _pristine(self, name: str) -> list[Any]:
        if not self.block.source.is_python:
            return self.stored(name).to_pylist()
        return self.block.source.formatter.column(self.stored(name), self.merge.typing.originals[name])

    def _changes(
        self, bases: list[Any], overlays: list[Mapping[str, Any]], named: Mapping[str, None]
    ) -> dict[str, list[Any]]:
        """Columns that the function set or changed in the rows themselves."""
        returned_rows = any(
            base is not None and overlay is NOTHING for base, overlay in zip(bases, overlays, strict=False)
        )
        if not self.block.source.is_python and not returned_rows:
            return {}  # formatting is not a change
        keys = _names([base for base in bases if base is not None]) if self.block.written or returned_rows else {}
        found: dict[str, list[Any]] = {}
        for name in {**dict.fromkeys(self.block.names), **keys}:
            if name in named or name in self.merge.removed:
                continue
            column = self._written(name, bases, returned_rows) if bases else self._mutated(name)
            if column is not None:
                found[name] = column
        return found

    def _mutated(self, name: str) -> list[Any] | None:
        """The values of a column that was changed in place, or None."""
        before = self.block.traces.get(name)
        if before is None or self.is_media(name) or is_unchanged(before, self.block.values(name)):
            return None
        return self.values(name)

    def _written(self, name: str, bases: list[Any], returned_rows: bool) -> list[Any] | None:
        held = [UNREAD if base is None else base.held(name) for base in bases]
        if all(value is UNREAD for value in held):
            touched = name in self.block.decoded
            may_differ = self.is_media(name) if self.block.source.is_python else True
            if touched and may_differ and returned_rows:
                return self._without_silent(name, bases)
            return self._without_silent(name, bases) if self._mutated(name) is not None else None
        if all(value is ABSENT for value, base in zip(held, bases, strict=True) if base is not None):
            self.gone.add(name)
            return None
        return self._based(name, bases)

    def _without_silent(self, name: str, bases: list[Any]) -> list[Any]:
        """The values of a column after the call, but the input's where the function returned None."""
        values = self.values(name)
        if all(base is not None for base in bases):
            return values
        before = self._pristine(name)
        return [old if base is None else new for base, old, new in zip(bases, before, values, strict=True)]


def _shown(value: Any, original: Any) -> Any:
    return original if value is UNREAD else None if value is ABSENT else value


def _held(base: Any, name: str, original: Any) -> Any:
    return _shown(UNREAD if base is None else base.held(name), original)


def _names(overlays: list[Any]) -> dict[str, None]:
    """All keys, in order of first appearance."""
    if not overlays:
        return {}
    first = overlays[0]
    names: dict[str, None] = dict.fromkeys(first)
    if set(map(len, overlays)) == {len(names)} and _have_all(overlays, names):
        return names
    return {name: None for overlay in overlays for name in overlay}


def _have_all(overlays: list[Any], names: Iterable[str]) -> bool:
    return all(all(map(contains, overlays, repeat(name))) for name in names)  # reads no values
