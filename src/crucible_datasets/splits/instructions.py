"""Rows of splits by number or percent: the language of `train[:10%]+test[5:]`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import NoReturn

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.records import dataclass
from crucible_datasets.splits.errors import SplitSpecError, UnknownSplitError
from crucible_datasets.splits.names import NamedSplit, SplitBase

_PART = re.compile(
    r"^(?P<split>\w+(\.\w+)*)"
    r"(\[((?P<start>-?[\d_]+)(?P<start_percent>%)?)?:((?P<stop>-?[\d_]+)(?P<stop_percent>%)?)?\])?"
    r"(\((?P<rounding>[^)]*)\))?$"
)
_PLUS = re.compile(r"\s*\+\s*")


@dataclass(frozen=True)
class _AbsoluteInstruction:
    splitname: str
    from_: int
    to: int


@dataclass
class _RelativeInstruction:
    splitname: str
    from_: int | None = None
    to: int | None = None
    unit: str | None = None
    rounding: str | None = None

    def __post_init__(self) -> None:
        if self.unit not in (None, "%", "abs"):
            self._refuse("the unit of the bounds is '%' or 'abs'.")
        if self.rounding not in (None, *_ROUNDINGS):
            self._refuse(f"rounding is one of {', '.join(_ROUNDINGS)}.")
        if self.unit != "%" and self.rounding is not None:
            self._refuse("only percents are rounded; leave the rounding out.")
        if self.unit == "%" and any(abs(bound) > 100 for bound in (self.from_, self.to) if bound is not None):
            self._refuse("percents lie between -100 and 100.")
        if self.unit == "%" and self.rounding is None:
            self.rounding = "closest"

    def _refuse(self, reason: str) -> NoReturn:
        raise SplitSpecError(self.spec(), reason)

    def spec(self) -> str:
        if self.from_ is None and self.to is None:
            return self.splitname
        sign = "%" if self.unit == "%" else ""
        start, stop = ("" if bound is None else f"{bound}{sign}" for bound in (self.from_, self.to))
        rounding = "" if self.rounding in (None, "closest") else f"({self.rounding})"
        return f"{self.splitname}[{start}:{stop}]{rounding}"

    def absolute(self, lengths: Mapping[str, int]) -> _AbsoluteInstruction:
        if self.splitname not in lengths:
            raise UnknownSplitError(self.splitname, lengths)
        length = lengths[self.splitname]
        start = 0 if self.from_ is None else self._row(self.from_, length)
        stop = length if self.to is None else self._row(self.to, length)
        return _AbsoluteInstruction(self.splitname, start, stop)

    def _row(self, bound: int, length: int) -> int:
        row = _ROUNDINGS[self.rounding](bound, length) if self.rounding else bound
        return min(max(row + length, 0) if row < 0 else row, length)


def _closest_row(percents: int, length: int) -> int:
    return round(percents * length / 100)


def _row_of_whole_percents(percents: int, length: int) -> int:
    if length < 100:
        raise ArgumentError("rounding", "pct1_dropremainder", f"one percent of {length} rows is no row; it needs 100.")
    return percents * math.trunc(length / 100)


_ROUNDINGS: dict[str, Callable[[int, int], int]] = {
    "closest": _closest_row,
    "pct1_dropremainder": _row_of_whole_percents,
}


class ReadInstruction:
    """Rows of one or more splits, by number or percent.

    >>> print(ReadInstruction("train", to=10, unit="%") + ReadInstruction.from_spec("test[5:]"))
    train[:10%]+test[5:]
    """

    def __init__(
        self,
        split_name: str | NamedSplit,
        rounding: str | None = None,
        from_: int | None = None,
        to: int | None = None,
        unit: str | None = None,
    ) -> None:
        self._relative_instructions = [_RelativeInstruction(str(split_name), from_, to, unit, rounding)]

    @classmethod
    def from_spec(cls, spec: str | SplitBase | ReadInstruction) -> ReadInstruction:
        """The instruction that a string such as `train[:10%]+test[5:]` stands for."""
        first, *rest = (cls._from_part(part, str(spec)) for part in _PLUS.split(str(spec)))
        return sum(rest, first)

    @classmethod
    def _from_part(cls, part: str, spec: str) -> ReadInstruction:
        found = _PART.match(part)
        if not found:
            raise SplitSpecError(spec)
        unit = "%" if found["start_percent"] or found["stop_percent"] else "abs"
        try:
            start, stop = (int(bound) if bound else None for bound in (found["start"], found["stop"]))
        except ValueError:
            raise SplitSpecError(spec) from None
        return cls(found["split"], found["rounding"], start, stop, unit)

    def to_spec(self) -> str:
        """The string that `from_spec` reads."""
        return "+".join(part.spec() for part in self._relative_instructions)

    def to_absolute(self, name2len: Mapping[str, int]) -> list[_AbsoluteInstruction]:
        """The same rows by number, given the length of each split."""
        return [part.absolute(name2len) for part in self._relative_instructions]

    def __add__(self, other: ReadInstruction) -> ReadInstruction:
        if not isinstance(other, ReadInstruction):
            raise TypeError(f"A ReadInstruction can be added to another, not to {type(other).__name__}.")
        mine, theirs = self._relative_instructions[0], other._relative_instructions[0]
        if "abs" not in (mine.unit, theirs.unit) and mine.rounding != theirs.rounding:
            raise SplitSpecError(f"{self}+{other}", "the percents of a sum are rounded in one way.")
        both = object.__new__(type(self))
        both._relative_instructions = self._relative_instructions + other._relative_instructions
        return both

    def __eq__(self, other: object) -> bool:
        return self.to_spec() == other.to_spec() if isinstance(other, ReadInstruction) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_spec())

    def __str__(self) -> str:
        return self.to_spec()

    def __repr__(self) -> str:
        return f"ReadInstruction({self._relative_instructions})"
