"""`DatasetInfosDict`: the infos of all configurations, in the YAML at the top of a dataset's README."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from crucible_datasets import config
from crucible_datasets.info.info import DatasetInfo
from crucible_datasets.info.texts import read_text, write_text

if TYPE_CHECKING:
    from huggingface_hub import DatasetCardData


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
    from huggingface_hub import DatasetCard

    return DatasetCard(read_text(path), ignore_metadata_errors=True) if os.path.exists(path) else None


def _write_readme(path: str, infos: DatasetInfosDict) -> None:
    from huggingface_hub import DatasetCardData

    card = _card(path)
    data = DatasetCardData() if card is None else card.data
    infos.to_dataset_card_data(data)
    write_text(path, f"---\n{data}\n---\n" if card is None else str(card))
