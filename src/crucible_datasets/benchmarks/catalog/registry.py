"""The registry of benchmarks: TOML files of this package, of installed packages, and of folders of users.

Later sources override earlier ones: this package, entry points, the folders of `CRUCIBLE_BENCHMARKS`, and the folders
passed to a call. A file may extend another by name, also one of the same name from an earlier source.
"""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from importlib.metadata import entry_points
from typing import Any, Protocol

from crucible_datasets import config
from crucible_datasets.benchmarks.catalog.entry import BenchmarkEntry, entry_of
from crucible_datasets.exceptions import BenchmarkFileError, UnknownEntryError

ENTRY_POINTS = "crucible_datasets.benchmarks"
Folders = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
Stated = Mapping[str, dict[str, Any]]  # the tables of the files of one source, by the name of the benchmark


class _Folder(Protocol):
    def iterdir(self) -> Iterator[Any]: ...


class Catalog(Mapping[str, BenchmarkEntry]):
    """All benchmarks, by short name or by repository."""

    def __init__(self, folders: Folders = None) -> None:
        self._layers = [_packaged(), _plugged(), *map(_of_folder, _stated_folders(folders))]
        self._names = sorted({name for layer in self._layers for name in layer})

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._key(name) is not None

    def __getitem__(self, name: str) -> BenchmarkEntry:
        key = self._key(name)
        if key is None:
            raise UnknownEntryError("benchmark", name, self._names)
        return self._entry(key)

    def search(self, words: str) -> list[BenchmarkEntry]:
        """The entries that contain all words in names, titles, sources, domains, tasks or tags."""
        wanted = words.lower().split()
        return [entry for entry in self.values() if all(word in _searched(entry) for word in wanted)]

    def filter(
        self,
        domain: str | None = None,
        task_type: str | None = None,
        tag: str | None = None,
        licence: str | None = None,
        language: str | None = None,
    ) -> list[BenchmarkEntry]:
        """The entries that match all given conditions."""
        asked = {"domain": domain, "task_type": task_type, "tags": tag, "licence": licence, "languages": language}
        given = {field: wanted.lower() for field, wanted in asked.items() if wanted is not None}
        return [entry for entry in self.values() if all(wanted in _of(entry, field) for field, wanted in given.items())]

    def summary(self) -> dict[str, dict[str, int]]:
        """The number of benchmarks of each domain, task and licence."""
        entries = list(self.values())
        return {
            field: dict(Counter(getattr(entry, field) or "unknown" for entry in entries).most_common())
            for field in ("domain", "task_type", "licence")
        }

    def _key(self, name: str) -> str | None:
        short = name.lower().replace("-", "_")
        if short in self._names:
            return short
        # If several benchmarks are of one repository, the one that the others extend is meant.
        of_repo = [entry for entry in self._all() if entry.source.lower() == name.lower()]
        return min(of_repo, key=lambda entry: bool(entry.extends)).name if of_repo else None

    def _all(self) -> list[BenchmarkEntry]:
        return [self._entry(name) for name in self._names]

    def _entry(self, name: str) -> BenchmarkEntry:
        stated = self._merged(name, len(self._layers), ())
        return entry_of({field: value for field, value in stated.items() if field != "place"}, stated["place"])

    def _merged(self, name: str, below: int, trail: tuple[tuple[int, str], ...]) -> dict[str, Any]:
        """The fields of a file over those of the file that it extends."""
        level = next((at for at in range(below - 1, -1, -1) if name in self._layers[at]), None)
        if level is None:
            raise BenchmarkFileError(self._place(trail), f"it extends {name!r}, which is no benchmark")
        stated = self._layers[level][name]
        if (level, name) in trail:
            raise BenchmarkFileError(stated["place"], "it extends itself by a detour")
        if not stated.get("extends"):
            return stated
        parent = stated["extends"]
        beneath = level if parent == name else len(self._layers)
        extended = self._merged(parent, beneath, (*trail, (level, name)))
        # A commit of one repository does not exist in another.
        pin = {"revision": ""} if stated.get("source", extended.get("source")) != extended.get("source") else {}
        return {**extended, **pin, **stated}

    def _place(self, trail: tuple[tuple[int, str], ...]) -> str:
        level, name = trail[-1]
        return str(self._layers[level][name]["place"])


