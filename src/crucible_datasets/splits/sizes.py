"""The sizes of splits, and the files that they lie in."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import field, fields
from typing import Any

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.records import dataclass
from crucible_datasets.splits.names import NamedSplit, SplitBase
from crucible_datasets.splits.pieces import pieces_of

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
        shown = (f"{item.name}={getattr(self, item.name)!r}" for item in fields(self) if getattr(self, item.name))
        return f"SplitInfo({', '.join(shown)})"

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
    found, end = [], 0
    for shard, length in enumerate(lengths):
        begin, end = end, end + length
        skip, upto = max(start - begin, 0), min(stop - begin, length)
        if skip < upto:
            suffix = f"-{shard:05d}-of-{len(lengths):05d}" if info.shard_lengths else ""
            take = upto - skip if upto < length else -1
            found.append({"filename": f"{stem}{suffix}.arrow", "skip": skip, "take": take})
    return found


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
