"""`DatasetInfo`: the description of a dataset, and its form in `dataset_info.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import MISSING, Field, field, fields, is_dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.info.texts import StorageOptions, inside, read_text, write_text
from crucible_datasets.records import dataclass
from crucible_datasets.splits import SplitDict
from crucible_datasets.version import Version

if TYPE_CHECKING:
    from crucible_datasets.features import Features


@dataclass
class SupervisedKeysData:
    """The columns that serve as input and as target."""

    input: str = ""
    output: str = ""


@dataclass
class PostProcessedInfo:
    """The features after a step that older builders ran on finished data."""

    features: Features | None = None
    resources_checksums: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self.features = _as_features(self.features)

    @classmethod
    def from_dict(cls, post_processed_info_dict: Mapping[str, Any]) -> PostProcessedInfo:
        """The inverse of the JSON form; unknown keys are ignored."""
        return cls(**_known(cls, post_processed_info_dict))


@dataclass(repr=False)
class DatasetInfo:
    """The description of a dataset: its features, splits, sizes and origin."""

    description: str = field(default_factory=str)
    citation: str = field(default_factory=str)
    homepage: str = field(default_factory=str)
    license: str = field(default_factory=str)
    features: Features | None = None
    post_processed: PostProcessedInfo | None = None
    supervised_keys: SupervisedKeysData | None = None
    builder_name: str | None = None
    dataset_name: str | None = None
    config_name: str | None = None
    version: str | Version | None = None
    splits: SplitDict | None = None
    download_checksums: dict[str, Any] | None = None
    download_size: int | None = None
    post_processing_size: int | None = None
    dataset_size: int | None = None
    size_in_bytes: int | None = None

    _INCLUDED_INFO_IN_YAML: ClassVar[list[str]] = ["config_name", "download_size", "dataset_size", "features", "splits"]

    def __post_init__(self) -> None:
        self.features = _as_features(self.features)
        self.post_processed = _as(PostProcessedInfo, self.post_processed, PostProcessedInfo.from_dict)
        self.version = _as(Version, self.version, Version if isinstance(self.version, str) else Version.from_dict)
        self.splits = _as(SplitDict, self.splits, SplitDict.from_split_dict)
        self.supervised_keys = _as(SupervisedKeysData, self.supervised_keys, _supervised_keys)

    def __repr__(self) -> str:
        shown = (f"{item.name}={getattr(self, item.name)!r}" for item in fields(self) if getattr(self, item.name))
        return f"DatasetInfo({', '.join(shown)})"

    @classmethod
    def from_dict(cls, dataset_info_dict: Mapping[str, Any]) -> DatasetInfo:
        """The inverse of `to_dict`; unknown keys are ignored."""
        return cls(**_known(cls, dataset_info_dict))

    def to_dict(self) -> dict[str, Any]:
        """The form of `dataset_info.json`: only what is known."""
        plain: dict[str, Any] = _plain(self)
        return plain

    @classmethod
    def from_merge(cls, dataset_infos: Iterable[DatasetInfo | None]) -> DatasetInfo:
        """The info of combined datasets: what all share, or else only their texts."""
        infos = [info.copy() for info in dataset_infos if info is not None]
        if infos and all(info == infos[0] for info in infos):
            return infos[0]
        texts = ("description", "citation", "homepage", "license")
        return cls.from_dict({name: _joined(getattr(info, name) for info in infos) for name in texts})

    def update(self, other_dataset_info: DatasetInfo, ignore_none: bool = True) -> None:
        """Take over the fields of another info; with `ignore_none`, only those it knows."""
        other = other_dataset_info.copy()
        for item in fields(self):
            value = getattr(other, item.name)
            if not (ignore_none and value is None):
                setattr(self, item.name, value)

    def copy(self) -> DatasetInfo:
        """A deep copy."""
        return deepcopy(self)

    @classmethod
    def from_directory(
        cls, dataset_info_dir: str | os.PathLike[str], storage_options: StorageOptions = None
    ) -> DatasetInfo:
        """Read the `dataset_info.json` of a folder."""
        folder = os.fspath(dataset_info_dir)
        if not folder:
            raise ArgumentError("dataset_info_dir", folder, "name the folder that holds dataset_info.json.")
        return cls.from_dict(json.loads(read_text(inside(folder, config.DATASET_INFO_FILENAME), storage_options)))

    def write_to_directory(
        self,
        dataset_info_dir: str | os.PathLike[str],
        pretty_print: bool = False,
        storage_options: StorageOptions = None,
    ) -> None:
        """Write `dataset_info.json`, and `LICENSE` if there is one, into an existing folder."""
        folder = os.fspath(dataset_info_dir)
        text = json.dumps(self.to_dict(), indent=4 if pretty_print else None)
        write_text(inside(folder, config.DATASET_INFO_FILENAME), text, storage_options)
        if self.license:
            write_text(inside(folder, config.LICENSE_FILENAME), self.license, storage_options)

    def _to_yaml_dict(self) -> dict[str, Any]:
        included = (item.name for item in fields(self) if item.name in self._INCLUDED_INFO_IN_YAML)
        known = {name: getattr(self, name) for name in included if getattr(self, name) is not None}
        return {
            name: value._to_yaml_list() if name in ("features", "splits") else value for name, value in known.items()
        }

    @classmethod
    def _from_yaml_dict(cls, yaml_data: Mapping[str, Any]) -> DatasetInfo:
        given = dict(yaml_data)
        if given.get("features") is not None:
            from crucible_datasets.features import Features

            given["features"] = Features._from_yaml_list(given["features"])
        if given.get("splits") is not None:
            given["splits"] = _described_splits(given["splits"])
        return cls.from_dict(given)


def _of_info(name: str) -> property:
    return property(attrgetter(f"info.{name}"), doc=f"`info.{name}`")


class DatasetInfoMixin:
    """Fields of `info` as properties of the class that has it."""

    builder_name = _of_info("builder_name")
    citation = _of_info("citation")
    config_name = _of_info("config_name")
    dataset_size = _of_info("dataset_size")
    description = _of_info("description")
    download_checksums = _of_info("download_checksums")
    download_size = _of_info("download_size")
    homepage = _of_info("homepage")
    license = _of_info("license")
    size_in_bytes = _of_info("size_in_bytes")
    supervised_keys = _of_info("supervised_keys")
    version = _of_info("version")


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(dict.fromkeys(texts)).strip()


def _known(kind: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    names = {item.name for item in fields(kind)}
    return {name: value for name, value in given.items() if name in names}


def _as(kind: Any, value: Any, convert: Any) -> Any:
    return value if value is None or isinstance(value, kind) else convert(value)


def _as_features(given: Any) -> Features | None:
    if given is None:
        return None
    from crucible_datasets.features import Features

    return given if isinstance(given, Features) else Features.from_dict(given)


def _described_splits(stored: Iterable[Any]) -> SplitDict:
    """Splits as people describe them by hand: only the name is needed."""
    entries = list(stored)
    for entry in entries:
        if not isinstance(entry, Mapping) or "name" not in entry:
            raise ArgumentError("splits", entry, "in YAML, each split needs a name, and may have num_examples.")
    return SplitDict.from_split_dict(entries)


def _supervised_keys(given: Any) -> SupervisedKeysData:
    return SupervisedKeysData(*given) if isinstance(given, (tuple, list)) else SupervisedKeysData(**given)


def _is_written(owner: Any, item: Field[Any]) -> bool:
    always = item.default_factory is not MISSING or item.metadata.get("include_in_asdict_even_if_is_default", False)
    return bool(always or getattr(owner, item.name) != item.default)


def _plain(value: Any) -> Any:
    """The JSON form: dataclasses lose the fields that hold their default, features have a form of their own."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value) if _is_written(value, item)}
    if isinstance(value, dict):
        to_dict = getattr(value, "to_dict", None)
        return to_dict() if to_dict else {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
