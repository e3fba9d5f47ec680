"""What a card says about a configuration that was pushed: its files, features and sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError, CardError
from crucible_datasets.features import Features
from crucible_datasets.info import DatasetInfo, DatasetInfosDict
from crucible_datasets.splits import SplitDict, SplitInfo

if TYPE_CHECKING:
    from crucible_datasets.ops.pushcommit import Where


def known_info(readme: str | None, config_name: str) -> DatasetInfo | None:
    """The description of a configuration in a card so far."""
    return DatasetInfosDict.from_dataset_card_data(_card(readme).data).get(config_name)


def card_with(
    readme: str | None, where: Where, splits: Mapping[str, SplitInfo], features: Features, download_size: int
) -> str:
    """The card with a configuration described anew; what else it says stays."""
    card = _card(readme)
    known = known_info(readme, where.config_name)
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
    card.data[config.METADATA_CONFIGS_FIELD] = _configs(
        card.data.get(config.METADATA_CONFIGS_FIELD) or [], where, splits
    )
    return str(card)


def card_without(readme: str | None, config_name: str) -> str:
    """The card with nothing about a configuration."""
    card = _card(readme)
    configs = [one for one in card.data.get(config.METADATA_CONFIGS_FIELD) or [] if one["config_name"] != config_name]
    infos = DatasetInfosDict.from_dataset_card_data(card.data)
    infos.pop(config_name, None)
    for name, left in ((config.METADATA_CONFIGS_FIELD, configs), ("dataset_info", infos)):
        card.data.pop(name, None)
        if left and name == config.METADATA_CONFIGS_FIELD:
            card.data[name] = left
    infos.to_dataset_card_data(card.data)
    return str(card)


def _configs(stated: list[dict[str, Any]], where: Where, splits: Mapping[str, SplitInfo]) -> list[dict[str, Any]]:
    named = {one["config_name"]: one for one in stated}
    known = named.get(where.config_name, {})
    files = [] if where.replaces_all else list(known.get("data_files") or [])
    for split in splits:
        files = [one for one in files if one["split"] != split]
    order = [one["split"] for one in known.get("data_files") or []]
    files += [{"split": split, "path": f"{where.folder}/{split}-*"} for split in splits]
    files.sort(key=lambda one: order.index(one["split"]) if one["split"] in order else len(order))
    entry = {**known, "config_name": where.config_name, "data_files": files}
    if where.set_default and where.config_name != "default":
        if "default" in named:
            raise ArgumentError("set_default", True, "the configuration 'default' is the default: rename it first.")
        for one in named.values():
            one.pop("default", None)
        entry["default"] = True
    named[where.config_name] = entry
    return [named[name] for name in sorted(named)]


def _added(before: SplitInfo, new: SplitInfo) -> SplitInfo:
    return SplitInfo(before.name, before.num_bytes + new.num_bytes, before.num_examples + new.num_examples)


def _card(readme: str | None) -> Any:
    import yaml
    from huggingface_hub import DatasetCard

    try:
        return DatasetCard(readme if readme is not None else "---\n{}\n---\n", ignore_metadata_errors=True)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise CardError(config.REPOCARD_FILENAME, f"no YAML, which a push would lose: {reason}") from error
