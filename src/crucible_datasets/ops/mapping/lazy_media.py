"""`OnDemand`: a column of media whose values are decoded on access.

So one corrupt image is an error of its row only, and a function that accesses few rows pays for few. When rows are
accessed in order, threads decode several in advance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from crucible_datasets.exceptions import BadMediaError
from crucible_datasets.features.batch_decode import outcomes, threads_for

_AHEAD_PER_THREAD = 4
_NOT_YET = object()


class OnDemand(Sequence[Any]):
    """Values that are decoded on first access, and kept."""

    def __init__(
        self,
        stored: list[Any],
        feature: Any,
        column: str,
        first_row: int | None = None,
        show: Callable[[Any], Any] | None = None,
    ) -> None:
        self.stored, self.feature, self.column, self.first_row, self.show = stored, feature, column, first_row, show
        self.made: list[Any] = [_NOT_YET] * len(stored)

    def __len__(self) -> int:
        return len(self.stored)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> OnDemand: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            part = OnDemand(self.stored[place], self.feature, self.column, None, self.show)
            part.made = self.made[place]
            return part
        if self.made[place] is _NOT_YET:
            self._make(place % len(self))
        value = self.made[place]
        if isinstance(value, BadMediaError):
            raise value.at(self.column, None if self.first_row is None else self.first_row + place) from value.__cause__
        if isinstance(value, Exception):
            raise value
        return value

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def copy(self) -> list[Any]:
        """All values, as a list."""
        if all(value is _NOT_YET for value in self.made):
            self.made = outcomes(self.stored, self.feature, self.show)
        return list(self)

    def _make(self, place: int) -> None:
        follows = place > 0 and self.made[place - 1] is not _NOT_YET
        stop = place + (threads_for(self.feature) * _AHEAD_PER_THREAD if follows else 1)
        new = outcomes(self.stored[place:stop], self.feature, self.show)
        for at, value in enumerate(new, place):
            if self.made[at] is _NOT_YET:
                self.made[at] = value
