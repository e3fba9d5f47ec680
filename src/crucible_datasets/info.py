"""The description of a dataset, in the file formats that Hugging Face `datasets` uses."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import MISSING, Field, field, fields, is_dataclass
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.frontmatter import card_of
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.records import dataclass
from crucible_datasets.splits import SplitDict
from crucible_datasets.version import Version

if TYPE_CHECKING:
    from huggingface_hub import DatasetCardData

    from crucible_datasets.features import Features


__all__ = ["DatasetInfo", "DatasetInfoMixin", "DatasetInfosDict", "PostProcessedInfo", "SupervisedKeysData"]

names_of_datasets(__name__)


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


class DatasetInfosDict(dict[str, DatasetInfo]):
    """The infos of a dataset's configurations by name, as its README holds them."""

    @classmethod
    def from_directory(cls, dataset_infos_dir: str | os.PathLike[str]) -> DatasetInfosDict:
        """Read the README of a folder, or else its older `dataset_infos.json`."""
        folder = os.fspath(dataset_infos_dir)
        card = _card(os.path.join(folder, config.REPOCARD_FILENAME))
        if card is not None and "dataset_info" in card.data:
            return cls.from_dataset_card_data(card.data)
        legacy = os.path.join(folder, config.DATASETDICT_INFOS_FILENAME)
        if os.path.exists(legacy):
            stored = json.loads(read_text(legacy))
            return cls({name: DatasetInfo.from_dict(info) for name, info in stored.items()})
        return cls()

    def write_to_directory(
        self, dataset_infos_dir: str | os.PathLike[str], overwrite: bool = False, pretty_print: bool = False
    ) -> None:
        """Put these infos into the README of a folder, and into an older `dataset_infos.json` if it is there."""
        folder = os.fspath(dataset_infos_dir)
        infos = DatasetInfosDict(self if overwrite else {**self.from_directory(folder), **self})
        legacy = os.path.join(folder, config.DATASETDICT_INFOS_FILENAME)
        if os.path.exists(legacy):
            stored = {name: info.to_dict() for name, info in infos.items()}
            write_text(legacy, json.dumps(stored, indent=4 if pretty_print else None))
        if infos:
            os.makedirs(folder, exist_ok=True)
            _write_readme(os.path.join(folder, config.REPOCARD_FILENAME), infos)

    @classmethod
    def from_dataset_card_data(cls, dataset_card_data: DatasetCardData) -> DatasetInfosDict:
        """The infos under `dataset_info` in a README's YAML: one, or a list of them."""
        stored = dataset_card_data.get("dataset_info")
        if isinstance(stored, list):
            infos = [DatasetInfo._from_yaml_dict(entry) for entry in stored]
            return cls({info.config_name or "default": info for info in infos})
        if isinstance(stored, dict):
            info = DatasetInfo._from_yaml_dict(stored)
            info.config_name = info.config_name or "default"
            return cls({info.config_name: info})
        return cls()

    def to_dataset_card_data(self, dataset_card_data: DatasetCardData) -> None:
        """Put these infos into a README's YAML, beside the configurations already there."""
        if not self:
            return
        infos = {**self.from_dataset_card_data(dataset_card_data), **self}
        entries = [_yaml_entry(name, infos[name]) for name in sorted(infos)]
        if len(entries) > 1:
            dataset_card_data["dataset_info"] = entries
            return
        if entries[0]["config_name"] == "default":
            del entries[0]["config_name"]
        dataset_card_data["dataset_info"] = entries[0]


def _yaml_entry(name: str, info: DatasetInfo) -> dict[str, Any]:
    entry = info._to_yaml_dict()
    entry.pop("config_name", None)
    return {"config_name": name, **entry}


def _card(path: str) -> Any:
    return card_of(read_text(path), path) if os.path.exists(path) else None


def _write_readme(path: str, infos: DatasetInfosDict) -> None:
    from huggingface_hub import DatasetCardData

    card = _card(path)
    data = DatasetCardData() if card is None else card.data
    infos.to_dataset_card_data(data)
    write_text(path, f"---\n{data}\n---\n" if card is None else str(card))


StorageOptions = dict[str, Any] | None


def inside(folder: str, name: str) -> str:
    """The path of a name in a local or remote folder."""
    return f"{folder.rstrip('/')}/{name}" if "://" in folder else os.path.join(folder, name)


def _filesystem(path: str, storage_options: StorageOptions) -> tuple[Any, str]:
    filesystem, location = import_module("fsspec.core").url_to_fs(path, **(storage_options or {}))
    return filesystem, location


def read_text(path: str, storage_options: StorageOptions = None) -> str:
    """The content of a small file."""
    if "://" not in path:
        with open(path, encoding="utf-8") as file:
            return file.read()
    filesystem, location = _filesystem(path, storage_options)
    return bytes(filesystem.cat_file(location)).decode()


def write_text(path: str, text: str, storage_options: StorageOptions = None, is_lasting: bool = True) -> None:
    """Write a small file atomically; unless `is_lasting`, the caller syncs it to disk."""
    filesystem, location = (None, path) if "://" not in path else _filesystem(path, storage_options)
    if filesystem is None or "file" in filesystem.protocol:
        from crucible_datasets.atomic import atomic_file  # most datasets are never written

        with atomic_file(location, is_lasting) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    else:
        # One request: an object store shows the new object only when all of it has arrived.
        filesystem.pipe_file(location, text.encode())