def list_benchmarks(
    domain: str | None = None,
    task_type: str | None = None,
    tag: str | None = None,
    licence: str | None = None,
    language: str | None = None,
    *,
    folders: Folders = None,
) -> list[str]:
    """The short names of all benchmarks, or of those that match the given conditions."""
    return [entry.name for entry in Catalog(folders).filter(domain, task_type, tag, licence, language)]


def get_benchmark(name: str | os.PathLike[str], *, folders: Folders = None) -> BenchmarkEntry:
    """The entry of a benchmark, by short name, repository or TOML file."""
    if os.fspath(name).endswith(".toml"):
        stated = _read(os.path.basename(name), _text(os.fspath(name)), os.path.abspath(name))
        beside = Catalog([*_listed(folders), os.path.dirname(os.path.abspath(name))])
        return beside[stated["name"]]
    return Catalog(folders)[os.fspath(name)]


def _stated_folders(folders: Folders) -> list[str]:
    settled = [folder for folder in config.CRUCIBLE_BENCHMARKS.split(os.pathsep) if folder]
    return [os.path.abspath(os.path.expanduser(folder)) for folder in [*settled, *_listed(folders)]]


def _listed(folders: Folders) -> list[str]:
    if folders is None:
        return []
    if isinstance(folders, (str, os.PathLike)):
        return [os.fspath(folders)]
    return [os.fspath(folder) for folder in folders]


def is_bundled(entry: BenchmarkEntry) -> bool:
    """Whether the entry is an unmodified file of this package."""
    return entry.place == _packaged().get(entry.name, {}).get("place")


@cache
def _packaged() -> Stated:
    return _stated(resources.files("crucible_datasets.benchmarks.catalog").joinpath("entries"))


@cache
def _plugged() -> Stated:
    """The entries of installed packages: an entry point is a package or a path with TOML files."""
    found: dict[str, dict[str, Any]] = {}
    for point in entry_points(group=ENTRY_POINTS):
        named = point.load()
        found |= _of_folder(named) if isinstance(named, (str, os.PathLike)) else _stated(resources.files(named))
    return found


def _of_folder(folder: str | os.PathLike[str]) -> Stated:
    if not os.path.isdir(folder):
        raise BenchmarkFileError(folder, "this folder of benchmarks does not exist")
    files = sorted(name for name in os.listdir(folder) if name.endswith(".toml"))
    return _by_name((name, _text(os.path.join(folder, name)), os.path.join(folder, name)) for name in files)


def _stated(folder: _Folder) -> Stated:
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return _by_name((file.name, file.read_text("utf-8"), str(file)) for file in files)


def _by_name(files: Iterable[tuple[str, str, str]]) -> Stated:
    return {stated["name"]: stated for stated in (_read(*file) for file in files)}


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise BenchmarkFileError(path, f"it cannot be read: {error}") from error


def _read(file: str, text: str, place: str) -> dict[str, Any]:
    try:
        stated = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BenchmarkFileError(place, f"it is no TOML: {error}") from error
    name = stated.setdefault("name", file.removesuffix(".toml"))
    if not isinstance(name, str) or name != name.lower().replace("-", "_"):
        raise BenchmarkFileError(place, f"the name {name!r} must be in small letters, with _ and not -")
    return {**stated, "place": place}


def _searched(entry: BenchmarkEntry) -> str:
    return " ".join(
        [entry.name, entry.title, entry.source, entry.domain, entry.task_type, *entry.tags, *entry.metrics]
    ).lower()


def _of(entry: BenchmarkEntry, field: str) -> list[str]:
    value: str | list[str] = getattr(entry, field)
    return [value.lower()] if isinstance(value, str) else [one.lower() for one in value]
