"""Writes of clients to buckets of a hub folder.

    .xet/<time>-<random>/          uploaded contents, in a local store of hf_xet
    buckets/<org>/.<name>.private  marks a bucket that only users with a token can see

Clients upload contents of buckets by the Xet protocol, which needs its own server. hf_xet can also use a local folder
as its store, so clients of this machine get the path of such a folder, and others cannot write. A client locks its
store until it exits. So each gets a new one, which is read through a copy of its index, and removed when it is old.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import escape as glob_escape
from glob import glob
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

import msgspec

from crucible_datasets.atomic import atomic_file
from crucible_datasets.localhub import names
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.routing import Request, Response, parsed, route, writer
from crucible_datasets.sources.fetching import xet_hash

_ID = r"(?P<id>[^/]+/[^/]+)"
_VALID_SECONDS = 3600
_MAX_LINE, _MAX_STEPS = 16 << 10, 100_000


class _Bucket(msgspec.Struct):
    visibility: str | None = None


class _Step(msgspec.Struct, rename="camel"):
    type: str
    path: str
    xet_hash: str = ""


def folder_of(request: Request) -> str:
    """The folder of the requested bucket, which may not exist."""
    folder = request.hub.own("buckets", request.id)
    if folder is None:
        raise HubError(404, "RepoNotFound", f"Bucket not found: {request.id}")
    return folder


def bucket_reader(request: Request) -> None:
    """Whoever may see the bucket; the same error whether it does not exist or is hidden."""
    folder, user = folder_of(request), request.user
    if not os.path.isdir(folder) or (is_private(folder) and user is None):
        raise HubError(404, "RepoNotFound", f"Bucket not found: {request.id}")


def bucket_writer(request: Request) -> None:
    """Whoever may write to the bucket."""
    writer(request)
    bucket_reader(request)


def is_private(folder: str) -> bool:
    """Whether only users with a token can see a bucket."""
    return os.path.exists(_mark(folder))


def _mark(folder: str) -> str:
    # Next to the bucket, since all files in it are served; no bucket can have such a name.
    return os.path.join(os.path.dirname(folder), f".{os.path.basename(folder)}.private")


@route("POST", f"/api/buckets/{_ID}", writer)
def create(request: Request) -> Response:
    folder, id, visibility = folder_of(request), request.id, request.json(_Bucket).visibility
    if visibility not in {None, "public", "private"}:
        raise HubError(501, "NotImplemented", f"This hub does not know buckets that are {visibility[:100]!a}.")
    known = {"id": id, "url": f"{request.origin}/buckets/{id}"}
    if os.path.isdir(folder):
        return Response({"error": f"You already created this bucket: {id}", **known}, 409)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    if visibility == "private":
        with open(_mark(folder), "wb"):  # before the bucket, so that it is never public
            pass
    os.makedirs(folder)
    return Response(known)


@route("GET", f"/api/buckets/{_ID}/xet-write-token", bucket_writer)
def write_token(request: Request) -> Response:
    if urlsplit(request.origin).hostname not in {"127.0.0.1", "localhost"}:
        raise HubError(501, "NotImplemented", "Only programs on the machine of this hub can write to its buckets.")
    until, secret, store = int(time.time()) + _VALID_SECONDS, "none-is-needed", f"local://{_new_store(request)}"
    return Response(
        {"casUrl": store, "accessToken": secret, "exp": until},
        headers={"X-Xet-Cas-Url": store, "X-Xet-Access-Token": secret, "X-Xet-Token-Expiration": str(until)},
    )


@route("POST", f"/api/buckets/{_ID}/batch", bucket_writer, max_bytes=64 << 20)
def batch(request: Request) -> Response:
    """Apply all steps or none: added contents are complete and verified before anything changes."""
    folder, steps = folder_of(request), list(_steps(request))
    with ExitStack() as written:
        for kind, path, hash in steps:
            if kind == "addFile":
                _make_folder(path)
                _bring(request, hash, written.enter_context(atomic_file(path)))
            elif kind != "deleteFile":
                raise HubError(501, "NotImplemented", f"This hub does not know {kind[:100]!a} in buckets.")
    for path in [path for kind, path, _ in steps if kind == "deleteFile" and os.path.isfile(path)]:
        os.unlink(path)
        _remove_empty(os.path.dirname(path), folder)
    return Response({"success": True, "processed": len(steps), "succeeded": len(steps), "failed": []})


def _make_folder(path: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise HubError(400, "BadRequest", f"{os.path.basename(path)} would be a file and a folder.") from error
    if os.path.isdir(path):
        raise HubError(400, "BadRequest", f"{os.path.basename(path)} would be a file and a folder.")


def _new_store(request: Request) -> str:
    """A folder for the contents that a client is about to upload; those of long ago are removed."""
    root = os.path.join(os.path.abspath(request.hub.root), ".xet")
    os.makedirs(root, mode=0o700, exist_ok=True)
    for name in os.listdir(root):
        began = name.partition("-")[0]
        if not began.isdigit() or int(began) < time.time() - 2 * _VALID_SECONDS:
            shutil.rmtree(os.path.join(root, name), ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"{time.time():.0f}-", dir=root)


def _stores(request: Request) -> list[str]:
    """All such folders, the newest first."""
    return sorted(glob(os.path.join(glob_escape(os.path.abspath(request.hub.root)), ".xet", "*")), reverse=True)


def _steps(request: Request) -> Iterator[tuple[str, str, str]]:
    """The requested steps: action, local path, and hash of the content."""
    folder = folder_of(request)
    for number, line in enumerate(request.lines(_MAX_LINE)):
        step = parsed(line, _Step)
        path = os.path.realpath(os.path.join(folder, *names.path(step.path).split("/")))
        if not path.startswith(folder + os.sep):
            raise HubError(400, "BadRequest", f"{step.path} is a link that leads out of the bucket.")
        if number >= _MAX_STEPS:
            raise HubError(413, "PayloadTooLarge", f"A batch has at most {_MAX_STEPS} steps.")
        yield step.type, path, names.oid(step.xet_hash) if step.type == "addFile" else ""


def _bring(request: Request, hash: str, path: str) -> None:
    """Copy an uploaded content to a path."""
    if not any(_is_copied(store, hash, path) for store in _stores(request)):
        raise HubError(400, "BadRequest", f"The content {hash} was never uploaded.")


def _is_copied(store: str, hash: str, path: str) -> bool:
    """Whether a store holds a content, which then is at the path."""
    hf_xet: Any = import_module("hf_xet")
    with suppress(RuntimeError, ValueError, OSError), _unlocked(store) as folder:
        with hf_xet.XetSession().new_file_download_group(endpoint=f"local://{folder}") as group:
            group.start_download_file(hf_xet.XetFileInfo(hash), path)
        return xet_hash(path) == hash
    return False


@contextmanager
def _unlocked(store: str) -> Iterator[str]:
    """The same store without locks: its folders are linked, and its files, which clients lock, are copied."""
    inside = os.path.join("xet", "xorbs")
    with tempfile.TemporaryDirectory() as copy:
        os.makedirs(os.path.join(copy, inside))
        for entry in os.scandir(os.path.join(store, inside)):
            place = os.symlink if entry.is_dir() else shutil.copyfile
            place(entry.path, os.path.join(copy, inside, entry.name))
        yield copy


def _remove_empty(folder: str, top: str) -> None:
    while folder != top and not os.listdir(folder):
        os.rmdir(folder)
        folder = os.path.dirname(folder)
