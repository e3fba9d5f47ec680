"""Splits: their names, their sizes, and specs such as `train[:10%]`.

The rest of the library uses `pieces_of("train[:10%]+test[5:]", lengths)`, which turns any way of naming splits into row
ranges.
"""

from __future__ import annotations

import abc
import math
import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import field, fields
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

from crucible_datasets.exceptions import ArgumentError, DatasetsError, UnknownEntryError
from crucible_datasets.records import dataclass

__all__ = [
    "EmptySplitError",
    "FileInstructions",
    "NamedSplit",
    "NamedSplitAll",
    "PercentSlice",
    "PercentSliceMeta",
    "ReadInstruction",
    "SlicedSplitInfo",
    "Split",
    "SplitBase",
    "SplitDict",
    "SplitGenerator",
    "SplitInfo",
    "SplitNameError",
    "SplitPiece",
    "SplitReadInstruction",
    "SplitSpecError",
    "SubSplitInfo",
    "UnknownSplitError",
    "names_in",
    "percent",
    "pieces_of",
]


class SplitNameError(DatasetsError, ValueError):
    """A split was given a name that cannot be written in a spec or a file name."""

    def message(self, name: object) -> str:
        self.name = name
        return f"{name!r} is not a split name. Use letters, digits and underscores, as in 'train' or 'test.clean'."


class SplitSpecError(DatasetsError, ValueError):
    """A split spec is invalid."""

    def message(self, spec: object, reason: str = "write it like 'train', 'train[:10%]' or 'train[5:]+test'.") -> str:
        self.spec = spec
        return f"Cannot read split {str(spec)!r}: {reason}"


class UnknownSplitError(UnknownEntryError, KeyError):
    """The dataset has no such split."""

    def message(self, name: object, available: Iterable[str]) -> str:  # type: ignore[override]
        return super().message("split", str(name), available)


class EmptySplitError(DatasetsError, ValueError):
    """A split spec selects no rows."""

    def message(self, spec: object, lengths: Mapping[str, int]) -> str:
        self.spec, self.lengths = str(spec), dict(lengths)
        sizes = ", ".join(f"{name} has {length}" for name, length in self.lengths.items())
        return f"Split {self.spec!r} corresponds to no data! Rows: {sizes}."


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
        text = ":".join("" if bound is None else str(bound) for bound in (bounds if bounds[2] else bounds[:2]))
        return f"{self._split!r}(datasets.percent[{text}])"

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
        for name, (info, percents) in self._splits.items():
            if percents is not None:
                raise SplitSpecError(name, "it is already a part of a split, and a part has no percents.")
            parts.add(SlicedSplitInfo(info, slice_value))
        return parts

    def get_list_sliced_split_info(self) -> list[SlicedSplitInfo]:
        return list(self._splits.values())


_ALWAYS_WRITTEN = {"include_in_asdict_even_if_is_default": True}


@dataclass(repr=False)
class SplitInfo:
    """The size of one split."""

    name: str = field(default="", metadata=_ALWAYS_WRITTEN)
    num_bytes: int = field(default=0, metadata=_ALWAYS_WRITTEN)
    num_examples: int = field(default=0, metadata=_ALWAYS_WRITTEN)
    shard_lengths: list[int] | None = None
    original_shard_lengths: list[int] | None = None
    dataset_name: str | None = field(default=None, metadata=_ALWAYS_WRITTEN)

    def __repr__(self) -> str:
        values = (f"{item.name}={getattr(self, item.name)!r}" for item in fields(self) if getattr(self, item.name))
        return f"SplitInfo({', '.join(values)})"

    @property
    def file_instructions(self) -> list[dict[str, Any]]:
        """The Arrow files of this split, each with the rows to skip and to take (-1: all the rest)."""
        return _file_instructions(self, 0, self.num_examples)


@dataclass
class FileInstructions:
    """Rows in files: how many in all, and which of which file."""

    num_examples: int
    file_instructions: list[dict[str, Any]]


@dataclass
class SubSplitInfo:
    """The size of a part of a split."""

    instructions: FileInstructions

    @property
    def num_examples(self) -> int:
        return self.instructions.num_examples

    @property
    def file_instructions(self) -> list[dict[str, Any]]:
        return self.instructions.file_instructions


def _file_instructions(info: SplitInfo, start: int, stop: int) -> list[dict[str, Any]]:
    stem = f"{info.dataset_name or 'dataset'}-{info.name}"
    lengths = info.shard_lengths or [info.num_examples]
    instructions, end = [], 0
    for shard, length in enumerate(lengths):
        begin, end = end, end + length
        skip, upto = max(start - begin, 0), min(stop - begin, length)
        if skip < upto:
            suffix = f"-{shard:05d}-of-{len(lengths):05d}" if info.shard_lengths else ""
            take = upto - skip if upto < length else -1
            instructions.append({"filename": f"{stem}{suffix}.arrow", "skip": skip, "take": take})
    return instructions


