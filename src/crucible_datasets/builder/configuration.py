"""The configurations of a builder: their fields, and which one is used."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote_plus

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError, ConfigNotFoundError
from crucible_datasets.features import Features
from crucible_datasets.fingerprint import Hasher
from crucible_datasets.version import Version

_UNFIT_FOR_FILE_NAMES = r"<>:/\|?*"


@dataclass
class BuilderConfig:
    """One configuration of a builder. Subclasses add fields, which become arguments of the builder.

    >>> BuilderConfig("german").create_config_id({"size": 3})
    'german-size=3'
    """

    name: str = "default"
    version: str | Version | None = Version("0.0.0")  # noqa: RUF009 - a version is never changed
    data_dir: str | None = None
    data_files: Mapping[str, list[str]] | None = None
    description: str | None = None

    def __post_init__(self) -> None:
        if set(self.name) & set(_UNFIT_FOR_FILE_NAMES):
            raise ArgumentError("name", self.name, f"use none of {_UNFIT_FOR_FILE_NAMES}")
        if self.data_files is not None and not isinstance(self.data_files, Mapping):
            raise ArgumentError("data_files", self.data_files, "a configuration takes a dict of split → paths.")

    def create_config_id(self, config_kwargs: Mapping[str, Any], custom_features: Features | None = None) -> str:
        """The name, followed by the options that differ from it: readable if short, else a hash."""
        asked = {name: value for name, value in config_kwargs.items() if name not in ("name", "version")}
        asked = {name: value for name, value in asked.items() if value is not None}
        if not asked and custom_features is None:
            return self.name
        readable = ",".join(f"{name}={quote_plus(str(value))}" for name, value in sorted(asked.items()))
        is_plain = all(isinstance(value, (str, bool, int, float)) for value in asked.values())
        longest = config.MAX_DATASET_CONFIG_ID_READABLE_LENGTH
        if custom_features is None and is_plain and len(readable) <= longest:
            return f"{self.name}-{readable}"
        return f"{self.name}-{Hasher.hash((asked, custom_features))}"


class _ByName:
    """The configurations of a class by their names."""

    def __get__(self, instance: Any, owner: type[Configured]) -> dict[str, Any]:
        configs = {one.name: one for one in owner.BUILDER_CONFIGS}
        if len(configs) != len(owner.BUILDER_CONFIGS):
            names = [one.name for one in owner.BUILDER_CONFIGS]
            raise ArgumentError("BUILDER_CONFIGS", names, "two configurations have one name.")
        return configs


class Configured:
    """The part of a builder that handles its configuration."""

    VERSION: ClassVar[Any] = None
    BUILDER_CONFIG_CLASS: ClassVar[type[BuilderConfig]] = BuilderConfig
    BUILDER_CONFIGS: ClassVar[list[Any]] = []
    DEFAULT_CONFIG_NAME: ClassVar[str | None] = None

    builder_configs = _ByName()
    dataset_name: str
    config: Any

    def _configured(self, name: str | None, given: dict[str, Any]) -> Any:
        configs, default = self.builder_configs, name or self.DEFAULT_CONFIG_NAME
        if default is None and len(configs) == 1:
            default = next(iter(configs))
        if configs and (not given if default is None else default not in configs):
            raise ConfigNotFoundError(self.dataset_name, default, configs)
        if not configs or default is None:
            version = {"version": self.VERSION} if self.VERSION is not None else {}
            return self.BUILDER_CONFIG_CLASS(**{"name": default or "default", **version, **given})
        chosen = deepcopy(configs[str(default)])
        for option, value in given.items():
            if not hasattr(chosen, option):
                known = [field for field in vars(chosen) if not field.startswith("_")]
                raise ArgumentError(option, value, f"configuration {default!r} has {', '.join(known)}.")
            setattr(chosen, option, value)
        return chosen
