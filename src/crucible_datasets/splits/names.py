"""Splits by name: one, all, several added together, or percents of one."""

from __future__ import annotations

import abc
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.splits.errors import SplitNameError, SplitSpecError

if TYPE_CHECKING:
    from crucible_datasets.splits.sizes import SplitDict, SplitInfo, SubSplitInfo

_NAME = re.compile(r"^\w+(\.\w+)*$")


class SplitBase(abc.ABC):
    """A split, a part of one, or several added together."""

    @abc.abstractmethod
    def get_read_instruction(self, split_dict: SplitDict) -> SplitReadInstruction:
        """The splits of `split_dict` that this one reads, each with its percent slice."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SplitBase) and not isinstance(other, NamedSplit):
            raise NotImplementedError("Sums and parts of splits cannot be compared; compare the splits in them.")
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> SplitMerged:
        return SplitMerged(self, other)

    def subsplit(self, arg: Any = None, k: Any = None, percent: Any = None, weighted: Any = None) -> Any:
        """Parts of this split: `k` equal ones, one `percent` slice, or several `weighted` ones."""
        if sum(bool(given) for given in (arg, k, percent, weighted)) != 1:
            raise ArgumentError("subsplit", (arg, k, percent, weighted), "give exactly one of k, percent and weighted.")
        k = arg if isinstance(arg, int) else k
        percent = arg if isinstance(arg, slice) else percent
        weighted = arg if isinstance(arg, list) else weighted
        if percent:
            return SubSplit(self, percent)
        if weighted:
            return tuple(SubSplit(self, part) for part in _weighted_percents(list(weighted)))
        if k:
            return tuple(SubSplit(self, part) for part in _equal_percents(k))
        raise ArgumentError("arg", arg, "give an int for k, a slice for percent or a list for weighted.")


def _equal_percents(k: int) -> list[slice]:
    if not 0 < k <= 100:
        raise ArgumentError("k", k, "a split falls into 1 to 100 parts.")
    bounds = [*range(0, 100 // k * k, 100 // k), 100]
    return [slice(start, stop) for start, stop in pairwise(bounds)]


def _weighted_percents(weights: list[int]) -> list[slice]:
    bounds = [0]
    for weight in weights:
        bounds.append(bounds[-1] + 100 * weight // sum(weights))
    bounds[-1] = 100
    return [slice(start, stop) for start, stop in pairwise(bounds)]


class NamedSplit(SplitBase):
    """A split by its name, equal to that name as a string.

    >>> NamedSplit("train") == "train"
    True
    """

    def __init__(self, name: str) -> None:
        self._name = str(name)
        for part in self._name.split("+"):
            if not _NAME.match(part.split("[")[0]):
                raise SplitNameError(self._name)

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"NamedSplit({self._name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (NamedSplit, str)) and self._name == str(other)

    def __lt__(self, other: object) -> bool:
        return self._name < str(other) if isinstance(other, (NamedSplit, str)) else NotImplemented

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self._name)

    def get_read_instruction(self, split_dict: SplitDict) -> SplitReadInstruction:
        return SplitReadInstruction(split_dict[self._name])


class NamedSplitAll(NamedSplit):
    """Every split of a dataset, one after the other."""

    def __init__(self) -> None:
        super().__init__("all")

    def __repr__(self) -> str:
        return "NamedSplitAll()"

    def get_read_instruction(self, split_dict: SplitDict) -> SplitReadInstruction:
        return sum((SplitReadInstruction(info) for info in split_dict.values()), SplitReadInstruction())


class Split:
    """The usual splits; `Split("name")` makes any other."""

    TRAIN = NamedSplit("train")
    TEST = NamedSplit("test")
    VALIDATION = NamedSplit("validation")
    ALL = NamedSplitAll()

    def __new__(cls, name: str) -> NamedSplit:  # type: ignore[misc]
        return NamedSplitAll() if name == "all" else NamedSplit(name)


class SplitMerged(SplitBase):
    def __init__(self, split1: Any, split2: Any) -> None:
        self._parts = (split1, split2)

    def __repr__(self) -> str:
        return f"({self._parts[0]!r} + {self._parts[1]!r})"

    def get_read_instruction(self, split_dict: SplitDict) -> SplitReadInstruction:
        first, second = (Split(part) if isinstance(part, str) else part for part in self._parts)
        return first.get_read_instruction(split_dict) + second.get_read_instruction(split_dict)


class SubSplit(SplitBase):
    def __init__(self, split: SplitBase, percents: slice) -> None:
        self._split, self._percents = split, percents

    def __repr__(self) -> str:
        bounds = [self._percents.start, self._percents.stop, self._percents.step]
        shown = ":".join("" if bound is None else str(bound) for bound in (bounds if bounds[2] else bounds[:2]))
        return f"{self._split!r}(datasets.percent[{shown}])"

    def get_read_instruction(self, split_dict: SplitDict) -> SplitReadInstruction:
        return self._split.get_read_instruction(split_dict)[self._percents]


class PercentSliceMeta(type):
    def __getitem__(cls, slice_value: slice) -> slice:
        if not isinstance(slice_value, slice):
            raise ArgumentError("percent", slice_value, "give a slice, as in percent[:10].")
        return slice_value


class PercentSlice(metaclass=PercentSliceMeta):
    """`percent[:10]`, the slice that `subsplit` takes."""


percent = PercentSlice


class SlicedSplitInfo(NamedTuple):
    """A split and the percents of it to read; None reads all."""

    split_info: SplitInfo | SubSplitInfo
    slice_value: slice | None


class SplitReadInstruction:
    """The splits a `SplitBase` reads, each at most once."""

    def __init__(self, split_info: SplitInfo | SubSplitInfo | None = None) -> None:
        self._splits: dict[str, SlicedSplitInfo] = {}
        if split_info:
            self.add(SlicedSplitInfo(split_info, None))

    def add(self, sliced_split: SlicedSplitInfo) -> None:
        name = getattr(sliced_split.split_info, "name", "")
        if name in self._splits:
            raise SplitSpecError(name, "it is added to itself. Use a spec such as 'train+train' instead.")
        self._splits[name] = sliced_split

    def __add__(self, other: SplitReadInstruction) -> SplitReadInstruction:
        both = SplitReadInstruction()
        for sliced in (*self._splits.values(), *other._splits.values()):
            both.add(sliced)
        return both

    def __getitem__(self, slice_value: slice) -> SplitReadInstruction:
        parts = SplitReadInstruction()
        for name, (info, taken) in self._splits.items():
            if taken is not None:
                raise SplitSpecError(name, "it is already a part of a split, and a part has no percents.")
            parts.add(SlicedSplitInfo(info, slice_value))
        return parts

    def get_list_sliced_split_info(self) -> list[SlicedSplitInfo]:
        return list(self._splits.values())
