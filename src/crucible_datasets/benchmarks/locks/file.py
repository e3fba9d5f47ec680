"""crucible.lock: TOML in a fixed order, so that diffs show changes of the data only."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

from crucible_datasets.atomic import atomic_file
from crucible_datasets.atomic.files import make_folders
from crucible_datasets.benchmarks.locks.entries import Kind, LockedDataset
from crucible_datasets.exceptions import InvalidRecordError, LockFileError

FILE = "crucible.lock"
_VERSION = 1
_HEAD = "# Written by `crucible lock`. Loading under this file is an error where something moved.\n"


class Lock:
    """The locked datasets of a project.

    >>> lock = Lock([LockedDataset(name="gsm8k", config="main", split="test", rows=2, sha256="ab")])
    >>> [entry.title for entry in lock]
    ['gsm8k:main:test']
    """

    def __init__(self, entries: Iterable[LockedDataset] = (), path: str | os.PathLike[str] = FILE) -> None:
        self.path = os.path.abspath(path)
        self._entries = {entry.key: entry for entry in sorted(entries, key=lambda entry: entry.key)}

    @classmethod
    def read(cls, path: str | os.PathLike[str] = FILE) -> Lock:
        """The lock in a file."""
        try:
            with open(path, "rb") as file:
                stated = tomllib.load(file)
        except FileNotFoundError as error:
            raise LockFileError(path, "there is no such file; `crucible lock NAME …` writes one") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise LockFileError(path, f"it is no TOML: {error}") from error
        return cls(_entries(stated, path), path)

    def __iter__(self) -> Iterator[LockedDataset]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Lock({self.path!r}, {len(self)} datasets)"

    @property
    def folder(self) -> str:
        """The folder of the file, to which names of local files are relative."""
        return os.path.dirname(self.path)

    def replaced(self, entries: Iterable[LockedDataset]) -> Lock:
        """The lock with these entries added, replacing those with the same key."""
        return Lock([*self, *entries], self.path)

    def named(
        self, name: str, config: str | None, split: str | None, kind: Kind, synthetic: bool
    ) -> list[LockedDataset]:
        """The entries that match; None matches anything."""
        return [
            entry
            for entry in self
            if (entry.name, entry.kind, entry.synthetic) == (name, kind, synthetic)
            and config in (None, entry.config or "")
            and split in (None, entry.split)
        ]

    def name_of(self, source: str) -> str:
        """The name of a dataset in this file; for local data, the relative path with forward slashes."""
        if not os.path.exists(source):
            return source
        return os.path.relpath(source, self.folder).replace(os.sep, "/")

    def place_of(self, name: str) -> str:
        """The path or repository from which a dataset of this file is loaded."""
        local = os.path.join(self.folder, name)
        return local if os.path.exists(local) else name

    def to_toml(self) -> str:
        """The text of the file."""
        return "\n".join([f"{_HEAD}version = {_VERSION}\n", *map(_table, self)])

    def write(self, path: str | os.PathLike[str] | None = None) -> None:
        """Write the file atomically."""
        place = os.path.abspath(path or self.path)
        make_folders(os.path.dirname(place))
        with atomic_file(place) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(self.to_toml())


def _entries(stated: dict[str, Any], path: str | os.PathLike[str]) -> Iterator[LockedDataset]:
    if stated.pop("version", None) != _VERSION:
        raise LockFileError(path, f"it is not of version {_VERSION}, the only one that this library knows")
    for kind, tables in stated.items():
        for table in tables if isinstance(tables, list) else [tables]:
            try:
                yield LockedDataset.from_dict({**table, "kind": kind})
            except (InvalidRecordError, TypeError) as error:
                raise LockFileError(path, f"[[{kind}]]: {error}") from error


def _table(entry: LockedDataset) -> str:
    stated = {
        name: value
        for name, value in entry.to_dict().items()
        if value is not None and value is not False and value != []
    }
    return "\n".join([f"[[{stated.pop('kind')}]]", *(f"{name} = {_value(each)}" for name, each in stated.items()), ""])


def _value(value: Any) -> str:
    """A text, number, boolean or list as TOML, whose strings equal those of JSON except for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
