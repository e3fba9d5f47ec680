"""Writes of clients to buckets of a hub folder.

    .xet/<time>-<random>/          uploaded contents, in a local store of hf_xet
    buckets/<org>/.<name>.private  marks a bucket that only users with a token can see

Clients upload contents of buckets by the Xet protocol, which needs its own server. hf_xet can also use a local folder
as its store, so clients of this machine get the path of such a folder, and others cannot write. A client locks its
store until it exits. So each gets a new one, which is read through a copy of its index, and removed when it is old.
"""

from __future__ import annotations

import json
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
from urllib.parse import unquote, urlsplit

from crucible_datasets.atomic import atomic_file
from crucible_datasets.exceptions import DownloadError
from crucible_datasets.localhub.errors import HubError, require_name
from crucible_datasets.localhub.routing import Request, Response, route
from crucible_datasets.sources.fetching import xet_hash
from crucible_datasets.sources.hub.files import safe_path

_ID = r"(?P<id>[^/]+/[^/]+)"
_VALID_SECONDS = 3600


def folder_of(request: Request) -> str:
    """The folder of the requested bucket, which may not exist."""
    id = unquote(request.parts["id"])
    require_name(id)
    return os.path.join(request.hub.root, "buckets", *id.split("/"))


def seen_folder(request: Request) -> str:
    """The folder of the requested bucket; the same error whether it does not exist or the user may not see it."""
    folder, user = folder_of(request), request.user
    if not os.path.isdir(folder) or (is_private(folder) and user is None):
        raise HubError(404, "RepoNotFound", f"Bucket not found: {unquote(request.parts['id'])}")
    return folder


def is_private(folder: str) -> bool:
    """Whether only users with a token can see a bucket."""
    return os.path.exists(_mark(folder))


def _mark(folder: str) -> str:
    # Next to the bucket, since all files in it are served; no bucket can have such a name.
    return os.path.join(os.path.dirname(folder), f".{os.path.basename(folder)}.private")


@route("POST", f"/api/buckets/{_ID}")
def create(request: Request) -> Response:
    request.access.require_write(request.user)
    folder, id, visibility = folder_of(request), unquote(request.parts["id"]), request.json().get("visibility")
    if visibility not in {None, "public", "private"}:
        raise HubError(501, "NotImplemented", f"This hub does not know buckets that are {visibility!r}.")
    known = {"id": id, "url": f"{request.origin}/buckets/{id}"}
    if os.path.isdir(folder):
        return Response({"error": f"You already created this bucket: {id}", **known}, 409)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    if visibility == "private":
        with open(_mark(folder), "wb"):  # before the bucket, so that it is never public
            pass
    os.makedirs(folder)
    return Response(known)


@route("GET", f"/api/buckets/{_ID}/xet-write-token")
def write_token(request: Request) -> Response:
    _writable(request)
    if urlsplit(request.origin).hostname not in {"127.0.0.1", "localhost"}:
        raise HubError(501, "NotImplemented", "Only programs on the machine of this hub can write to its buckets.")
    until, secret, store = int(time.time()) + _VALID_SECONDS, "none-is-needed", f"local://{_new_store(request)}"
    return Response(
        {"casUrl": store, "accessToken": secret, "exp": until},
        headers={"X-Xet-Cas-Url": store, "X-Xet-Access-Token": secret, "X-Xet-Token-Expiration": str(until)},
    )


@route("POST", f"/api/buckets/{_ID}/batch")
def batch(request: Request) -> Response:
    """Apply all steps or none: added contents are complete and verified before anything changes."""
    folder, steps = _writable(request), list(_steps(request))
    with ExitStack() as written:
        for kind, path, hash in steps:
            if kind == "addFile":
                os.makedirs(os.path.dirname(path), exist_ok=True)
                _bring(request, hash, written.enter_context(atomic_file(path)))
            elif kind != "deleteFile":
                raise HubError(501, "NotImplemented", f"This hub does not know {kind!r} in buckets.")
    for path in [path for kind, path, _ in steps if kind == "deleteFile" and os.path.isfile(path)]:
        os.unlink(path)
        _remove_empty(os.path.dirname(path), folder)
    return Response({"success": True, "processed": len(steps), "succeeded": len(steps), "failed": []})


def _writable(request: Request) -> str:
    request.access.require_write(request.user)
    return os.path.realpath(seen_folder(request))


def _new_store(request: Request) -> str:
    """A folder for the contents that a client is about to upload; those of long ago are removed."""
    root = os.path.join(os.path.abspath(request.hub.root), ".xet")
    os.makedirs(root, exist_ok=True)
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
    folder = os.path.realpath(folder_of(request))
    try:
        for line in request.content().splitlines():
            step: Any = json.loads(line)
            path = os.path.realpath(os.path.join(folder, *safe_path(step["path"]).split("/")))
            if not path.startswith(folder + os.sep):
                raise ValueError(path)
            yield str(step["type"]), path, str(step.get("xetHash", ""))
    except (ValueError, KeyError, TypeError, AttributeError, DownloadError) as error:
        raise HubError(400, "BadRequest", "The body is no list of steps, or a path is outside the bucket.") from error


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
