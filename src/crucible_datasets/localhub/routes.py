"""The routes of repositories: their listings, commits, files and uploads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode

import msgspec

from crucible_datasets.exceptions import ContentMismatchError
from crucible_datasets.localhub import json_views, names, uploads
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.repos import Repo
from crucible_datasets.localhub.routing import (
    PAGE,
    Request,
    Response,
    anyone,
    contents_reader,
    owner,
    paged,
    reader,
    repo_writer,
    route,
    writer,
)

_ID = r"(?P<id>[^/]+(?:/[^/]+)?)"
_REVISION = r"(?P<revision>[^/]+)"
_PATH = r"(?P<path>.+)"


@route("GET", "/api/whoami-v2", anyone)
def who(request: Request) -> Response:
    user = request.user
    if user is None:
        raise HubError(401, "Unauthorized", "Invalid username or password.")
    token = {"displayName": "local", "role": user["role"]}
    return Response(
        {"type": "user", "name": user["name"], "fullname": user["name"], "orgs": [], "auth": {"accessToken": token}}
    )


@route("GET", "/api/datasets", anyone)
def listing(request: Request) -> Response:
    words, author = request.query.get("search", []), request.query.get("author", [""])[0]
    matches = [
        name
        for name in request.hub.names()
        if all(word.lower() in name.lower() for word in words) and (not author or name.startswith(f"{author}/"))
    ]
    entries = [entry for name in matches if (entry := _listed(request, name)) is not None]
    shown = [entry for entry in entries if _is_wanted(request, entry)]
    if (by := request.query.get("sort", [""])[0]) in {"lastModified", "createdAt"}:
        shown.sort(key=lambda one: str(one[by]), reverse=True)
    return paged(request, shown)


def _listed(request: Request, name: str) -> dict[str, Any] | None:
    """The entry of a repository in the listing: None if it is not visible, and what is wrong if it cannot be read."""
    try:
        repo = request.hub.repo(name)
        request.access.require_visible(repo, request.user)
        return json_views.repo_info(request.hub, repo, repo.find("main"))
    except HubError as error:
        # Whether it is private may be unknown too, so it is shown only to those who may see it in any case.
        if error.code == "RepoNotFound" or request.user is None:
            return None
        return json_views.unreadable(name, error.sentence)


def _is_wanted(request: Request, shown: Mapping[str, Any]) -> bool:
    is_gated = bool(shown["gated"])
    return set(request.query.get("filter", [])) <= set(shown["tags"]) and (
        "gated" not in request.query or request.flag("gated") is is_gated
    )


@route("POST", "/api/validate-yaml", anyone, max_bytes=16 << 20)  # which is not looked at
def validate(request: Request) -> Response:
    return Response({"errors": [], "warnings": []})


class _Named(msgspec.Struct):
    """A repository, named in the body of a request."""

    name: str
    organization: str | None = None
    type: str = "model"

    def id(self, user: str) -> str:
        return names.repo(self.name if "/" in self.name else f"{self.organization or user}/{self.name}")


class _Created(_Named):
    private: bool | None = None
    visibility: Literal["public", "private"] | None = None


class _Moved(msgspec.Struct, rename="camel"):
    from_repo: str
    to_repo: str


class _Settings(msgspec.Struct):
    private: bool | None = None
    visibility: Literal["public", "private"] | None = None
    gated: Literal["auto", "manual"] | bool | None = None
    allowed: list[str] | None = None


class _Branch(msgspec.Struct, rename="camel"):
    starting_point: str | None = None


class _Tag(msgspec.Struct):
    tag: str


class _Message(msgspec.Struct):
    message: str | None = None


class _Files(msgspec.Struct):
    files: list[uploads.UploadedFile]


class _Objects(msgspec.Struct):
    objects: list[uploads.LargeObject]


class _Paths(msgspec.Struct):
    paths: list[str] | str


@route("POST", "/api/repos/create", writer)
def create(request: Request) -> Response:
    wanted = request.json(_Created)
    if wanted.type != "dataset":
        raise HubError(400, "BadRequest", f"This hub holds datasets, not a {wanted.type[:100]}.")
    name = wanted.id(request.writer)
    repo = request.hub.repo(name)
    url = f"{request.origin}/datasets/{name}"
    with repo.lock:
        if repo.exists:
            error = "You already created this dataset repo"
            return Response({"error": error, "url": url, "name": name, "id": name}, 409)
        repo.create(private=wanted.private or wanted.visibility == "private", owner=request.writer)
    return Response({"url": url, "name": name, "id": name})


@route("DELETE", "/api/repos/delete", writer)
def delete(request: Request) -> Response:
    repo = request.hub.repo(request.json(_Named).id(request.writer))
    _require_movable(request, repo, "remove")
    shutil.rmtree(repo.folder)
    return Response({})


@route("POST", "/api/repos/move", writer)
def move(request: Request) -> Response:
    wanted = request.json(_Moved)
    repo, to = request.hub.repo(wanted.from_repo), request.hub.repo(wanted.to_repo)
    _require_movable(request, repo, "rename")
    if to.exists:
        raise HubError(409, "Conflict", f"{to.id} exists already.")
    if "/" not in to.id:
        raise HubError(400, "BadRequest", f"{to.id} is not org/name.")
    os.makedirs(os.path.dirname(to.folder), exist_ok=True)
    os.rename(repo.folder, to.folder)
    if request.writer not in to.owners:  # who owned it by its former name
        to.create(owner=request.writer)
    return Response({})


def _require_movable(request: Request, repo: Repo, verb: str) -> None:
    request.access.require_visible(repo, request.user)
    plain = request.hub.plain(repo)
    # The folder of a repository without an organization also holds those of the organization with that name.
    if plain is not None or "/" not in repo.id:
        where = plain or repo.folder
        raise HubError(403, "Forbidden", f"{repo.id} is the folder {where} on the server: {verb} it there.")
    request.access.require_owner(repo, request.user)


@route("GET", f"/api/datasets/{_ID}/tree/{_REVISION}(?:/{_PATH})?", reader)
def tree(request: Request) -> Response:
    commit, folder = request.commit, request.folder
    entries = json_views.tree(commit, folder, request.flag("recursive"))
    if folder and not entries:
        raise HubError(404, "EntryNotFound", f"{folder} does not exist on {request.revision!r}.")
    return paged(request, entries, {"X-Repo-Commit": commit.id})


@route("POST", f"/api/datasets/{_ID}/paths-info/{_REVISION}", reader)
def paths_info(request: Request) -> Response:
    if request.headers.get("Content-Type", "").startswith("application/json"):
        paths = request.json(_Paths).paths
    else:
        paths = _form(request.content()).get("paths", [])
    entries = {entry["path"]: entry for entry in json_views.tree(request.commit, "", True)}
    wanted = [names.path(path) for path in ([paths] if isinstance(paths, str) else paths)]
    return Response([entries[path] for path in wanted if path in entries])


def _form(content: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(content.decode("ascii"), errors="strict")
    except ValueError as error:
        raise HubError(400, "BadRequest", "The content is not a form in UTF-8.") from error


@route("GET", f"/api/datasets/{_ID}/refs", reader)
def refs(request: Request) -> Response:
    return Response(json_views.refs(request.repo))


@route("GET", f"/api/datasets/{_ID}/commits/{_REVISION}", reader)
def commits(request: Request) -> Response:
    shown = json_views.commits(request.repo, request.revision)
    known = {"X-Total-Count": str(len(shown))}
    if "p" not in request.query:
        return paged(request, shown, known)
    page, size = request.number("p", 0), request.number("limit", PAGE, least=1)
    return Response(shown[page * size : (page + 1) * size], headers=known)


@route("POST", f"/api/datasets/{_ID}/super-squash/{_REVISION}", repo_writer)
def squash(request: Request) -> Response:
    repo, title = request.repo, request.json(_Message).message or "squashed"
    return Response({"commitOid": repo.squash(uploads.branch(repo, request.revision), title, request.writer).id})


@route("GET", f"/api/datasets/{_ID}/auth-check", contents_reader)
def auth_check(request: Request) -> Response:
    return Response({})


@route("PUT", f"/api/datasets/{_ID}/settings", owner)
def settings(request: Request) -> Response:
    sent = request.json(_Settings)
    known = {name: value for name, value in msgspec.structs.asdict(sent).items() if value is not None}
    if visibility := known.pop("visibility", None):
        known["private"] = visibility == "private"
    request.repo.create(**known)
    return Response(known)


@route("POST", f"/api/datasets/{_ID}/branch/{_REVISION}", repo_writer)
def branch(request: Request) -> Response:
    repo, ref, start = request.repo, names.ref(request.revision), request.json(_Branch).starting_point
    with repo.lock:
        if ref in repo.refs():
            return Response({"error": f"Reference already exists: {ref}"}, 409)
        _require_branch(ref)
        repo.point(ref, repo.find(start or "main").id)
    return Response({})


@route("DELETE", f"/api/datasets/{_ID}/branch/{_REVISION}", repo_writer)
def delete_branch(request: Request) -> Response:
    ref = names.ref(request.revision)
    if ref == names.MAIN:
        raise HubError(403, "Forbidden", "The branch main cannot be deleted.")
    _require_branch(ref)
    request.repo.point(ref, None)
    return Response({})


def _require_branch(ref: str) -> None:
    if not ref.startswith(("refs/heads/", "refs/convert/")):
        raise HubError(400, "BadRequest", f"{ref} is not a branch.")


@route("POST", f"/api/datasets/{_ID}/tag/{_REVISION}", repo_writer)
def tag(request: Request) -> Response:
    repo, ref = request.repo, _tag(request.json(_Tag).tag)
    with repo.lock:
        commit = repo.find(request.revision).id
        if ref in repo.refs():
            return Response({"error": f"Tag reference exists already: {ref}"}, 409)
        repo.point(ref, commit)
    return Response({})


@route("DELETE", f"/api/datasets/{_ID}/tag/{_REVISION}", repo_writer)
def delete_tag(request: Request) -> Response:
    request.repo.point(_tag(request.revision), None)
    return Response({})


def _tag(name: str) -> str:
    ref = names.ref(name, "tags")
    if not ref.startswith("refs/tags/"):
        raise HubError(400, "BadRequest", f"{ref} is not a tag.")
    return ref


@route("POST", f"/api/datasets/{_ID}/preupload/{_REVISION}", repo_writer, max_bytes=4 << 20)
def preupload(request: Request) -> Response:
    files = uploads.upload_modes(request.repo, request.revision, request.json(_Files).files)
    return Response({"files": files, "commitOid": request.commit.id})


@route("POST", rf"/datasets/{_ID}\.git/info/lfs/objects/batch", repo_writer)
def lfs_batch(request: Request) -> Response:
    url = f"{request.origin}/datasets/{request.id}.git/info/lfs"

    def upload_url(content: uploads.LargeObject) -> str:
        what = {"user": request.writer, "size": str(content.size)}
        link = request.access.signed("upload", request.id, content.oid, *what.values())
        return f"{url}/upload/{content.oid}?{urlencode(what)}&{link}"

    known = uploads.LargeFiles(request.hub, request.repo, request.writer)
    objects = uploads.lfs_batch(known, request.json(_Objects).objects, upload_url, f"{url}/verify")
    return Response({"transfer": "basic", "objects": objects})


def _uploader(request: Request) -> None:
    """Whoever has the link that `lfs_batch` signed, for as many bytes as were announced."""
    user, size = (request.query.get(name, [""])[0] for name in ("user", "size"))
    _require_signature(request, "upload", request.id, request.parts["sha256"], user, size)
    if str(request.length) != size:
        raise HubError(400, "BadRequest", f"{request.length} bytes were announced as {size}.")


@route("PUT", rf"/datasets/{_ID}\.git/info/lfs/upload/(?P<sha256>[0-9a-f]{{64}})", _uploader, max_bytes=1 << 50)
def lfs_upload(request: Request) -> Response:
    sha256 = names.oid(request.parts["sha256"])
    try:
        request.hub.blobs.add(request.pieces(), sha256)
    except ContentMismatchError as error:
        raise HubError(422, "BadRequest", str(error)) from error
    request.hub.uploads.add(request.query["user"][0], sha256)
    return Response({})


@route("POST", rf"/datasets/{_ID}\.git/info/lfs/verify", repo_writer)
def lfs_verify(request: Request) -> Response:
    oid = names.oid(request.json(uploads.LargeObject).oid)
    if uploads.LargeFiles(request.hub, request.repo, request.writer).find(oid) is None:
        raise HubError(404, "EntryNotFound", "The content was never uploaded.")
    return Response({})


@route("POST", f"/api/datasets/{_ID}/commit/{_REVISION}", repo_writer, max_bytes=uploads.MAX_COMMIT)
def commit(request: Request) -> Response:
    repo, pull = request.repo, request.flag("create_pr")
    lines = request.lines(uploads.MAX_LINE)
    made = uploads.commit(request.hub, repo, request.revision, lines, request.writer, pull)
    url = f"{request.origin}/datasets/{repo.id}"
    shown = {"success": True, "commitOid": made.id, "commitUrl": f"{url}/commit/{made.id}", "hookOutput": ""}
    if pull:
        number = next(ref.rpartition("/")[2] for ref, id in repo.refs().items() if id == made.id and "/pr/" in ref)
        shown["pullRequestUrl"] = f"{url}/discussions/{number}"
    return Response(shown)


@route("POST", f"/api/datasets/{_ID}/discussions/(?P<number>[0-9]+)/merge", repo_writer)
def merge(request: Request) -> Response:
    return Response({"mergeCommitId": uploads.merge(request.repo, request.parts["number"], request.writer).id})


@route("GET", f"/api/datasets/{_ID}(?:/revision/{_REVISION})?", reader)
def info(request: Request) -> Response:
    commit, expand = request.commit, request.query.get("expand")
    shown = json_views.repo_info(request.hub, request.repo, commit, request.flag("blobs"), expand)
    return Response(shown, headers={"X-Repo-Commit": commit.id})


@route("GET", f"/datasets/{_ID}/(?:resolve|raw)/{_REVISION}/{_PATH}", contents_reader)
def resolve(request: Request) -> Response:
    id, path, commit = request.id, request.file, request.commit
    if path not in commit.files:
        raise HubError(404, "EntryNotFound", f"{path} does not exist on {request.revision!r}.")
    file = commit.files[path]
    headers = {"X-Repo-Commit": commit.id, "ETag": f'"{json_views.oid(file)}"', "Accept-Ranges": "bytes"}
    if not file.is_lfs:
        return Response(file=request.hub.open(file), size=file.size, headers=headers)
    headers |= {"X-Linked-Etag": f'"{file.sha256}"', "X-Linked-Size": str(file.size)}
    link = request.access.signed("contents", id, commit.id, path)
    headers["Location"] = f"{request.lfs_origin}/contents/{id}/{commit.id}/{request.parts['path']}?{link}"
    return Response({}, 302, headers)


def _linked(request: Request) -> None:
    """Whoever has the link that `resolve` signed."""
    _require_signature(request, "contents", request.id, request.revision, request.file)


@route("GET", f"/contents/{_ID}/(?P<revision>[0-9a-f]{{40}})/{_PATH}", _linked)
def contents(request: Request) -> Response:
    """A large file."""
    file = request.commit.files[request.file]
    headers = {"ETag": f'"{file.sha256}"', "Accept-Ranges": "bytes"}
    return Response(file=request.hub.open(file), size=file.size, headers=headers)


def _require_signature(request: Request, *what: str) -> None:
    until, signature = (request.query.get(name, [""])[0] for name in ("until", "signature"))
    request.access.require_signature(what, until, signature)
