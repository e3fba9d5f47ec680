"""The card of a pushed dataset: files, features and sizes of each configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError, CardError, LimitExceededError
from crucible_datasets.features import Features
from crucible_datasets.frontmatter import card_of
from crucible_datasets.info import DatasetInfo, DatasetInfosDict
from crucible_datasets.splits import SplitDict, SplitInfo

if TYPE_CHECKING:
    from crucible_datasets.ops.pushing.commit import Where

_NO_OPTIONS = {"config_name", "default", "description", "version"}


def known_info(readme: str | None, config_name: str) -> DatasetInfo | None:
    """The current description of a configuration in a card."""
    return DatasetInfosDict.from_dataset_card_data(_card(readme).data).get(config_name)


def stated_files(readme: str | None, config_name: str) -> dict[str, list[str]]:
    """The paths that a card lists for a configuration, by split."""
    return _files(_named(_card(readme).data.get(config.METADATA_CONFIGS_FIELD)).get(config_name, {}))


def has_configs(readme: str | None) -> bool:
    """Whether a card lists any files."""
    return bool(_card(readme).data.get(config.METADATA_CONFIGS_FIELD))


def card_with(
    readme: str | None,
    where: Where,
    splits: Mapping[str, SplitInfo],
    features: Features,
    download_size: int,
    known: DatasetInfo | None,
) -> str:
    """The card with the description of one configuration replaced, of which `known` is the current one."""
    card = _card(readme)
    all_splits = {} if known is None or known.splits is None or where.replaces_all else dict(known.splits)
    for name, info in splits.items():
        all_splits[name] = _added(all_splits[name], info) if where.append and name in all_splits else info
    described = DatasetInfo(
        config_name=where.config_name,
        features=features,
        splits=SplitDict.from_split_dict(list(all_splits.values())),
        download_size=download_size,
        dataset_size=sum(info.num_bytes for info in all_splits.values()),
    )
    DatasetInfosDict({where.config_name: described}).to_dataset_card_data(card.data)
    card.data[config.METADATA_CONFIGS_FIELD] = _configs(card.data.get(config.METADATA_CONFIGS_FIELD), where, splits)
    return str(card)


def card_without(readme: str | None, config_name: str) -> str:
    """The card without a configuration."""
    card = _card(readme)
    stated = _named(card.data.get(config.METADATA_CONFIGS_FIELD))
    configs = [one for name, one in stated.items() if name != config_name]
    infos = DatasetInfosDict.from_dataset_card_data(card.data)
    infos.pop(config_name, None)
    for name, left in ((config.METADATA_CONFIGS_FIELD, configs), ("dataset_info", infos)):
        card.data.pop(name, None)
        if left and name == config.METADATA_CONFIGS_FIELD:
            card.data[name] = left
    infos.to_dataset_card_data(card.data)
    return str(card)


def _configs(stated: Any, where: Where, splits: Mapping[str, SplitInfo]) -> list[dict[str, Any]]:
    named = _named(stated)
    known = named.get(where.config_name, {})
    before = _files(known)
    files = {} if where.replaces_all else dict(before)
    # Options such as columns say how to read the files: if all are replaced, those do not fit the new ones.
    keeps_rows = bool(files if where.append else files.keys() - splits.keys())
    for split in splits:
        new = f"{where.folder}/{split}-*"
        kept = [path for path in files.get(split, []) if path != new] if where.append else []
        files[split] = [*map(parquet, kept), new]
    order = [*(split for split in before if split in files), *(split for split in files if split not in before)]
    shown = [{"split": one, "path": files[one][0] if len(files[one]) == 1 else files[one]} for one in order]
    stays = {name: value for name, value in known.items() if keeps_rows or name in _NO_OPTIONS}
    entry = {**stays, "config_name": where.config_name, "data_files": shown}
    entry.pop("data_dir", None)  # paths would be relative to it
    named[where.config_name] = entry
    _set_default(named, where)
    return [named[name] for name in sorted(named)]


def _set_default(named: dict[str, dict[str, Any]], where: Where) -> None:
    """Mark the default configuration; raises if there would be two, as nobody could load any then."""
    entry, others = named[where.config_name], [name for name in named if name != where.config_name]
    if where.set_default:
        if "default" in others:
            raise ArgumentError("set_default", True, "the configuration 'default' is the default: rename it first.")
        for name in others:
            named[name].pop("default", None)
    if where.set_default and where.config_name != "default":
        entry["default"] = True
    elif where.set_default is False:
        entry.pop("default", None)
    marked = [name for name in others if named[name].get("default")]
    if where.config_name == "default" and marked:
        reason = f"the configuration {marked[0]!r} is marked as the default: pass set_default=True to replace it."
        raise ArgumentError("config_name", "default", reason)


def _named(stated: Any) -> dict[str, dict[str, Any]]:
    """The configurations that a card states, by name."""
    if not isinstance(stated or [], list) or not all(
        isinstance(one, dict) and "config_name" in one for one in stated or []
    ):
        raise CardError(
            config.REPOCARD_FILENAME, f"configs must be a list of which each has config_name, not {stated!r}."
        )
    return {str(one["config_name"]): one for one in stated or []}


def _files(entry: Mapping[str, Any]) -> dict[str, list[str]]:
    """The paths of a configuration by split; paths without a split belong to train."""
    stated, folder = entry.get("data_files") or [], str(entry.get("data_dir") or "").strip("/")
    if isinstance(stated, str) or (isinstance(stated, list) and stated and all(isinstance(one, str) for one in stated)):
        stated = [{"split": "train", "path": stated}]
    if not isinstance(stated, list) or not all(
        isinstance(one, dict) and {"split", "path"} <= set(one) for one in stated
    ):
        reason = f"data_files must be paths, or a list of which each has split and path, not {stated!r}."
        raise CardError(config.REPOCARD_FILENAME, reason)
    paths = {one["split"]: [one["path"]] if isinstance(one["path"], str) else list(one["path"]) for one in stated}
    return {split: [f"{folder}/{path}" if folder else path for path in several] for split, several in paths.items()}


def parquet(path: str) -> str:
    """A path whose rows stay; raises unless they can be read together with the new ones."""
    if os.path.splitext(path)[1] not in {"", ".parquet"}:
        reason = f"the rows that are there are in {path}, and Parquet files cannot stand behind others."
        raise ArgumentError("append", True, reason)
    return path


def _added(before: SplitInfo, new: SplitInfo) -> SplitInfo:
    return SplitInfo(before.name, before.num_bytes + new.num_bytes, before.num_examples + new.num_examples)


def _card(readme: str | None) -> Any:
    text = "---\n{}\n---\n" if readme is None else readme.removeprefix("\ufeff")  # behind which no YAML would be seen
    try:
        return card_of(text, config.REPOCARD_FILENAME)
    except LimitExceededError:
        raise
    except (ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise CardError(config.REPOCARD_FILENAME, f"no YAML of a card, which a push would lose: {reason}") from error
