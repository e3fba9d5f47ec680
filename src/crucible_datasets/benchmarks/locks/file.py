"""crucible.lock: TOML in a fixed order, so that diffs show changes of the data only."""

from __future__ import annotations

import hashlib
import json
import math
import os
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import msgspec
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.atomic import atomic_file
from crucible_datasets.atomic.files import make_folders
from crucible_datasets.benchmarks.samples.provenance import Provenance
from crucible_datasets.benchmarks.types.messages import Record
from crucible_datasets.exceptions import InvalidRecordError, LockFileError
from crucible_datasets.features.embed import embedded

Kind = Literal["benchmark", "dataset"]


class Move(NamedTuple):
    """A difference from the locked state."""

    what: str
    locked: object
    found: object

    def __str__(self) -> str:
        return f"{self.what} {_short(self.locked)} → {_short(self.found)}"


class LockedDataset(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The samples of a benchmark or the rows of a dataset: commit, number and hash."""

    name: str
    kind: Kind = "benchmark"
    config: str | None = None
    split: str | None = None
    synthetic: bool = False
    source: str | None = None
    revision: str | None = None
    rules: list[str] = msgspec.field(default_factory=list)
    rows: int
    sha256: str

    @property
    def key(self) -> tuple[str, str, str, str, bool]:
        """The identity of the entry, and its sort key in the file."""
        return (self.kind, self.name, self.config or "", self.split or "", self.synthetic)

    @property
    def title(self) -> str:
        """The name with configuration and split, as in `crucible lock`."""
        return ":".join([self.name, self.config or "", self.split or ""]).rstrip(":")

    def moved(self, found: Provenance, content: bool = True) -> list[Move]:
        """The differences from the locked state; for another source, such as a mirror, only those of the content."""
        moves = [Move("rules", self.rules, found.rules)]
        if self.revision is not None and found.source == self.source:
            moves.insert(0, Move("revision", self.revision, found.revision))
        if content:
            moves += [Move("rows", self.rows, found.num_rows), Move("content", self.sha256, found.content_hash)]
        return [move for move in moves if move.locked != move.found]


def _short(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    text = str(value)
    return text[:12] if len(text) in (40, 64) else text


_lines = msgspec.json.Encoder(order="sorted").encode_lines
_ROWS_AT_ONCE = 1024


def rows_hash(rows: Any) -> tuple[str, int]:
    """The SHA-256 of all rows in order, each as one line of canonical JSON, and the number of rows.

    Files that media refer to are read, and count by their bytes and base names.
    """
    digest, count = hashlib.sha256(), 0
    for table in rows.with_format("arrow").iter(_ROWS_AT_ONCE):
        whole = table if rows.features is None else embedded(table, rows.features)
        values = whole.to_pylist()
        # JSON has no NaN, and it would become null.
        if any(_is_wild(chunk) for column in whole.columns for chunk in column.chunks):
            values = _spelled(values)
        digest.update(_lines(values))
        count += whole.num_rows
    return digest.hexdigest(), count


def _is_wild(array: pa.Array) -> bool:
    """Whether any number is not finite."""
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return _is_wild(array.storage)
    if pa.types.is_floating(kind):
        return bool(pc.any(pc.invert(pc.is_finite(array))).as_py())
    if pa.types.is_struct(kind):
        return any(map(_is_wild, array.flatten()))
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return is_list and _is_wild(array.flatten())


def _spelled(value: Any) -> Any:
    """The value with texts in place of numbers that are not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if isinstance(value, list):
        return [_spelled(each) for each in value]
    return {name: _spelled(each) for name, each in value.items()} if isinstance(value, dict) else value


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
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
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
