"""Buckets of a hub folder: plain folders `buckets/<org>/<name>`, served in their current state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from crucible_datasets.localhub import names
from crucible_datasets.localhub.bucketwrites import bucket_reader, folder_of, is_private
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.folder import plain_files
from crucible_datasets.localhub.repos import StoredFile
from crucible_datasets.localhub.routing import Request, Response, paged, route
from crucible_datasets.sources.fetching import xet_hash

_ID = r"(?P<id>[^/]+/[^/]+)"
_PATH = r"(?P<path>.+)"


class _Paths(msgspec.Struct):
    paths: list[str]


@dataclass(frozen=True)
class BucketFile:
    """A file of a bucket: its name, local path, size and modification time."""

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
        """The entry of the file in listings."""
        time = _moment(self.changed)
        facts = {"size": self.size, "xetHash": self.hash, "mtime": time, "uploadedAt": time}
        return {"type": "file", "path": self.name, **facts}


@lru_cache(maxsize=100_000)
def _hash_of(path: str, size: int, changed: int) -> str | None:
    return xet_hash(path)


def _moment(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _files(request: Request) -> dict[str, BucketFile]:
    """The files of the bucket of a request."""
    return {name: BucketFile(name, *where) for name, where in plain_files(folder_of(request))}


@route("GET", f"/api/buckets/{_ID}", bucket_reader)
def info(request: Request) -> Response:
    files = _files(request).values()
    created = _moment(min((file.changed for file in files), default=0))
    size = sum(file.size for file in files)
    id, private = request.id, is_private(folder_of(request))
    return Response({"id": id, "private": private, "createdAt": created, "size": size, "totalFiles": len(files)})


@route("GET", f"/api/buckets/{_ID}/tree(?:/{_PATH})?", bucket_reader)
def tree(request: Request) -> Response:
    folder = request.folder
    entries = list(_tree(_files(request), folder, request.flag("recursive")))
    if folder and not entries:
        raise HubError(404, "EntryNotFound", f"{folder} does not exist.")
    return paged(request, entries)


def _tree(files: dict[str, BucketFile], folder: str, recursive: bool) -> Iterator[dict[str, Any]]:
    start, seen = f"{folder}/" if folder else "", set()
    for name, file in files.items():
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


@route("POST", f"/api/buckets/{_ID}/paths-info", bucket_reader)
def paths_info(request: Request) -> Response:
    files = _files(request)
    return Response([files[path].entry for path in map(names.path, request.json(_Paths).paths) if path in files])


@route("GET", f"/buckets/{_ID}/resolve/{_PATH}", bucket_reader)
def resolve(request: Request) -> Response:
    files, path = _files(request), request.file
    if path not in files:
        raise HubError(404, "EntryNotFound", f"{path} does not exist.")
    file = files[path]
    headers = {"X-Xet-Hash": file.hash, "ETag": f'"{file.hash}"', "X-Linked-Size": str(file.size)}
    content = request.hub.open(StoredFile("", "", file.size, True, (file.path, file.size, file.changed)))
    return Response(file=content, size=file.size, headers={**headers, "Accept-Ranges": "bytes"})
