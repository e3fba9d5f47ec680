"""Stage 2 of 6: choosing a configuration of a card, and its description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crucible_datasets.exceptions import ConfigNotFoundError
from crucible_datasets.info import DatasetInfo
from crucible_datasets.reading.card import Card, CardConfig


def chosen(card: Card, name: str | None, dataset: str, optional: bool = False) -> CardConfig:
    """The configuration with this name, or the default one; `optional` if files are given explicitly."""
    if not card.configs:
        require_config(dataset, name, ["default", *card.infos] if len(card.infos) == 1 else ["default"])
        return CardConfig("default")
    wanted = default(card.configs) if name is None else name
    if wanted is None and optional:
        return CardConfig("default")
    require_config(dataset, wanted, list(card.configs), optional=False)
    return card.configs[str(wanted)]


def default(configs: Mapping[str, CardConfig]) -> str | None:
    """The name of the default configuration, if there is one."""
    if len(configs) == 1:
        return next(iter(configs))
    return next((name for name, one in configs.items() if one.is_default or name == "default"), None)


def require_config(place: str, name: str | None, available: Sequence[str], optional: bool = True) -> None:
    """Raise if there is no configuration with this name."""
    if name not in available and not (name is None and optional):
        raise ConfigNotFoundError(place, name, available)


def info_of(card: Card, chosen: CardConfig) -> DatasetInfo:
    """The card's description of a configuration."""
    if chosen.name in card.infos:
        return card.infos[chosen.name].copy()
    if not card.configs and len(card.infos) == 1:
        return next(iter(card.infos.values())).copy()
    return DatasetInfo()
