"""One revision of a dataset on the Hub: its commit, its files, and their downloads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

from crucible_datasets import config, progress
from crucible_datasets.atomic import storage_errors
from crucible_datasets.atomic.files import remove_abandoned
from crucible_datasets.atomic.private import make_private
from crucible_datasets.cache.claims import found_or_claimed
from crucible_datasets.exceptions import (
    AccessDeniedError,
    ContentMismatchError,
    DataFilesNotFoundError,
    DatasetNotFoundError,
    DownloadError,
    OfflineError,
)
from crucible_datasets.forking import cached_property
from crucible_datasets.logging import get_logger
from crucible_datasets.records import dataclass
from crucible_datasets.sources.base import Elsewhere, SourceFile
from crucible_datasets.sources.downloads import linked
from crucible_datasets.sources.fetching import Advance, fetch
from crucible_datasets.sources.hub.api import HubApi
from crucible_datasets.sources.hub.environment import hub_cache
from crucible_datasets.sources.hub.files import COMMIT, HubFile, parsed_commit, parsed_files, parsed_revision
from crucible_datasets.sources.hub.metadata import HubMetadata
from crucible_datasets.sources.web import Web

logger = get_logger(__name__)

_AT_ONCE = 8
_MAX_PICKLED_FILES = 1000
_RETRY_TIMEOUT_IF_KNOWN = 5.0


@dataclass(frozen=True)
class HubRepo(HubApi):
    """One revision of a dataset on the Hub."""

    def __getstate__(self) -> dict[str, Any]:
        """Without local paths and expiring redirects; a long listing is left out too, and requested again."""
        is_long = len(vars(self).get("files", ())) > _MAX_PICKLED_FILES
        left = {"_cache", "_metadata", "_contents", *(["files"] if is_long else [])}
        return {name: value for name, value in vars(self).items() if name not in left}

    @cached_property
    def commit(self) -> str:
        """The commit of the revision; the last known one if the Hub cannot be reached."""
        if COMMIT.fullmatch(self.revision):
            return self.revision
        known = self._metadata.commit(self.revision)
        if config.is_offline():
            return known or self._unnamed_commit()
        try:
            found = self._fetch_commit_and_files() if known is None else self._fetch_commit()
        except DownloadError as error:
            if known is None or error.status is not None:
                raise
            logger.warning("%s Using the last known commit of %s: %s.", error, self.revision, known)
            return known
        if found != known:
            self._metadata.keep_commit(self.revision, found)
        return found

    def _unnamed_commit(self) -> str:
        """The commit that was downloaded last, by a tool that did not note of which branch it is."""
        found = self._metadata.newest_snapshot() if self.revision == config.HUB_DEFAULT_VERSION else None
        if found is None:
            raise OfflineError(f"{self.id} at revision {self.revision!r}")
        logger.warning("Nobody noted here at which commit %s of %s is. Using %s.", self.revision, self.id, found)
        return found

    def _fetch_commit_and_files(self) -> str:
        """The commit when none is known yet; its files come with the same response and are cached."""
        found, files = self.get_json(f"{self._revision_url}?blobs=true", parsed_revision)[1]
        if files is not None:
            self._metadata.keep_files(found, files)
        return found

    def _fetch_commit(self) -> str:
        """The commit alone, with a short time limit, since the last known commit can be used instead."""
        url = f"{self._revision_url}?expand=sha"
        impatient = replace(self.web, retry_timeout=_RETRY_TIMEOUT_IF_KNOWN)
        return self.try_get_json(url, parsed_commit) or self.get_json(url, parsed_commit, impatient)[1]

    @property
    def _revision_url(self) -> str:
        return f"{self.api}/revision/{quote(self.revision, safe='')}"

    @cached_property
    def files(self) -> Mapping[str, HubFile]:
        """Every file of the commit, by its path."""
        listed = self._metadata.files(self.commit)
        if listed is None and config.is_offline():
            listed = list(self._in_snapshot())
            logger.warning(
                "The files of %s at %s were never listed here. Taking the %d that are cached for all of them.",
                *(self.id, self.commit, len(listed)),
            )
        elif listed is None:
            listed = list(self.pages(f"{self.api}/tree/{self.commit}?recursive=true&expand=false", parsed_files))
            self._metadata.keep_files(self.commit, listed)
        return {file.path: file for file in listed}

    def refreshed(self) -> HubRepo:
        """The same revision, with its current commit."""
        return HubRepo(self.id, self.revision, self.token, self.endpoint)

    @property
    def folder(self) -> str:
        """The local folder of the commit's files."""
        return os.path.join(self._cache, "snapshots", self.commit)

    def file(self, path: str) -> HubFile:
        """A file of the commit."""
        if path not in self.files:
            raise DataFilesNotFoundError(f"{self.id}/{path}", f"it does not exist at {self.commit}.")
        return self.files[path]

    def url(self, path: str) -> str:
        """The HTTP URL of a file of the commit."""
        return f"{self.endpoint}/datasets/{self.id}/resolve/{self.commit}/{quote(path)}"

    def body(self, path: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """The bytes of a file of the commit."""
        try:
            yield from self._contents.body(self.url(path), start, stop)
        except AccessDeniedError as error:
            if not error.code:  # from another server, to which the Hub has redirected
                raise
            raise DatasetNotFoundError(self.id, self._reason(error)) from error

    @cached_property
    def _contents(self) -> Web:
        """A client that remembers redirects: the files of a commit do not change."""
        return replace(self.web, redirects={})

    def elsewhere(self, path: str) -> Elsewhere:
        """A file of the commit, to be read remotely."""
        file = self.files[path]
        url = f"hf://datasets/{self.id}@{self.commit}/{path}"
        return Elsewhere(SourceFile(url, path, file.size, (file.hash, file.size), (self, path)))

    def fetched(self, paths: Sequence[str]) -> list[str]:
        """Download files, several at a time; their local paths."""
        wanted = [self.file(path) for path in paths]
        missing = [file for file in wanted if self.found(file) is None]
        if missing:
            remove_abandoned(self._work)
            total = sum(file.size for file in missing)
            with (
                progress.Transfer(f"Downloading {self.id}", total, len(missing)) as shown,
                ThreadPoolExecutor(min(_AT_ONCE, len(missing))) as pool,
            ):
                for _ in pool.map(lambda file: self._fetch(file, shown.update), missing):
                    shown.file_done()
        linked(self.folder, paths, [self._blob(file) for file in wanted])
        return [os.path.join(self.folder, *path.split("/")) for path in paths]

    def fetch(self, path: str, advance: Advance) -> None:
        """Download one file."""
        file = self.file(path)
        if self.found(file) is None:
            self._fetch(file, advance)
        linked(self.folder, [path], [self._blob(file)])

    def found(self, file: HubFile) -> str | None:
        """The local path of a verified content, or None."""
        path = self._blob(file)
        try:
            if os.path.getsize(path) != file.size:
                raise ContentMismatchError(self._name(file), f"{file.size} bytes", f"{os.path.getsize(path)} bytes")
            if not self._metadata.is_verified(file, path):
                file.expected.require(path, self._name(file))
                self._metadata.mark_verified(file, path)
        except FileNotFoundError:
            return None
        except ContentMismatchError as error:
            logger.warning("%s Downloading it again.", error)
            with suppress(OSError):
                os.unlink(path)
            return None
        return path

    def _fetch(self, file: HubFile, advance: Advance) -> str:
        if config.is_offline():
            raise OfflineError(f"{file.path} of {self.id} at {self.commit}")
        target = self._blob(file)
        with storage_errors(target), storage_errors(os.path.join(self._work, file.hash)):
            make_private(self._work)
            with found_or_claimed(self._work, file.hash[:40], partial(self.found, file)) as (found, _):
                if found:
                    advance(file.size)
                    return found
                fetch(partial(self.body, file.path), target, self._name(file), file.expected, advance)
                self._metadata.mark_verified(file, target)
                return target

    def _in_snapshot(self) -> Iterator[HubFile]:
        """The files of the commit that other tools have downloaded, found by their links."""
        folder = self.folder
        if not os.path.isdir(folder):
            raise OfflineError(f"{self.id} at {self.commit}")
        for parent, _, names in os.walk(folder):
            for name in sorted(names):
                path = os.path.join(parent, name)
                if os.path.islink(path) and os.path.exists(path):
                    hash = os.path.basename(os.readlink(path))
                    relative = os.path.relpath(path, folder).replace(os.sep, "/")
                    yield HubFile(relative, os.path.getsize(path), hash, len(hash) == 64)

    @cached_property
    def _cache(self) -> str:
        return os.path.join(hub_cache(), f"datasets--{self.id.replace('/', '--')}")

    @cached_property
    def _metadata(self) -> HubMetadata:
        return HubMetadata(self._cache, os.path.join(config.HF_DATASETS_CACHE, "hub", self.id.replace("/", "--")))

    @property
    def _work(self) -> str:
        return os.path.join(config.HF_DATASETS_CACHE, "hub", ".work")

    def _blob(self, file: HubFile) -> str:
        return os.path.join(self._cache, "blobs", file.hash)

    def _name(self, file: HubFile) -> str:
        return f"{self.id}/{file.path}"