class SplitDict(dict[str, SplitInfo]):
    """The splits of a dataset by name; a spec such as `train[:10%]` gives a `SubSplitInfo`."""

    def __init__(self, *args: Any, dataset_name: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset_name = dataset_name

    def __getitem__(self, key: SplitBase | str) -> Any:
        if str(key) in self:
            return super().__getitem__(str(key))
        pieces = pieces_of(key, {name: info.num_examples for name, info in self.items()})
        files = [file for name, start, stop in pieces for file in _file_instructions(self[name], start, stop)]
        return SubSplitInfo(FileInstructions(sum(stop - start for _, start, stop in pieces), files))

    def __setitem__(self, key: SplitBase | str, value: SplitInfo) -> None:
        if key != value.name:
            raise ArgumentError("key", str(key), f"a split is kept under its own name, {value.name!r}.")
        super().__setitem__(value.name, value)

    def add(self, split_info: SplitInfo) -> None:
        """Add a split that is not there yet."""
        if split_info.name in self:
            raise ArgumentError("split_info", split_info, f"split {split_info.name!r} is already there.")
        split_info.dataset_name = self.dataset_name
        super().__setitem__(split_info.name, split_info)

    @property
    def total_num_examples(self) -> int:
        return sum(info.num_examples for info in self.values())

    @classmethod
    def from_split_dict(cls, split_infos: list[Any] | dict[str, Any], dataset_name: str | None = None) -> SplitDict:
        """The inverse of `to_split_dict`; also takes the dict form of each split."""
        infos = list(split_infos.values() if isinstance(split_infos, dict) else split_infos)
        infos = [SplitInfo(**info) if isinstance(info, dict) else info for info in infos]
        splits = cls(dataset_name=dataset_name or (infos[0].dataset_name if infos else None))
        for info in infos:
            splits.add(info)
        return splits

    def to_split_dict(self) -> list[SplitInfo]:
        """A copy of each split, in order."""
        return [deepcopy(info) for info in self.values()]

    def copy(self) -> SplitDict:
        return SplitDict.from_split_dict(self.to_split_dict(), self.dataset_name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (dict(self), self.dataset_name)

    def _to_yaml_list(self) -> list[dict[str, Any]]:
        written = ("name", "num_bytes", "num_examples")
        return [{name: getattr(info, name) for name in written} for info in self.values()]

    @classmethod
    def _from_yaml_list(cls, yaml_data: list[Any]) -> SplitDict:
        for entry in yaml_data:
            if not isinstance(entry, dict) or not {"name", "num_bytes", "num_examples"} <= entry.keys():
                raise ArgumentError("splits", entry, "in YAML, each split needs name, num_bytes and num_examples.")
        return cls.from_split_dict(yaml_data)


def _restored(splits: dict[str, SplitInfo], dataset_name: str | None) -> SplitDict:
    return SplitDict(splits, dataset_name=dataset_name)


@dataclass
class SplitGenerator:
    """What a builder says about a split it will generate."""

    name: str
    gen_kwargs: dict[str, Any] = field(default_factory=dict)
    split_info: SplitInfo = field(init=False)

    def __post_init__(self) -> None:
        self.name = str(self.name)
        NamedSplit(self.name)
        self.split_info = SplitInfo(name=self.name)


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
        match = _PART.match(part)
        if not match:
            raise SplitSpecError(spec)
        unit = "%" if match["start_percent"] or match["stop_percent"] else "abs"
        try:
            start, stop = (int(bound) if bound else None for bound in (match["start"], match["stop"]))
        except ValueError:
            raise SplitSpecError(spec) from None
        return cls(match["split"], match["rounding"], start, stop, unit)

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


class SplitPiece(NamedTuple):
    """Rows `start` to `stop` of one split."""

    split: str
    start: int
    stop: int


def pieces_of(split: str | SplitBase | ReadInstruction, lengths: Mapping[str, int]) -> list[SplitPiece]:
    """The row ranges that `split` names, in order; at least one of them has rows, or ends before it begins.

    >>> pieces_of("train[:10%]+test", {"train": 50, "test": 3})
    [SplitPiece(split='train', start=0, stop=5), SplitPiece(split='test', start=0, stop=3)]
    """
    parts = [part for instruction in _instructions(split, lengths) for part in instruction.to_absolute(lengths)]
    if all(part.from_ == part.to for part in parts):
        raise EmptySplitError(split, lengths)
    return [SplitPiece(part.splitname, part.from_, max(part.from_, part.to)) for part in parts]


def names_in(split: str | SplitBase | ReadInstruction, available: Iterable[str]) -> dict[str, bool]:
    """The splits that `split` reads from, each once, and whether it reads their first rows.

    >>> names_in("train[:10%]+test[5:]", ["train", "test", "dev"])
    {'train': True, 'test': False}
    """
    lengths = dict.fromkeys(available, 0)
    names: dict[str, bool] = {}
    for instruction in _instructions(split, lengths):
        for part in instruction._relative_instructions:
            names[part.splitname] = names.get(part.splitname, False) or not part.from_
    for name in names:
        if name not in lengths:
            raise UnknownSplitError(name, lengths)
    return names


def _instructions(split: str | SplitBase | ReadInstruction, lengths: Mapping[str, int]) -> list[ReadInstruction]:
    if isinstance(split, ReadInstruction):
        return [split]
    if isinstance(split, (SplitMerged, SubSplit)):
        infos = SplitDict({name: SplitInfo(name, 0, length) for name, length in lengths.items()})
        return [_percents(*sliced) for sliced in split.get_read_instruction(infos).get_list_sliced_split_info()]
    if str(split) == "all" and "all" not in lengths:
        return [ReadInstruction(name) for name in lengths]
    return [ReadInstruction.from_spec(split)]


def _percents(info: SplitInfo | SubSplitInfo, percents: slice | None) -> ReadInstruction:
    part = percents or slice(None)
    return ReadInstruction(getattr(info, "name", ""), from_=part.start, to=part.stop, unit="%")
