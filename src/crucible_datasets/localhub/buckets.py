"""Buckets of a hub folder: plain folders `buckets/<org>/<name>`, served as they are at the moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from crucible_datasets.localhub.bucketwrites import folder_of, is_private, seen_folder
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.folder import plain_files
from crucible_datasets.localhub.routing import Answer, Request, paged, route
from crucible_datasets.sources.fetching import xet_hash

_ID = r"(?P<id>[^/]+/[^/]+)"
_PATH = r"(?P<path>.+)"


@dataclass(frozen=True)
class Held:
    """A file of a bucket: its name there, where it lies, its size, and when it was changed."""

    name: str
    path: str
    size: int
    changed: int

    @property
    def hash(self) -> str:
        found = _hash_of(self.path, self.size, self.changed)
        if found is None:
            raise HubError(501, "NotImplemented", "This hub serves buckets only where hf_xet is installed.")
        return found

    @property
    def entry(self) -> dict[str, Any]:
        """The file as listings show it."""
        time = _moment(self.changed)
        facts = {"size": self.size, "xetHash": self.hash, "mtime": time, "uploadedAt": time}
        return {"type": "file", "path": self.name, **facts}


@lru_cache(maxsize=100_000)
def _hash_of(path: str, size: int, changed: int) -> str | None:
    return xet_hash(path)


def _moment(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _held(request: Request) -> dict[str, Held]:
    """The files of the bucket of a request."""
    return {name: Held(name, *where) for name, where in plain_files(seen_folder(request))}


@route("GET", f"/api/buckets/{_ID}")
def info(request: Request) -> Answer:
    held = _held(request).values()
    created = _moment(min((file.changed for file in held), default=0))
    size = sum(file.size for file in held)
    id, private = unquote(request.parts["id"]), is_private(folder_of(request))
    return Answer({"id": id, "private": private, "createdAt": created, "size": size, "totalFiles": len(held)})


@route("GET", f"/api/buckets/{_ID}/tree(?:/{_PATH})?")
def tree(request: Request) -> Answer:
    folder = unquote(request.parts["path"]).strip("/")
    entries = list(_tree(_held(request), folder, request.flag("recursive")))
    if folder and not entries:
        raise HubError(404, "EntryNotFound", f"{folder} does not exist.")
    return paged(request, entries)


def _tree(held: dict[str, Held], folder: str, recursive: bool) -> Iterator[dict[str, Any]]:
    start, seen = f"{folder}/" if folder else "", set()
    for name, file in held.items():
        if not name.startswith(start):
            continue
        parts = name[len(start) :].split("/")
        for end in range(1, len(parts) if recursive else min(2, len(parts))):
            above = start + "/".join(parts[:end])
            if above not in seen:
                seen.add(above)
                yield {"type": "directory", "path": above, "uploadedAt": _moment(file.changed)}
        if recursive or len(parts) == 1:
            yield file.entry


@route("POST", f"/api/buckets/{_ID}/paths-info")
def paths_info(request: Request) -> Answer:
    wanted, held = request.json()["paths"], _held(request)
    return Answer([held[path].entry for path in wanted if path in held])


@route("GET", f"/buckets/{_ID}/resolve/{_PATH}")
def resolve(request: Request) -> Answer:
    held, path = _held(request), unquote(request.parts["path"])
    if path not in held:
        raise HubError(404, "EntryNotFound", f"{path} does not exist.")
    file = held[path]
    headers = {"X-Xet-Hash": file.hash, "ETag": f'"{file.hash}"', "X-Linked-Size": str(file.size)}
    return Answer(file=open(file.path, "rb"), size=file.size, headers={**headers, "Accept-Ranges": "bytes"})
