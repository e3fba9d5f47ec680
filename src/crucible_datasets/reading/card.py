"""Stage 2 of 6: a dataset's card: its configurations, features and sizes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import CardError, LimitExceededError, content_errors
from crucible_datasets.frontmatter import described_by
from crucible_datasets.info import DatasetInfo
from crucible_datasets.logging import get_logger
from crucible_datasets.records import dataclass
from crucible_datasets.sources.wildcards import is_pattern
from crucible_datasets.splits import NamedSplit

logger = get_logger(__name__)

Patterns = dict[str, list[str]]
# A folder is listed for each pattern, and no file system has longer paths and names.
_MOST_PATTERNS, _LONGEST_PATH, _LONGEST_NAME = 2000, 4096, 1024
_UNFIT_FOR_FILE_NAMES = r"<>:/\|?*"


@dataclass(frozen=True)
class CardConfig:
    """One configuration under `configs:`; keys that are not about files are options of the format."""

    name: str
    data_files: Patterns | None = None
    data_dir: str | None = None
    is_default: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Card:
    """The configurations of a dataset and what is known about each."""

    configs: Mapping[str, CardConfig] = field(default_factory=dict)
    infos: Mapping[str, DatasetInfo] = field(default_factory=dict)


def card_of(folder: str) -> Card:
    """The card of a folder; empty if there is none."""
    stated = described_by(folder)
    place = os.path.join(folder, config.REPOCARD_FILENAME)
    with content_errors(CardError, place):
        return Card(_configs(stated.get(config.METADATA_CONFIGS_FIELD), place), _infos(stated, folder, place))


def _configs(stated: Any, place: str) -> dict[str, CardConfig]:
    if stated is None:
        return {}
    if not isinstance(stated, list):
        raise CardError(place, f"configs must be a list, not {stated!r}.")
    found = {one.name: one for one in (_config(entry, place) for entry in stated)}
    defaults = [name for name, one in found.items() if one.is_default or name == "default"]
    if len(defaults) > 1:
        raise CardError(place, f"several configurations are the default: {', '.join(defaults)}.")
    return found


def _config(entry: Any, place: str) -> CardConfig:
    name = entry.get("config_name") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        raise CardError(place, f"every entry of configs needs config_name with a text, but one is {entry!r}.")
    if set(_UNFIT_FOR_FILE_NAMES) & set(name):
        raise CardError(place, f"config_name {name!r} must not hold any of {_UNFIT_FOR_FILE_NAMES}")
    if not isinstance(entry.get("data_dir"), str | None):
        raise CardError(place, f"data_dir must be a path, not {entry['data_dir']!r}.")
    about_files = ("config_name", "data_files", "data_dir", "default")
    return CardConfig(
        name,
        _patterns(entry["data_files"], place) if "data_files" in entry else None,
        entry.get("data_dir"),
        bool(entry.get("default")),
        {key: value for key, value in entry.items() if key not in about_files},
    )


def _patterns(stated: Any, place: str) -> Patterns:
    found = _by_split(stated, place)
    several = [one for patterns in found.values() for one in patterns]
    if sum(map(is_pattern, several)) > _MOST_PATTERNS:
        raise LimitExceededError(place, "the number of patterns", _MOST_PATTERNS, "reading.card._MOST_PATTERNS")
    if any(len(one) > _LONGEST_PATH or max(map(len, one.split("/"))) > _LONGEST_NAME for one in several):
        raise CardError(
            place, f"data_files holds a path of over {_LONGEST_PATH} characters, or a name of over {_LONGEST_NAME}."
        )
    return found


def _by_split(stated: Any, place: str) -> Patterns:
    if isinstance(stated, str):
        return {"train": [stated]}
    if isinstance(stated, list) and all(isinstance(item, str) for item in stated):
        return {"train": stated}
    if not isinstance(stated, list) or not all(map(_is_split_and_path, stated)):
        raise CardError(
            place,
            "data_files must be a path, a list of paths, or a list of {split: name, path: one or several}, "
            f"not {stated!r}.",
        )
    found: Patterns = {}
    for item in stated:
        if item["split"] in found:
            raise CardError(place, f"data_files names split {item['split']!r} twice; give it a list of paths.")
        found[str(NamedSplit(item["split"]))] = [item["path"]] if isinstance(item["path"], str) else item["path"]
    return found


def _is_split_and_path(item: Any) -> bool:
    if not isinstance(item, dict) or set(item) != {"split", "path"}:
        return False
    path = item["path"]
    return isinstance(path, str) or (isinstance(path, list) and all(isinstance(one, str) for one in path))


def _infos(stated: Mapping[str, Any], folder: str, place: str) -> dict[str, DatasetInfo]:
    entries = stated.get("dataset_info") or []
    if not isinstance(entries, (dict, list)):
        logger.warning("%s: dataset_info must be keys with values. Passed over: %r", place, entries)
        entries = []
    entries = [entries] if isinstance(entries, dict) else entries
    if not all(isinstance(entry, dict) for entry in entries):
        raise CardError(place, f"dataset_info must be keys with values, or a list of such, not {entries!r}.")
    infos = _older_infos(os.path.join(folder, config.DATASETDICT_INFOS_FILENAME))
    for entry in entries:
        info = DatasetInfo._from_yaml_dict(entry)
        infos[info.config_name or "default"] = info
    return infos


def _older_infos(path: str) -> dict[str, DatasetInfo]:
    try:
        with open(path, encoding="utf-8") as file:
            stated = json.load(file)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (ValueError, RecursionError) as error:
        raise CardError(path, f"it is not JSON: {error}.") from error
    with content_errors(CardError, path):
        return {name: DatasetInfo.from_dict(info) for name, info in stated.items()}
