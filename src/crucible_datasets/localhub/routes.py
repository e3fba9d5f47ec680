"""The routes of repositories: their listings, commits, files and uploads."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, unquote

from crucible_datasets.exceptions import ContentMismatchError
from crucible_datasets.localhub import json_views, uploads
from crucible_datasets.localhub.errors import HubError
from crucible_datasets.localhub.routing import PAGE, Request, Response, paged, route

_ID = r"(?P<id>[^/]+(?:/[^/]+)?)"
_REVISION = r"(?P<revision>[^/]+)"
_PATH = r"(?P<path>.+)"


@route("GET", "/api/whoami-v2")
def who(request: Request) -> Response:
    user = request.user
    if user is None:
        raise HubError(401, "Unauthorized", "Invalid username or password.")
    token = {"displayName": "local", "role": user["role"]}
    return Response(
        {"type": "user", "name": user["name"], "fullname": user["name"], "orgs": [], "auth": {"accessToken": token}}
    )


@route("GET", "/api/datasets")
def listing(request: Request) -> Response:
    words, author = request.query.get("search", []), request.query.get("author", [""])[0]
    shown = []
    for name in request.hub.names():
        repo = request.hub.repo(name)
        if not repo.exists or (repo.settings["private"] and request.user is None):
            continue
        if all(word.lower() in name.lower() for word in words) and (not author or name.startswith(f"{author}/")):
            shown.append(json_views.repo_info(request.hub, repo, repo.find("main")))
    shown = [one for one in shown if _is_wanted(request, one)]
    if (by := request.query.get("sort", [""])[0]) in {"lastModified", "createdAt"}:
        shown.sort(key=lambda one: str(one[by]), reverse=True)
    return paged(request, shown)


def _is_wanted(request: Request, shown: Mapping[str, Any]) -> bool:
    is_gated = bool(shown["gated"])
    return set(request.query.get("filter", [])) <= set(shown["tags"]) and (
        "gated" not in request.query or request.flag("gated") is is_gated
    )


@route("POST", "/api/validate-yaml")
def validate(request: Request) -> Response:
    request.content()
    return Response({"errors": [], "warnings": []})


@route("POST", "/api/repos/create")
def create(request: Request) -> Response:
    user, wanted = request.access.require_write(request.user), request.json()
    if wanted.get("type", "model") != "dataset":
        raise HubError(400, "BadRequest", f"This hub holds datasets, not a {wanted.get('type', 'model')}.")
    name = wanted["name"] if "/" in wanted["name"] else f"{wanted.get('organization') or user['name']}/{wanted['name']}"
    repo = request.hub.repo(name)
    url = f"{request.origin}/datasets/{name}"
    if repo.exists:
        return Response({"error": "You already created this dataset repo", "url": url, "name": name, "id": name}, 409)
    repo.create(private=bool(wanted.get("private") or wanted.get("visibility") == "private"))
    return Response({"url": url, "name": name, "id": name})


@route("DELETE", "/api/repos/delete")
def delete(request: Request) -> Response:
    user, wanted = request.access.require_write(request.user), request.json()
    name = wanted["name"] if "/" in wanted["name"] else f"{wanted.get('organization') or user['name']}/{wanted['name']}"
    repo = request.hub.repo(name)
    request.access.require_read(repo, user)
    if (plain := request.hub.plain(repo)) is not None:
        raise HubError(403, "Forbidden", f"{name} is the folder {plain} on the server: remove it there.")
    shutil.rmtree(repo.folder)
    return Response({})


@route("POST", "/api/repos/move")
def move(request: Request) -> Response:
    user, wanted = request.access.require_write(request.user), request.json()
    repo, to = request.hub.repo(wanted["fromRepo"]), request.hub.repo(wanted["toRepo"])
    request.access.require_read(repo, user)
    if (plain := request.hub.plain(repo)) is not None:
        raise HubError(403, "Forbidden", f"{repo.id} is the folder {plain} on the server: rename it there.")
    if to.exists:
        raise HubError(409, "Conflict", f"{to.id} exists already.")
    os.makedirs(os.path.dirname(to.folder), exist_ok=True)
    os.rename(repo.folder, to.folder)
    return Response({})


@route("GET", f"/api/datasets/{_ID}/tree/{_REVISION}(?:/{_PATH})?")
def tree(request: Request) -> Response:
    commit, folder = request.commit, unquote(request.parts["path"]).strip("/")
    entries = json_views.tree(commit, folder, request.flag("recursive"))
    if folder and not entries:
        raise HubError(404, "EntryNotFound", f"{folder} does not exist on {request.revision!r}.")
    return paged(request, entries, {"X-Repo-Commit": commit.id})


@route("POST", f"/api/datasets/{_ID}/paths-info/{_REVISION}")
def paths_info(request: Request) -> Response:
    commit, sent = request.commit, request.content()
    is_json = request.headers.get("Content-Type", "").startswith("application/json")
    asked = json.loads(sent)["paths"] if is_json else parse_qs(sent.decode()).get("paths", [])
    found: list[Any] = []
    for path in [asked] if isinstance(asked, str) else asked:
        if path in commit.files:
            found.append(json_views.entry(path, commit.files[path], commit))
        elif any(name.startswith(f"{path}/") for name in commit.files):
            found += [one for one in json_views.tree(commit, path.rpartition("/")[0], False) if one["path"] == path]
    return Response(found)


@route("GET", f"/api/datasets/{_ID}/refs")
def refs(request: Request) -> Response:
    return Response(json_views.refs(request.repo))


@route("GET", f"/api/datasets/{_ID}/commits/{_REVISION}")
def commits(request: Request) -> Response:
    shown = json_views.commits(request.repo, request.revision)
    known = {"X-Total-Count": str(len(shown))}
    if "p" not in request.query:
        return paged(request, shown, known)
    page, size = int(request.query["p"][0]), int(request.query.get("limit", [str(PAGE)])[0])
    return Response(shown[page * size : (page + 1) * size], headers=known)


@route("POST", f"/api/datasets/{_ID}/super-squash/{_REVISION}")
def squash(request: Request) -> Response:
    repo, name = request.writable_repo()
    ref = uploads.branch(repo, request.revision)
    return Response({"commitOid": repo.squash(ref, str(request.json().get("message") or "squashed"), name).id})


@route("GET", f"/api/datasets/{_ID}/auth-check")
def auth_check(request: Request) -> Response:
    request.access.require_read(request.repo, request.user, contents=True)
    return Response({})


@route("PUT", f"/api/datasets/{_ID}/settings")
def settings(request: Request) -> Response:
    repo, _ = request.writable_repo()
    sent = request.json()
    known = {name: sent[name] for name in ("private", "gated", "allowed") if name in sent}
    if "visibility" in sent:
        known["private"] = sent["visibility"] == "private"
    repo.create(**known)
    return Response(known)


@route("POST", f"/api/datasets/{_ID}/branch/{_REVISION}")
def branch(request: Request) -> Response:
    repo, _ = request.writable_repo()
    ref = _ref("heads", request.revision)
    if ref in repo.refs():
        return Response({"error": f"Reference already exists: {ref}"}, 409)
    repo.point(ref, repo.find(request.json().get("startingPoint") or "main").id)
    return Response({})


@route("DELETE", f"/api/datasets/{_ID}/branch/{_REVISION}")
def delete_branch(request: Request) -> Response:
    repo, _ = request.writable_repo()
    if request.revision == "main":
        raise HubError(403, "Forbidden", "The branch main cannot be deleted.")
    repo.point(_ref("heads", request.revision), None)
    return Response({})


@route("POST", f"/api/datasets/{_ID}/tag/{_REVISION}")
def tag(request: Request) -> Response:
    repo, _ = request.writable_repo()
    ref, commit = _ref("tags", request.json()["tag"]), repo.find(request.revision).id
    if ref in repo.refs():
        return Response({"error": f"Tag reference exists already: {ref}"}, 409)
    repo.point(ref, commit)
    return Response({})


@route("DELETE", f"/api/datasets/{_ID}/tag/{_REVISION}")
def delete_tag(request: Request) -> Response:
    repo, _ = request.writable_repo()
    repo.point(_ref("tags", request.revision), None)
    return Response({})


def _ref(kind: str, name: str) -> str:
    return name if name.startswith("refs/") else f"refs/{kind}/{name}"


@route("POST", f"/api/datasets/{_ID}/preupload/{_REVISION}")
def preupload(request: Request) -> Response:
    repo, _ = request.writable_repo()
    files = uploads.upload_modes(repo, request.revision, request.json()["files"])
    return Response({"files": files, "commitOid": repo.find(request.revision).id})


@route("POST", rf"/datasets/{_ID}\.git/info/lfs/objects/batch")
def lfs_batch(request: Request) -> Response:
    request.writable_repo()
    here = f"{request.origin}/datasets/{request.parts['id']}.git/info/lfs"
    objects = uploads.lfs_batch(request.hub, request.json()["objects"], f"{here}/upload", f"{here}/verify")
    return Response({"transfer": "basic", "objects": [_signed(request, one) for one in objects]})


def _signed(request: Request, response: dict[str, Any]) -> dict[str, Any]:
    if "actions" in response:
        upload = response["actions"]["upload"]
        upload["href"] += f"?{request.access.signed('put ' + response['oid'])}"
    return response


@route("PUT", rf"/datasets/{_ID}\.git/info/lfs/upload/(?P<sha256>[0-9a-f]{{64}})")
def lfs_upload(request: Request) -> Response:
    sha256 = request.parts["sha256"]
    _require_signature(request, f"put {sha256}")
    try:
        request.hub.blobs.add(request.pieces(), sha256)
    except ContentMismatchError as error:
        raise HubError(422, "BadRequest", str(error)) from error
    return Response({})


@route("POST", rf"/datasets/{_ID}\.git/info/lfs/verify")
def lfs_verify(request: Request) -> Response:
    sent = request.json()
    if not request.hub.blobs.has(str(sent["oid"])):
        raise HubError(404, "EntryNotFound", "The content is not here.")
    return Response({})


@route("POST", f"/api/datasets/{_ID}/commit/{_REVISION}")
def commit(request: Request) -> Response:
    (repo, name), pull = request.writable_repo(), request.flag("create_pr")
    lines = request.content().splitlines()
    made = uploads.commit(request.hub, repo, request.revision, lines, name, pull)
    url = f"{request.origin}/datasets/{repo.id}"
    shown = {"success": True, "commitOid": made.id, "commitUrl": f"{url}/commit/{made.id}", "hookOutput": ""}
    if pull:
        number = next(ref.rpartition("/")[2] for ref, id in repo.refs().items() if id == made.id and "/pr/" in ref)
        shown["pullRequestUrl"] = f"{url}/discussions/{number}"
    return Response(shown)


@route("POST", f"/api/datasets/{_ID}/discussions/(?P<number>[0-9]+)/merge")
def merge(request: Request) -> Response:
    repo, name = request.writable_repo()
    return Response({"mergeCommitId": uploads.merge(repo, request.parts["number"], name).id})


@route("GET", f"/api/datasets/{_ID}(?:/revision/{_REVISION})?")
def info(request: Request) -> Response:
    shown = json_views.repo_info(
        request.hub, request.repo, request.commit, request.flag("blobs"), request.query.get("expand")
    )
    return Response(shown, headers={"X-Repo-Commit": request.commit.id})


@route("GET", f"/datasets/{_ID}/(?:resolve|raw)/{_REVISION}/{_PATH}")
def resolve(request: Request) -> Response:
    repo, path = request.repo, unquote(request.parts["path"])
    request.access.require_read(repo, request.user, contents=True)
    commit = request.commit
    if path not in commit.files:
        raise HubError(404, "EntryNotFound", f"{path} does not exist on {request.revision!r}.")
    file = commit.files[path]
    headers = {"X-Repo-Commit": commit.id, "ETag": f'"{json_views.oid(file)}"', "Accept-Ranges": "bytes"}
    if not file.is_lfs:
        return Response(file=request.hub.open(file), size=file.size, headers=headers)
    headers |= {"X-Linked-Etag": f'"{file.sha256}"', "X-Linked-Size": str(file.size)}
    what = f"{repo.id}/{commit.id}/{path}"
    headers["Location"] = (
        f"{request.lfs_origin}/contents/{repo.id}/{commit.id}/{request.parts['path']}?{request.access.signed(what)}"
    )
    return Response({}, 302, headers)


@route("GET", f"/contents/{_ID}/(?P<revision>[0-9a-f]{{40}})/{_PATH}")
def contents(request: Request) -> Response:
    """A large file, by a signed link from `resolve`."""
    repo, path = request.hub.repo(unquote(request.parts["id"])), unquote(request.parts["path"])
    _require_signature(request, f"{repo.id}/{request.revision}/{path}")
    file = repo.find(request.revision).files[path]
    headers = {"ETag": f'"{file.sha256}"', "Accept-Ranges": "bytes"}
    return Response(file=request.hub.open(file), size=file.size, headers=headers)


def _require_signature(request: Request, what: str) -> None:
    until, signature = (request.query.get(name, [""])[0] for name in ("until", "signature"))
    request.access.require_signature(what, until, signature)
