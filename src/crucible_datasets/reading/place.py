"""Stage 2 of 6: a folder of data files, local or remote.

A remote folder is listed once, and each of its files has a local path from the start, so everything after this stage
works on paths. `download` fetches only the files of the requested splits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import DataFilesNotFoundError, DatasetNotFoundError, EmptyDatasetError
from crucible_datasets.reading import patterns
from crucible_datasets.reading.archivenames import has_archive_name
from crucible_datasets.reading.background_downloads import Advance, BackgroundDownloads
from crucible_datasets.reading.files import DataFile
from crucible_datasets.reading.kept_footers import kept_footer
from crucible_datasets.reading.patterns import matching
from crucible_datasets.records import dataclass
from crucible_datasets.sources.base import Elsewhere
from crucible_datasets.sources.wildcards import is_pattern

_DESCRIBING = (config.REPOCARD_FILENAME, config.REPOYAML_FILENAME, config.DATASETDICT_INFOS_FILENAME)


@dataclass(frozen=True)
class Place:
    """A local folder."""

    folder: str

    @property
    def name(self) -> str:
        """The name used in messages."""
        return self.folder

    @property
    def exists(self) -> bool:
        return os.path.isdir(self.folder)

    def has(self, name: str) -> bool:
        """Whether it has a file of this name."""
        return os.path.exists(os.path.join(self.folder, name))

    def holds(self, path: str) -> bool:
        """Whether a path is inside it."""
        return path.startswith(f"{self.folder}{os.sep}")

    def below(self, folder: str) -> Place:
        """A subfolder."""
        return Place(folder)

    def listed(self) -> list[str]:
        """Its files that are not hidden, as sorted paths relative to it."""
        return patterns.listed(self.folder)

    def matched(self, pattern: str) -> list[str]:
        """The paths of the files that match a pattern."""
        return patterns.matched(pattern, self.folder)

    def download(self, paths: Sequence[str]) -> None:
        """Download these files, if they are remote."""

    def download_description(self) -> None:
        """Download the files that describe the dataset, if they are remote."""

    def remote_file(self, path: str, whole: bool = False) -> DataFile | None:
        """A file to be read remotely; None if it must be downloaded. With `whole`, archives are read as one file."""
        return None

    def downloading(self, paths: Sequence[str]) -> list[DataFile] | None:
        """Files that can be downloaded in the background while others are read; None if that does not pay."""
        return None

    def identity(self, path: str) -> tuple[str | int, ...] | None:
        """The identity of a remote file, which depends on its content but not on its local path; None if unknown."""
        return None


@dataclass(frozen=True)
class RemotePlace(Place):
    """A remote folder; `fetch` downloads files by name to their local paths."""

    names: Sequence[str] = ()
    fetch: Callable[[Sequence[str]], Any] = field(default=lambda names: None, compare=False)
    root: str = ""
    find: Callable[[str], Elsewhere] | None = None  # the remote file of a name
    revision: str | None = None  # the commit of a repository
    fetch_one: Callable[[str, Advance], None] | None = None  # downloads one file, reporting progress

    @property
    def name(self) -> str:
        return self.root

    @property
    def exists(self) -> bool:
        return bool(self.names)

    def has(self, name: str) -> bool:
        return name in self._index

    def below(self, folder: str) -> Place:
        start = f"{os.path.relpath(folder, self.folder)}/".replace(os.sep, "/")
        if start == "./":
            return self
        inside = [name.removeprefix(start) for name in self.names if name.startswith(start)]
        if not inside:
            there = sorted({name.partition("/")[0] for name in self.names if "/" in name})
            shown = ", ".join(there[:10]) or "none"
            raise EmptyDatasetError(start[:-1], f"{self.root} has no such folder. Its folders: {shown}.", there)
        return RemotePlace(folder, inside, lambda names: self.fetch([start + name for name in names]), self.root)

    def remote_file(self, path: str, whole: bool = False) -> DataFile | None:
        """None if the file is on this disk already, or must be downloaded to be read."""
        is_archive = has_archive_name(path) and not whole
        if self.find is None or config.is_offline() or os.path.exists(path) or is_archive:
            return None
        there = self.find(self._name(path))
        if there.file.size is None:
            return None
        return DataFile(path, there.file.size, there.file.identity, elsewhere=there)

    def identity(self, path: str) -> tuple[str | int, ...] | None:
        return None if self.find is None else self.find(self._name(path)).file.identity

    def downloading(self, paths: Sequence[str]) -> list[DataFile] | None:
        fetch, find = self.fetch_one, self.find
        if fetch is None or find is None or len(paths) < 2 or any(map(has_archive_name, paths)):
            return None
        there = {path: find(self._name(path)) for path in paths}
        sizes = {path: there[path].file.size or 0 for path in paths}
        missing = {path: sizes[path] for path in paths if not os.path.exists(path)}
        if not missing or sum(sizes.values()) < config.CRUCIBLE_BACKGROUND_DOWNLOADS:
            return None
        files = [DataFile(path, sizes[path], there[path].file.identity) for path in paths]
        if config.is_offline() and not all(kept_footer(file.identity) for file in files if file.path in missing):
            return None
        self.download([path for path in paths if path not in missing])

        def download(path: str, advance: Advance) -> None:
            fetch(self._name(path), advance)

        downloads = BackgroundDownloads(download, missing, f"Downloading {self.root}")
        return [
            replace(file, elsewhere=there[file.path], pending=downloads.file(file.path))
            if file.path in missing
            else file
            for file in files
        ]

    def listed(self) -> list[str]:
        return sorted(name for name in self.names if not _is_hidden(name))

    def matched(self, pattern: str) -> list[str]:
        name = os.path.relpath(pattern, self.folder) if os.path.isabs(pattern) else os.path.normpath(pattern)
        name = name.replace(os.sep, "/")
        if not is_pattern(name):
            if not self.has(name):
                shown = ", ".join(list(self.names)[:10])
                raise DataFilesNotFoundError(pattern, f"{self.root} has no such file. It has: {shown}.")
            return [os.path.join(self.folder, name)]
        found = matching(self.names, name.split("/")) or [name] * self.has(name)  # a name may have a `[` in it
        return [os.path.join(self.folder, one) for one in sorted(found)]

    def download(self, paths: Sequence[str]) -> None:
        self.fetch([self._name(path) for path in paths])

    def download_description(self) -> None:
        self.fetch([name for name in _DESCRIBING if self.has(name)])

    def _name(self, path: str) -> str:
        return os.path.relpath(path, self.folder).replace(os.sep, "/")

    @property
    def _index(self) -> frozenset[str]:
        return frozenset(self.names)


def _is_hidden(name: str) -> bool:
    *folders, file = name.split("/")
    return file.startswith(".") or any(folder.startswith((".", "__")) for folder in folders)


def of_repo(id: str, revision: str | None, token: str | bool | None) -> RemotePlace:
    """A dataset on the Hub."""
    from crucible_datasets.sources.hub import HubRepo

    repo = HubRepo(id, revision or config.HUB_DEFAULT_VERSION, token)
    root = f"{id} at {repo.commit}"
    return RemotePlace(repo.folder, list(repo.files), repo.fetched, root, repo.elsewhere, repo.commit, repo.fetch)


def of_export(id: str, token: str | bool | None) -> RemotePlace | None:
    """The Hub's automatic conversion of a dataset to Parquet, if there is one."""
    try:
        return of_repo(id, "refs/convert/parquet", token)
    except DatasetNotFoundError:
        return None


def of_address(url: str, options: Mapping[str, Any]) -> RemotePlace:
    """A folder, a file or a pattern at any source."""
    from crucible_datasets.sources.downloads import folder_of, linked
    from crucible_datasets.sources.listings import fetched, listed

    files = {file.path: file for file in listed(url, options)}
    folder = folder_of(url, list(files.values()))

    def fetch(names: Sequence[str]) -> None:
        linked(folder, names, fetched(url, [files[name] for name in names], options))

    return RemotePlace(folder, list(files), fetch, url, lambda name: Elsewhere(files[name], options))
