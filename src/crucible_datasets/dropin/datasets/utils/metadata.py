"""The configurations that a dataset card states."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from crucible_datasets import config

__all__ = ["MetadataConfigs"]


class MetadataConfigs(dict[str, dict[str, Any]]):
    """What a card says of each configuration, by its name."""

    FIELD_NAME: ClassVar[str] = config.METADATA_CONFIGS_FIELD

    @classmethod
    def from_dataset_card_data(cls, dataset_card_data: Any) -> Self:
        """The configurations that a card states."""
        stated = dataset_card_data.get(cls.FIELD_NAME) or []
        return cls({entry["config_name"]: _without_name(entry) for entry in stated})

    def to_dataset_card_data(self, dataset_card_data: Any) -> None:
        """State these configurations in a card, beside those that it has."""
        if self:
            known = {**self.from_dataset_card_data(dataset_card_data), **self}
            stated = [{"config_name": name, **entry} for name, entry in sorted(known.items())]
            dataset_card_data[self.FIELD_NAME] = stated

    def get_default_config_name(self) -> str | None:
        """The configuration that is meant when none is named: the one marked so, or called so, or the only one."""
        marked = [name for name, entry in self.items() if entry.get("default")]
        only = list(self) if len(self) == 1 else []
        return next(iter([*(["default"] if "default" in self else []), *marked, *only]), None)


def _without_name(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "config_name"}
