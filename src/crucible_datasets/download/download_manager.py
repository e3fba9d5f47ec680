"""`DownloadManager`: downloads and unpacks the files of a builder."""

from __future__ import annotations

import atexit
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from typing import Any, BinaryIO

from crucible_datasets.cache import Cache, default_cache
from crucible_datasets.cache.manifest import read_manifest
from crucible_datasets.download.download_config import DownloadConfig
from crucible_datasets.exceptions import FileNotFoundDatasetsError
from crucible_datasets.fingerprint import Hasher, is_caching_enabled
from crucible_datasets.reading.archives import members
from crucible_datasets.reading.membernames import is_shown
from crucible_datasets.reading.unpack import is_packed, unpack
from crucible_datasets.sources import listings

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|[^/]*::")
# Part of every key: incremented when the result of unpacking the same file changes.
_UNPACKING = 1

Nested = Any  # a path, or lists, tuples and dicts of them


class DownloadManager:
    """Downloads and unpacks the files of a builder. Results have the structure of the argument: path, list or dict.

    >>> DownloadManager(data_dir="/data").manual_dir
    '/data'
    """

    is_streaming = False

    def __init__(
        self,
        dataset_name: str | None = None,
        data_dir: str | None = None,
        download_config: DownloadConfig | None = None,
        base_path: str | None = None,
        record_checksums: bool = False,
    ) -> None:
        self._dataset_name, self._data_dir, self._record_checksums = dataset_name, data_dir, record_checksums
        self._base_path = base_path or os.path.abspath(".")
        self.download_config = download_config or DownloadConfig()
        self.downloaded_paths: dict[Any, str] = {}
        self.extracted_paths: dict[Any, str] = {}
        self._recorded: dict[str, dict[str, Any]] = {}

    @property
    def manual_dir(self) -> str | None:
        """The folder with files that the user has downloaded manually."""
        return self._data_dir

    @property
    def downloaded_size(self) -> int:
        """The size in bytes of all requested files."""
        return sum(facts["num_bytes"] for facts in self._recorded.values())

    def download(self, url_or_urls: Nested) -> Nested:
        """The local paths of files, downloaded if given by URL; relative paths start at the builder's folder."""
        return _mapped(self._located, url_or_urls)

    def extract(self, path_or_paths: Nested) -> Nested:
        """A folder for each archive, a file for each compressed file, and the path itself for all others.

        Each is unpacked once, into the cache. Members whose names point outside the folder are skipped.
        """
        return _mapped(self._extracted, path_or_paths)

    def download_and_extract(self, url_or_urls: Nested) -> Nested:
        """`extract(download(...))`."""
        return self.extract(self.download(url_or_urls))

    def iter_archive(self, path_or_buf: str | BinaryIO) -> Any:
        """The files of an archive as pairs of name and open file, read as a stream and never unpacked."""
        return ArchiveMembers(os.fspath(path_or_buf) if isinstance(path_or_buf, (str, os.PathLike)) else path_or_buf)

    def iter_files(self, paths: str | list[str]) -> Any:
        """The paths of all files in folders, without hidden ones."""
        return FilesUnder([paths] if isinstance(paths, (str, os.PathLike)) else list(paths))

    def get_recorded_sizes_checksums(self) -> dict[str, dict[str, Any]]:
        """The size of every requested file, and its sha256 if recorded."""
        return dict(self._recorded)

    def delete_extracted_files(self) -> None:
        """Remove what `extract` put into the cache."""
        for path in self.extracted_paths:
            self._cache.remove(_key(os.path.abspath(path)))
        self.extracted_paths.clear()

    def manage_extracted_files(self) -> None:
        """Remove what `extract` put into the cache, if the configuration says so."""
        if self.download_config.delete_extracted:
            self.delete_extracted_files()

    @property
    def _cache(self) -> Cache:
        return default_cache(self.download_config.cache_dir) if is_caching_enabled() else _until_exit()

    def _located(self, url: Any) -> str:
        path = str(url).removeprefix("file://")
        if _URL.match(path):
            path = self._fetched(path)
        path = os.path.normpath(os.path.join(self._base_path, os.path.expanduser(path)))
        if not os.path.exists(path):
            raise FileNotFoundDatasetsError(path)
        self.downloaded_paths[url] = path
        self._recorded[str(url)] = {
            "num_bytes": os.path.getsize(path),
            "checksum": _checksum(path) if self._record_checksums and os.path.isfile(path) else None,
        }
        return path

    def _fetched(self, url: str) -> str:
        options = dict(self.download_config.storage_options)
        if url.startswith("hf://"):
            options.setdefault("token", self.download_config.token)
        return listings.fetched(url, listings.listed(url, options)[:1], options)[0]

    def _extracted(self, path: Any) -> str:
        place = os.path.abspath(path)
        if not os.path.exists(place):
            raise FileNotFoundDatasetsError(place)
        if os.path.isdir(place) or not is_packed(place):
            return place
        key = _key(place)
        if self.download_config.force_extract or self.download_config.force_download:
            self._cache.remove(key)
        folder = self._cache.made(key, partial(unpack, path=place), {"format": "unpacked"})
        entry = read_manifest(folder)
        self.extracted_paths[path] = os.path.join(folder, entry.facts["top"] if entry else "")
        return self.extracted_paths[path]


def _mapped(one: Callable[[Any], str], nested: Nested) -> Nested:
    if isinstance(nested, dict):
        return {name: _mapped(one, value) for name, value in nested.items()}
    if isinstance(nested, (list, tuple)):
        return type(nested)(_mapped(one, value) for value in nested)
    return one(nested)


def _key(path: str) -> str:
    facts = os.stat(path)
    return Hasher.hash((_UNPACKING, "unpacked", path, facts.st_size, facts.st_mtime_ns))


def _checksum(path: str) -> str:
    digest = sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


_temporary: list[tuple[int, tempfile.TemporaryDirectory[str]]] = []


def _until_exit() -> Cache:
    """A temporary cache for this process, if caching is disabled."""
    if not _temporary or _temporary[0][0] != os.getpid():
        folder = tempfile.TemporaryDirectory(prefix="crucible-unpacked-")
        atexit.register(folder.cleanup)
        _temporary[:] = [(os.getpid(), folder)]
    return default_cache(_temporary[0][1].name)


_HIDDEN = (".", "__")


class ArchiveMembers:
    """The files of an archive: their names, and open files that are valid until the next one."""

    def __init__(self, archive: str | BinaryIO) -> None:
        self._archive = archive

    def __iter__(self) -> Iterator[tuple[str, BinaryIO]]:
        if not isinstance(self._archive, str):
            self._archive.seek(0)
        for name, _, stream in members(self._archive):
            if is_shown(name):
                yield name, stream


class FilesUnder:
    """The files in folders, without hidden ones; a path that is a file is itself."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = paths

    def __iter__(self) -> Iterator[str]:
        for path in self._paths:
            if os.path.isfile(path):
                yield path
            elif os.path.isdir(path):
                yield from _walk(path)
            else:
                raise FileNotFoundDatasetsError(path)


def _walk(folder: str) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(_HIDDEN))
        yield from (os.path.join(place, name) for name in sorted(files) if not name.startswith(_HIDDEN))
