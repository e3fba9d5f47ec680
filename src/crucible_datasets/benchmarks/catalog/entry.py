"""The TOML file of a benchmark: where the data is, and what its columns mean."""

from __future__ import annotations

from typing import Any

import msgspec

from crucible_datasets.benchmarks.catalog.groups import GROUPS
from crucible_datasets.exceptions import BenchmarkFileError, UnknownEntryError

Columns = dict[str, str | list[str]]


class BenchmarkEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One benchmark of the registry. It is data only: rules are referred to by name (`benchmarks.rules`)."""

    name: str
    source: str
    rule: str
    columns: Columns
    title: str = ""
    extends: str = ""
    revision: str = ""
    config: str = ""
    configs: list[str] | dict[str, list[str]] = []
    groups: str | dict[str, list[str]] = {}
    group_column: str = ""
    split: str = ""
    splits: list[str] = msgspec.field(default_factory=lambda: ["train"])
    prepare: str = ""
    prepare_columns: dict[str, str] = {}
    exclude: str = ""
    id: str = ""
    target_rule: str = ""
    metadata: list[str] = []
    overrides: dict[str, dict[str, Any]] = {}
    extract: str = ""
    metrics: list[str] = []
    domain: str = ""
    task_type: str = ""
    languages: list[str] = msgspec.field(default_factory=lambda: ["en"])
    licence: str = ""
    citation: str = ""
    size: dict[str, int] = {}
    tags: list[str] = []
    miniature: str = ""
    place: str = ""  # the path of the file

    @property
    def url(self) -> str:
        """The page of the dataset on the Hub."""
        return f"https://huggingface.co/datasets/{self.source}"

    @property
    def group_names(self) -> dict[str, list[str]]:
        """The groups of configurations by name."""
        return GROUPS[self.groups] if isinstance(self.groups, str) else self.groups

    @property
    def config_names(self) -> list[str]:
        """The configurations of the dataset, without groups of them."""
        members = [member for group in self.group_names.values() for member in group]
        return list(dict.fromkeys([*self.configs, *members]))

    @property
    def default_split(self) -> str:
        """The split that is loaded by default."""
        return self.split or self.splits[0]

    @property
    def rules(self) -> list[str]:
        """The rules, with versions, that convert rows to samples."""
        return [name for name in (self.prepare, self.rule, self.target_rule) if name]

    def splits_of(self, config: str) -> list[str]:
        """The splits of a configuration."""
        return self.configs.get(config, self.splits) if isinstance(self.configs, dict) else self.splits

    def of(self, config: str | None) -> BenchmarkEntry:
        """The entry for one configuration, with its table in `overrides` applied."""
        chosen = config or self.config or (next(iter(self.configs), "") if self.configs else "")
        known = [*self.config_names, *self.group_names]
        if chosen and chosen not in known:
            raise UnknownEntryError(f"configuration of {self.name}", chosen, known)
        return entry_of({**self.to_dict(), **self.overrides.get(chosen, {}), "config": chosen}, self.place)

    def to_dict(self) -> dict[str, Any]:
        """The fields of the file, including those of the file it extends."""
        made: dict[str, Any] = msgspec.to_builtins(self)
        return made


def entry_of(stated: dict[str, Any], file: str) -> BenchmarkEntry:
    """The entry of a TOML table; errors name the file."""
    try:
        entry = msgspec.convert({**stated, "place": file}, BenchmarkEntry)
    except msgspec.ValidationError as error:
        raise BenchmarkFileError(file, str(error)) from error
    if isinstance(entry.groups, str) and entry.groups not in GROUPS:
        raise BenchmarkFileError(file, str(UnknownEntryError("list of groups", entry.groups, GROUPS)))
    return entry
