"""Datasets of the Hugging Face Hub, in the cache that all its tools share.

    <hub cache>/datasets--org--name/blobs/<hash>             contents
    <hub cache>/datasets--org--name/snapshots/<commit>/<path>   links to them
    <hub cache>/datasets--org--name/refs/<branch>            the commit a branch was last seen at
    <datasets cache>/hub/org--name/<commit>.json             which files a commit has: never changes
    <datasets cache>/hub/verified/<hash>                     the identity with which a content was last seen to be right

A commit that was listed once needs no request any more. A content counts only when its hash is right: it is
checked when it arrives, and once more whenever the file has another identity than at the last check.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote, unquote, urlsplit

from crucible_datasets import config, progress
from crucible_datasets.atomic import written_whole
from crucible_datasets.atomic.files import remove_abandoned
from crucible_datasets.cache.manifest import identity_of
from crucible_datasets.cache.turns import found_or_turn
from crucible_datasets.exceptions import (
    ArgumentError,
    ContentMismatchError,
    DataFilesNotFoundError,
    DatasetNotFoundError,
    DownloadError,
    OfflineError,
)
from crucible_datasets.logging import get_logger
from crucible_datasets.sources.base import Elsewhere, Options, Source, SourceFile
from crucible_datasets.sources.downloads import linked
from crucible_datasets.sources.fetching import Advance, Expected, fetch
from crucible_datasets.sources.ranged import ranged
from crucible_datasets.sources.web import Web

logger = get_logger(__name__)

T = TypeVar("T")

_COMMIT = re.compile(r"[0-9a-f]{40}")
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NEXT = re.compile(r'<([^>]+)>\s*;\s*rel="next"')
_AT_ONCE = 8
_PATIENCE_WHEN_KNOWN = 5.0


@dataclass(frozen=True)
class HubFile:
    """A file of a commit. A large one is known by its sha256, another by what git calls it."""

    path: str
    size: int
    hash: str
    is_large: bool

    @property
    def expected(self) -> Expected:
        known = {"sha256" if self.is_large else "git_sha1": self.hash}
        return Expected(size=self.size, **known)


@dataclass(frozen=True)
class HubRepo:
    """One revision of a dataset on the Hub."""

    id: str
    revision: str = config.HUB_DEFAULT_VERSION
    token: str | bool | None = field(default=None, repr=False)
    endpoint: str = field(default_factory=lambda: config.HF_ENDPOINT)

    @cached_property
    def web(self) -> Web:
        return Web(partial(_headers, self.endpoint, self.token))

    @cached_property
    def commit(self) -> str:
        """The commit that the revision stands at; what was last seen, when nobody can be asked."""
        if _COMMIT.fullmatch(self.revision):
            return self.revision
        known = self._known_commit()
        if config.HF_HUB_OFFLINE:
            if known is None:
                raise OfflineError(f"{self.id} at revision {self.revision!r}")
            return known
        try:
            # With an answer of last time at hand, nobody wants to wait long for another one.
            web = self.web if known is None else replace(self.web, patience=_PATIENCE_WHEN_KNOWN)
            found = self._asked(f"{self._api}/revision/{quote(self.revision, safe='')}", web, _stated_commit)[1]
        except DownloadError as error:
            if known is None or error.status is not None:
                raise
            logger.warning("%s. Going on with what %s was when last seen: %s.", error, self.revision, known)
            return known
        _write(os.path.join(self._cache, "refs", *self.revision.split("/")), found)
        return found

    @cached_property
    def files(self) -> Mapping[str, HubFile]:
        """Every file of the commit, by its path."""
        path = os.path.join(self._notes, f"{self.commit}.json")
        try:
            with open(path, encoding="utf-8") as file:
                listed = [HubFile(*facts) for facts in json.load(file)]
        except (OSError, ValueError):
            if config.HF_HUB_OFFLINE:
                listed = list(self._in_snapshot())
            else:
                listed = list(self._listed())
                _write(path, json.dumps([[one.path, one.size, one.hash, one.is_large] for one in listed]))
        return {file.path: file for file in listed}

    @property
    def folder(self) -> str:
        """Where the files of the commit are on this disk, once they are fetched."""
        return os.path.join(self._cache, "snapshots", self.commit)

    def file(self, path: str) -> HubFile:
        """A file of the commit."""
        if path not in self.files:
            raise DataFilesNotFoundError(f"{self.id}/{path}", f"it is not there at {self.commit}.")
        return self.files[path]

    def url(self, path: str) -> str:
        """Where a file of the commit is."""
        return f"{self.endpoint}/datasets/{self.id}/resolve/{self.commit}/{quote(path)}"

    def elsewhere(self, path: str) -> Elsewhere:
        """A file of the commit, to be read where it is."""
        file = self.files[path]
        url = f"hf://datasets/{self.id}@{self.commit}/{path}"
        return Elsewhere(SourceFile(url, path, file.size, (file.hash, file.size), (self, path)))

    def fetched(self, paths: Sequence[str]) -> list[str]:
        """The files on this disk, several fetched at a time."""
        wanted = [self.file(path) for path in paths]
        missing = [file for file in wanted if self._found(file) is None]
        if missing:
            remove_abandoned(self._work)
            total = sum(file.size for file in missing)
            with (
                progress.tqdm(total=total, unit="B", unit_scale=True, desc=f"Downloading {self.id}") as bar,
                ThreadPoolExecutor(min(_AT_ONCE, len(missing))) as pool,
            ):
                list(pool.map(lambda file: self._fetch(file, bar.update), missing))
        linked(self.folder, paths, [self._blob(file) for file in wanted])
        return [os.path.join(self.folder, *path.split("/")) for path in paths]

    def fetch(self, path: str, advance: Advance) -> None:
        """Have one file on this disk."""
        file = self.file(path)
        if self._found(file) is None:
            self._fetch(file, advance)
        linked(self.folder, [path], [self._blob(file)])

    def _fetch(self, file: HubFile, advance: Advance) -> str:
        if config.HF_HUB_OFFLINE:
            raise OfflineError(f"{file.path} of {self.id} at {self.commit}")
        os.makedirs(self._work, exist_ok=True)
        with found_or_turn(self._work, file.hash[:40], partial(self._found, file)) as (found, _):
            if found:
                advance(file.size)
                return found
            target = self._blob(file)
            fetch(partial(self.web.body, self.url(file.path)), target, self._name(file), file.expected, advance)
            self._note_right(file)
            return target

    def _found(self, file: HubFile) -> str | None:
        """The content, if it is here and right."""
        path = self._blob(file)
        try:
            if os.path.getsize(path) != file.size:
                raise ContentMismatchError(self._name(file), f"{file.size} bytes", f"{os.path.getsize(path)} bytes")
            if not self._is_noted(file):
                file.expected.require(path, self._name(file))
                self._note_right(file)
        except FileNotFoundError:
            return None
        except ContentMismatchError as error:
            logger.warning("%s Fetching it again.", error)
            with suppress(OSError):
                os.unlink(path)
            return None
        return path

    def _listed(self) -> Iterator[HubFile]:
        url: str | None = f"{self._api}/tree/{self.commit}?recursive=true&expand=false"
        while url:
            headers, files = self._asked(url, self.web, _stated_files)
            yield from files
            following = _NEXT.search(headers.get("Link", ""))
            url = following[1] if following else None

    def _in_snapshot(self) -> Iterator[HubFile]:
        """What other tools have fetched of the commit, as far as links tell."""
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

    def _known_commit(self) -> str | None:
        try:
            with open(os.path.join(self._cache, "refs", *self.revision.split("/")), encoding="utf-8") as file:
                return file.read().strip()
        except OSError:
            return None

    def _asked(self, url: str, web: Web, read: Callable[[Any], T]) -> tuple[Mapping[str, str], T]:
        """The headers of an answer and what it says."""
        try:
            headers, body = web.page(url)
            return headers, read(json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DownloadError(url, "the answer is not one of a Hub. Is something between it and you?") from error
        except DownloadError as error:
            if error.status in {401, 403, 404}:
                raise DatasetNotFoundError(self.id, _reason(self, error)) from error
            raise

    @property
    def _api(self) -> str:
        return f"{self.endpoint}/api/datasets/{self.id}"

    @cached_property
    def _cache(self) -> str:
        from huggingface_hub import constants

        return os.path.join(constants.HF_HUB_CACHE, f"datasets--{self.id.replace('/', '--')}")

    @cached_property
    def _notes(self) -> str:
        return os.path.join(config.HF_DATASETS_CACHE, "hub", self.id.replace("/", "--"))

    @property
    def _work(self) -> str:
        return os.path.join(os.path.dirname(self._notes), ".work")

    def _blob(self, file: HubFile) -> str:
        return os.path.join(self._cache, "blobs", file.hash)

    def _name(self, file: HubFile) -> str:
        return f"{self.id}/{file.path}"

    def _verified(self, file: HubFile) -> str:
        return os.path.join(os.path.dirname(self._notes), "verified", file.hash)

    def _is_noted(self, file: HubFile) -> bool:
        try:
            with open(self._verified(file), encoding="utf-8") as note:
                return bool(json.load(note) == identity_of(self._blob(file)))
        except (OSError, ValueError):
            return False

    def _note_right(self, file: HubFile) -> None:
        _write(self._verified(file), json.dumps(identity_of(self._blob(file))))


def _stated_commit(answer: Any) -> str:
    found = str(answer["sha"])
    if not _COMMIT.fullmatch(found):
        raise ValueError(found)
    return found


def _stated_files(answer: Any) -> list[HubFile]:
    return [
        HubFile(safe(one["path"]), int(one["size"]), _hash(one), bool(one.get("lfs")))
        for one in answer
        if one["type"] == "file"
    ]


def _hash(entry: Any) -> str:
    """The sha256 of a large file, what git calls another; both become names of files."""
    found = str((entry.get("lfs") or entry)["oid"])
    if not _HASH.fullmatch(found):
        raise ValueError(found)
    return found


def listed(url: str, options: Options) -> list[SourceFile]:
    """The files of `hf://datasets/org/name@revision/path`, below a folder of it, or those that a pattern matches."""
    repo, path = _located(url, options)
    root = f"hf://datasets/{repo.id}@{repo.commit}"
    if "*" in path:
        base, fits = path.partition("*")[0].rpartition("/")[0], re.compile(_expression(path)).fullmatch
        found = [file for name, file in repo.files.items() if fits(name)]
    else:
        base, start = path, f"{path}/" if path else ""
        found = [file for name, file in repo.files.items() if name == path or name.startswith(start)]
    if not found:
        raise DataFilesNotFoundError(url)
    return [
        SourceFile(f"{root}/{file.path}", _below(base, file.path), file.size, (file.hash, file.size), (repo, file.path))
        for file in sorted(found, key=lambda file: file.path)
    ]


def opened(file: SourceFile, options: Options) -> BinaryIO:
    """The bytes of a file: those on this disk, if they are there, else fetched where they are read."""
    repo, path = file.known or _located(file.url, options)
    found = repo._found(repo.file(path))
    if found is not None:
        return open(found, "rb")
    return ranged(partial(repo.web.body, repo.url(path)), repo.file(path).size, file.url)


def fetched(files: Sequence[SourceFile], options: Options) -> list[str]:
    """The files on this disk, in the cache that all tools share."""
    places = [file.known or _located(file.url, options) for file in files]
    repos = {repo: [path for other, path in places if other == repo] for repo, _ in places}
    local = {
        (repo, path): one for repo, paths in repos.items() for path, one in zip(paths, repo.fetched(paths), strict=True)
    }
    return [local[place] for place in places]


def _located(url: str, options: Options) -> tuple[HubRepo, str]:
    """The repository of an address, and the path in it."""
    rest = url.removeprefix("hf://").removeprefix("datasets/")
    found = re.fullmatch(r"(?P<id>[^/@]+/[^/@]+)(?:@(?P<revision>[^/]+))?(?:/(?P<path>.*))?", rest)
    if not url.startswith("hf://datasets/") or not found:
        raise ArgumentError("path", url, "expected hf://datasets/org/name, and perhaps @revision and /path behind it.")
    revision = unquote(found["revision"] or config.HUB_DEFAULT_VERSION)
    return HubRepo(found["id"], revision, options.get("token")), (found["path"] or "").strip("/")


def _expression(pattern: str) -> str:
    """A pattern with `*` and `**` as a regular expression."""
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(words.get(piece, re.escape(piece)) for piece in pieces)


def _below(base: str, path: str) -> str:
    return path.removeprefix(f"{base}/") if base and path != base else path.rpartition("/")[2] if path == base else path


def safe(path: str) -> str:
    """A path that a server stated, once it is known to stay inside its repository."""
    parts = path.split("/")
    if "\\" in path or "\0" in path or any(part in {"", ".", ".."} for part in parts) or ":" in parts[0]:
        raise DownloadError(path, "the server named a file outside of its repository.")
    return path


def _headers(endpoint: str, token: str | bool | None, url: str) -> dict[str, str]:
    """What is said to a host: the token only to the Hub itself, and only where nobody can listen."""
    from huggingface_hub import get_token

    known = {"user-agent": "crucible-datasets"}
    there, hub = urlsplit(url), urlsplit(endpoint)
    is_private = there.scheme == "https" or there.hostname in {"127.0.0.1", "localhost", "::1"}
    secret = token if isinstance(token, str) else None if token is False else get_token()
    if secret and is_private and (there.scheme, there.netloc) == (hub.scheme, hub.netloc):
        known["authorization"] = f"Bearer {secret}"
    return known


def _reason(repo: HubRepo, error: DownloadError) -> str:
    place = f"{repo.endpoint}/datasets/{repo.id}"
    if error.code == "GatedRepo":
        return f"it is gated. Ask for access at {place}, then log in or pass token=."
    if error.code == "RevisionNotFound":
        return f"it has no revision {repo.revision!r}."
    return f"it does not exist at {repo.endpoint}, or it is private and the token gives no access to it."


def _write(path: str, text: str) -> None:
    with suppress(OSError):  # a cache that only others may write to
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with written_whole(path) as beside, open(beside, "w", encoding="utf-8") as file:
            file.write(text)


SOURCE = Source("hub", ("hf",), listed, opened, fetched)
