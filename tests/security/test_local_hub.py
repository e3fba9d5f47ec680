"""The local Hub against hostile clients, over real sockets: every route, with hostile names, references and bodies."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote, urlsplit

import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError

from crucible_datasets.localhub import buckets, bucketwrites, routes, routing
from crucible_datasets.localhub.access import Access
from crucible_datasets.localhub.repos import _loaded
from crucible_datasets.localhub.server import serving

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

SECRET = b"the answers of the test\n" * 10
OID = hashlib.sha256(SECRET).hexdigest()
USERS = {"alice": "write", "bob": "write", "carol": "read"}


@pytest.fixture
def root(tmp_path):
    """A hub with a public and a gated dataset of alice, a plain folder, and a bucket; next to it a file to look for."""
    root = tmp_path / "hub"
    for folder in ("acme/plain", "buckets/acme/stuff"):
        (root / folder).mkdir(parents=True)
        (root / folder / "a.csv").write_text("a\n1\n")
    (root / "tokens.json").write_text(json.dumps({name: {"name": name, "role": role} for name, role in USERS.items()}))
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("classified")
    return root


@pytest.fixture
def server(root, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    with serving(str(root)) as server:
        yield server


@pytest.fixture
def alice(server):
    api = HfApi(endpoint=server.endpoint, token="alice")
    for name in ("open", "gated"):
        api.create_repo(f"alice/{name}", repo_type="dataset")
    api.upload_file(path_or_fileobj=SECRET, path_in_repo="s.bin", repo_id="alice/gated", repo_type="dataset")
    api.upload_file(path_or_fileobj=b"hello", path_in_repo="a.txt", repo_id="alice/open", repo_type="dataset")
    api.update_repo_settings("alice/gated", repo_type="dataset", gated="manual")
    return api


@pytest.fixture
def bob(server, alice):
    return HfApi(endpoint=server.endpoint, token="bob")


def exchange(server, sent: bytes, is_enough=lambda received: False) -> bytes:
    """What comes back for some bytes, to the end of the connection, or until it is enough."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        connection.sendall(sent)
        received = b""
        while not is_enough(received) and (block := connection.recv(1 << 16)):
            received += block
        return received


def is_complete(received: bytes) -> bool:
    """Whether these bytes are a response with its body."""
    head, end, body = received.partition(b"\r\n\r\n")
    return bool(end) and len(body) >= int(re.search(rb"Content-Length: (\d+)", head)[1])


def ask(server, method, path, body=b"", token=None, headers=(), length=None):
    """The status, headers and body of the response to one request; `length` is what it says of its body."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{server.server_port}", "Connection: close", *headers]
    if token is not None:
        lines.append(f"Authorization: Bearer {token}")
    if body or length is not None:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    received = exchange(server, "\r\n".join([*lines, "", ""]).encode("latin-1") + body, is_complete)
    head, _, content = received.partition(b"\r\n\r\n")
    status, *rest = head.decode("latin-1").split("\r\n")
    fields = dict(line.split(": ", 1) for line in rest)
    return SimpleNamespace(status=int(status.split()[1]), headers=fields, body=content, text=content.decode("latin-1"))


def send(server, method, path, value, token=None):
    return ask(server, method, path, json.dumps(value).encode(), token, ["Content-Type: application/json"])


def commit(server, id, path, oid, token="bob", revision="main"):
    lines = [{"key": "header", "value": {"summary": "s"}}]
    lines.append({"key": "lfsFile", "value": {"path": path, "algo": "sha256", "oid": oid, "size": len(SECRET)}})
    body = "\n".join(map(json.dumps, lines)).encode()
    return ask(server, "POST", f"/api/datasets/{id}/commit/{revision}", body, token)


# Every route once: what is in braces is replaced by good and by hostile values.
_REPO = "/api/datasets/{id}"
TEMPLATES = [
    ("GET", "/api/whoami-v2"),
    ("GET", "/api/datasets"),
    ("POST", "/api/validate-yaml"),
    ("POST", "/api/repos/create"),
    ("DELETE", "/api/repos/delete"),
    ("POST", "/api/repos/move"),
    ("GET", _REPO + "/tree/{revision}/{path}"),
    ("POST", _REPO + "/paths-info/{revision}"),
    ("GET", _REPO + "/refs"),
    ("GET", _REPO + "/commits/{revision}"),
    ("POST", _REPO + "/super-squash/{revision}"),
    ("GET", _REPO + "/auth-check"),
    ("PUT", _REPO + "/settings"),
    ("POST", _REPO + "/branch/{revision}"),
    ("DELETE", _REPO + "/branch/{revision}"),
    ("POST", _REPO + "/tag/{revision}"),
    ("DELETE", _REPO + "/tag/{revision}"),
    ("POST", _REPO + "/preupload/{revision}"),
    ("POST", "/datasets/{id}.git/info/lfs/objects/batch"),
    ("PUT", "/datasets/{id}.git/info/lfs/upload/{oid}"),
    ("POST", "/datasets/{id}.git/info/lfs/verify"),
    ("POST", _REPO + "/commit/{revision}"),
    ("POST", _REPO + "/discussions/{number}/merge"),
    ("GET", _REPO + "/revision/{revision}"),
    ("GET", "/datasets/{id}/resolve/{revision}/{path}"),
    ("GET", "/contents/{id}/{commit}/{path}"),
    ("GET", "/api/buckets/{id}"),
    ("GET", "/api/buckets/{id}/tree/{path}"),
    ("POST", "/api/buckets/{id}/paths-info"),
    ("GET", "/buckets/{id}/resolve/{path}"),
    ("POST", "/api/buckets/{id}"),
    ("GET", "/api/buckets/{id}/xet-write-token"),
    ("POST", "/api/buckets/{id}/batch"),
]
FINE = {"id": "alice/open", "revision": "main", "path": "a.txt", "oid": OID, "number": "1", "commit": "0" * 40}
WRITES = {routing.writer, routing.repo_writer, routing.owner, bucketwrites.bucket_writer}

HOSTILE = {
    "id": [
        *("../../outside", "..%2F..", "%2e%2e/%2e%2e", ".git/x", "alice/..", "alice/refs", "alice/repo.json"),
        *(
            "alice/open.git",
            "a" * 97 + "/x",
            "alice/" + "é" * 200,
            "alice/%00",
            "alice/o%0Apen",
            "alice/%FF",
            "%2Falice",
        ),
        *("alice/%ED%A0%80", "alice%5C..", "alice/PLAIN.JSON", "a--b/c", "-/x", "%2e/x"),
    ],
    "revision": [
        *(
            "..%2F..%2Foutside",
            "%00",
            "a%0Ab",
            "%FF",
            "refs%2Fpr%2Fx",
            "refs%2Fpr%2F01",
            "refs%2Fother%2Fx",
            "refs%2Fheads%2F",
        ),
        *(
            "refs%2Fheads%2Frefs%2Fheads%2Fmain",
            "a" * 300,
            "%ED%A0%80",
            "a..b",
            "a%5Cb",
            ".a",
            "a.lock",
            "%40%7B",
            "é".encode().hex() * 90,
        ),
        *("0123456789abcdef" * 2 + "01234567", "%2F", "refs%2Fpr%2F" + "9" * 5000, "~", "a%20b"),
    ],
    "path": [
        *(
            "../a",
            "..%2F..%2Foutside%2Fsecret.txt",
            "%2Fetc%2Fpasswd",
            "a%0Ab",
            "a%0D%0AX-A:%20b",
            "%00",
            "%FF",
            "%ED%A0%80",
        ),
        *(
            ".git/config",
            ".GIT/config",
            ".Git%20/config",
            ".g%E2%80%8Bit/x",
            "GIT~1/config",
            ".git::$INDEX_ALLOCATION/x",
        ),
        *(
            "a" * 300,
            "a/" * 3000 + "a",
            "a//b",
            "./a",
            "a/./b",
            "a%5Cb",
            "C:/x",
            "%C2%85",
            "%E2%80%A8",
            ".g%C4%B1t/../x",
        ),
    ],
    "oid": [
        "%2Fetc%2Fpasswd",
        "..%2F" * 12 + "etc%2Fpasswd",
        "0" * 63,
        "0" * 65,
        "G" * 64,
        OID.upper(),
        "0" * 63 + "%0A",
        "",
    ],
    "number": ["0", "01", "9" * 5000, "-1", "%31%0A", "٣"],
    "commit": ["0" * 39, "0" * 40 + "%0A", "..%2F" + "0" * 40],
}
BODIES = [
    *(
        b"",
        b"{",
        b"[]",
        b"null",
        b"0",
        b'"x"',
        b"{}",
        b"\xff\xfe",
        b'{"a":' * 5000,
        b"[" * 100_000,
        b'{"name":"\\ud800"}',
    ),
    *(
        b'{"name":1,"paths":1,"files":1,"objects":1,"tag":1,"oid":1,"fromRepo":1,"key":1}',
        b"\n\n\n",
        b"paths=%FF&paths=%00",
    ),
    b'{"key":"file","value":null}\n{"key":"lfsFile","value":{}}',
    b'{"key":"header","value":{"parentCommit":7}}',
    b'{"key":"file","value":{"path":"a","content":"%%","encoding":"base64"}}',
    '{"key":"file","value":{"path":"a","content":"é","encoding":"base64"}}'.encode(),
    b'{"files":[{"path":"a","size":-1}]}',
    b'{"files":[{"path":"a","size":1e400}]}',
    b'{"objects":[{"oid":"/etc/passwd","size":"x"}]}',
    b'{"startingPoint":["x"],"tag":{"x":1},"message":[]}',
    b'{"name":"/alice","type":"dataset"}',
    b'{"name":"../x","type":"dataset"}',
    b'{"fromRepo":"../x","toRepo":"alice"}',
    b'{"private":"yes","gated":7,"allowed":"x"}',
    b'{"visibility":["x"]}',
    b'{"type":"addFile","path":"../../outside/secret.txt","xetHash":"' + b"0" * 64 + b'"}',
    b'{"type":"addFile","path":"x","xetHash":"../../x"}',
    b'{"type":"deleteFile","path":"../../outside/secret.txt"}',
]


def filled(template, **values):
    return re.sub(r"\{(\w+)\}", lambda match: {**FINE, **values}[match[1]], template)


def route_of(method, template):
    path = filled(template)
    return next(route for route in routing.ROUTES if route.method == method and route.pattern.fullmatch(path))


def test_every_route_is_attacked_here():
    assert [route_of(*template) for template in TEMPLATES] != []
    assert {id(route_of(*template)) for template in TEMPLATES} == {id(route) for route in routing.ROUTES}
    assert {buckets.info, routes.info} <= {route.function for route in routing.ROUTES}


def outside_of(root):
    """What is there except in the hub's own folders."""
    return {
        str(path): path.read_bytes() for path in root.parent.rglob("*") if path.is_file() and "hub" not in path.parts
    }


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_name_is_refused_by_every_route(server, alice, root, kind):
    before = outside_of(root)
    statuses = []
    for method, template in TEMPLATES:
        if f"{{{kind}}}" not in template:
            continue
        for value in HOSTILE[kind]:
            path = filled(template, **{kind: quote(value, safe="/%:~$")})
            answer = ask(server, method, path, b"{}", "alice")
            statuses.append((answer.status, method, path[:150]))
            assert "classified" not in answer.text
            assert "X-A" not in answer.headers
    assert [one for one in statuses if not 400 <= one[0] < 500] == []
    assert outside_of(root) == before
    assert ask(server, "GET", "/datasets/alice/open/resolve/main/a.txt").body == b"hello"


def test_a_hostile_body_is_refused_by_every_route(server, alice, root):
    before, wrong = outside_of(root), []
    for method, template in TEMPLATES:
        if method == "GET":
            continue
        for body in BODIES:
            for kind in ("application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"):
                answer = ask(server, method, filled(template), body, "alice", [f"Content-Type: {kind}"])
                if answer.status >= 500 and answer.status != 501:
                    wrong.append((answer.status, method, template, body[:60], answer.text))
    assert wrong == []
    assert outside_of(root) == before


@pytest.mark.parametrize("number", ["x", "-1", "1e3", "", "9" * 5000, "٣", "²", "1.5", "+1", "%00", "0x10"])
@pytest.mark.parametrize("name", ["limit", "cursor", "p"])
def test_a_page_is_a_number(server, alice, name, number):
    paths = ["/api/datasets/alice/open/commits/main"]
    paths += ["/api/datasets", "/api/datasets/alice/open/tree/main", "/api/buckets/acme/stuff/tree"] * (name != "p")
    for path in paths:
        assert ask(server, "GET", f"{path}?{name}={quote(number, safe='%')}").status == 400, path
    assert ask(server, "GET", "/api/datasets?limit=0").status == 400  # its next page would be itself


def test_no_page_is_longer_than_others(server, alice, monkeypatch):
    monkeypatch.setattr(routing, "PAGE", 1)
    answer = ask(server, "GET", "/api/datasets?limit=100000")
    assert len(json.loads(answer.body)) == 1 and "cursor=1" in answer.headers["Link"]


@pytest.mark.parametrize("template", TEMPLATES, ids=" ".join)
def test_permission_comes_before_the_body(server, alice, template):
    """250 MB are announced and never sent: a server that waited for them would not answer."""
    method, path = template[0], filled(template[1])
    route = route_of(*template)
    if route.permission in WRITES:
        assert ask(server, method, path, length=250 << 20).status == 401
        assert ask(server, method, path, length=250 << 20, token="nobody").status == 401
        if route.permission is not bucketwrites.bucket_writer:
            assert ask(server, method, path, length=250 << 20, token="carol").status == 403
    else:
        assert ask(server, method, path, length=1 << 51).status >= 400


@pytest.mark.parametrize("template", TEMPLATES, ids=" ".join)
def test_a_body_beyond_the_bound_of_its_route_is_not_read(server, alice, template):
    template = (template[0], template[1].replace("/api/buckets/{id}", "/api/buckets/acme/stuff"))
    route = route_of(*template)
    if route.permission in {routes._uploader, routes._linked, routing.reader, routing.contents_reader, routing.anyone}:
        token = None
    else:
        token = "alice"
    status = ask(server, template[0], filled(template[1]), length=route.max_bytes + 1, token=token).status
    assert status == 413 or (route.permission not in WRITES and status in {401, 403, 404})


def test_a_file_that_belongs_into_lfs_is_refused_without_keeping_it_in_memory(server, alice):
    start = b'{"key":"file","value":{"path":"a","encoding":"base64","content":"'
    answer = ask(server, "POST", "/api/datasets/alice/open/commit/main", start + b"A" * (17 << 20), "alice")
    assert (answer.status, "LFS" in answer.text) == (413, True)


def test_an_upload_has_the_announced_size(server, alice):
    content = {"oid": hashlib.sha256(b"four").hexdigest(), "size": 4}
    batch = send(server, "POST", "/datasets/alice/open.git/info/lfs/objects/batch", {"objects": [content]}, "alice")
    link = urlsplit(json.loads(batch.body)["objects"][0]["actions"]["upload"]["href"])
    path = f"{link.path}?{link.query}"
    assert ask(server, "PUT", path, length=1 << 40).status == 400
    assert ask(server, "PUT", path.replace("size=4", "size=5"), b"fours").status == 403
    assert ask(server, "PUT", path.replace("user=alice", "user=bob"), b"four").status == 403
    assert ask(server, "PUT", path.replace("alice/open", "alice/gated"), b"four").status == 403
    assert ask(server, "PUT", path.replace(content["oid"], OID), b"four").status == 403
    assert ask(server, "PUT", path, b"five").status == 422
    assert ask(server, "PUT", path, b"four").status == 200


INNER = "DELETE /api/datasets/alice/open/branch/dev HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer alice\r\n\r\n"
HEADS = {
    "chunks": "Transfer-Encoding: chunked",
    "chunks and a length": "Transfer-Encoding: chunked\r\nContent-Length: 5",
    "chunks in other words": "Transfer-Encoding: xchunked",
    "chunks after a space": "Transfer-Encoding : chunked",
    "two lengths": "Content-Length: 0\r\nContent-Length: 200",
    "two equal lengths": "Content-Length: 3\r\nContent-Length: 3",
    "a list of lengths": "Content-Length: 3, 3",
    "a sign": "Content-Length: +3",
    "a negative length": "Content-Length: -1",
    "an underscore": "Content-Length: 1_0",
    "hexadecimal": "Content-Length: 0x10",
    "no length": "Content-Length:",
    "other digits": "Content-Length: \xb2",
    "a long number": "Content-Length: " + "9" * 5000,
    "a space before the colon": "Content-Length : 3",
    "a folded header": "X-A: b\r\n Content-Length: 3",
    "no colon": "Nonsense\r\nContent-Length: 3",
    "a bare return": "X-A: b\rContent-Length: 3",
    "a bare newline": "X-A: b\nContent-Length: 3",
    "a NUL": "X-A: \0",
    "two hosts": "Host: evil.example",
    "two tokens": "Authorization: Bearer alice\r\nAuthorization: Bearer bob",
    "two ranges": "Range: bytes=0-1\r\nRange: bytes=2-3",
    "two types": "Content-Type: a/b\r\nContent-Type: application/json",
}


@pytest.mark.parametrize("name", HEADS)
def test_a_head_that_programs_may_read_differently_is_refused(server, alice, name):
    """A proxy that reads it in another way would send what is hidden in its body as a request of its own."""
    alice.create_branch("alice/open", branch="dev", repo_type="dataset")
    start = f"POST /api/validate-yaml HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n{HEADS[name]}\r\n\r\n"
    received = exchange(server, (start + INNER).encode("latin-1"))
    assert received.startswith(b"HTTP/1.1 400 ")
    assert received.count(b"HTTP/1.1 ") == 1
    assert "refs/heads/dev" in server.hub.repo("alice/open").refs()


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET /api/datasets HTTP/1.1\r\n\r\n", 400),
        ("GET /api/datasets HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
        ("GET /api/datasets HTTP/1.1\r\nHost: x@127.0.0.1\r\n\r\n", 400),
        ("GET /api/datasets HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403),
        ("GET /api/datasets?q=\xe9 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        ("GET /api/datasets?search=%FF HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        ("GET /api/datasets?" + "&a=1" * 5000 + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        ("GET /" + "a" * 100_000 + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
        ("GET / HTTP/1.1\r\nHost: localhost\r\n" + "X: y\r\n" * 200 + "\r\n", 431),
        ("GET / HTTP/1.1\r\nHost: localhost\r\n" + f"X: {'y' * 60_000}\r\n" * 9 + "\r\n", 431),
        ("PATCH /api/datasets HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
    ],
)
def test_a_head_is_valid_and_bounded(server, head, status):
    assert exchange(server, head.encode("latin-1")).startswith(f"HTTP/1.1 {status} ".encode())


def test_more_connections_than_are_allowed_are_closed(root, monkeypatch):
    monkeypatch.setattr("crucible_datasets.localhub.server._MAX_CONNECTIONS", 3)
    with serving(str(root)) as server, ExitStack() as opened:
        for _ in range(3):
            idle = opened.enter_context(socket.create_connection(("127.0.0.1", server.server_port), timeout=20))
            idle.sendall(_head(server, "GET", "/api/whoami-v2", ["Authorization: Bearer bob"], 0))
            assert idle.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        assert _is_closed(server)
        opened.close()
        while _is_closed(server):  # until the threads have noticed
            pass
        assert ask(server, "GET", "/api/datasets").status == 200


def _is_closed(server):
    with suppress(ConnectionError):
        return exchange(server, _head(server, "GET", "/api/datasets", ["Connection: close"], 0), is_complete) == b""
    return True


def test_a_client_that_waits_is_asked_for_its_body_only_if_it_may_send_it(server, alice):
    waiting = ["Expect: 100-continue", "Content-Type: application/json"]
    path = "/api/datasets/alice/open/branch/dev"
    assert exchange(server, _head(server, "POST", path, waiting, 100)).startswith(b"HTTP/1.1 401 ")
    allowed = _head(server, "POST", path, [*waiting, "Authorization: Bearer alice", "Connection: close"], 2)
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        connection.sendall(allowed)
        assert connection.recv(1 << 16) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"{}")
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")


def _head(server, method, path, headers, length):
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: 127.0.0.1:{server.server_port}",
        *headers,
        f"Content-Length: {length}",
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def test_a_file_that_shrinks_while_it_is_sent_ends_the_connection(server, root):
    path = root / "acme" / "plain" / "big.txt"
    path.write_bytes(b"x" * (9 << 20))  # more than the buffers of the connection hold, and not LFS
    start = _head(server, "GET", "/datasets/acme/plain/resolve/main/big.txt", [], 0)
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(start)
        connection.recv(100)
        os.truncate(path, 100)
        connection.sendall(start)
        received = b""
        with suppress(ConnectionResetError):  # the second request was not read
            while block := connection.recv(1 << 20):
                received += block
    assert b"HTTP/1.1 " not in received


# Permissions


def test_a_hash_is_not_the_content(server, alice, bob):
    """The listing of a gated dataset shows the hashes of its files to everybody."""
    known = ask(server, "GET", "/api/datasets/alice/gated/tree/main").body
    assert OID in known.decode()
    bob.create_repo("bob/mine", repo_type="dataset")
    for id in ("bob/mine", "alice/open"):
        for revision in ("main", "main?create_pr=1"):
            assert commit(server, id, "stolen.bin", OID, revision=revision).status == 400
        assert ask(server, "GET", f"/datasets/{id}/resolve/main/stolen.bin").status == 404
    batch = {"objects": [{"oid": OID, "size": len(SECRET)}, {"oid": "0" * 64, "size": 1}]}
    answer = send(server, "POST", "/datasets/bob/mine.git/info/lfs/objects/batch", batch, "bob")
    entries = json.loads(answer.body)["objects"]
    assert all("actions" in entry for entry in entries)  # which does not tell whether the content is there
    bob.upload_file(path_or_fileobj=SECRET, path_in_repo="own.bin", repo_id="bob/mine", repo_type="dataset")
    assert commit(server, "alice/open", "again.bin", OID).status == 200  # who had the content may refer to it


def test_who_may_not_read_may_not_write(server, alice, bob):
    assert commit(server, "alice/gated", "copy.bin", OID).status == 403
    assert ask(server, "DELETE", "/api/datasets/alice/gated/branch/dev", token="bob").status == 403
    with pytest.raises(GatedRepoError):
        bob.hf_hub_download("alice/gated", "s.bin", repo_type="dataset")
    assert send(server, "PUT", "/api/datasets/alice/gated/settings", {"allowed": ["bob"]}, "alice").status == 200
    assert commit(server, "alice/gated", "copy.bin", OID).status == 200  # the repository holds it
    assert Path(bob.hf_hub_download("alice/gated", "copy.bin", repo_type="dataset")).read_bytes() == SECRET


def test_settings_belong_to_the_owner(server, alice, bob):
    for change in (
        {"gated": False},
        {"private": False},
        {"visibility": "public"},
        {"allowed": ["bob"]},
        {"gated": "auto"},
    ):
        for id in ("alice/gated", "alice/open", "acme/plain"):
            assert send(server, "PUT", f"/api/datasets/{id}/settings", change, "bob").status == 403
    named = {"name": "alice/gated", "type": "dataset"}
    assert send(server, "DELETE", "/api/repos/delete", named, "bob").status == 403
    moved = {"fromRepo": "alice/gated", "toRepo": "bob/taken", "type": "dataset"}
    assert send(server, "POST", "/api/repos/move", moved, "bob").status == 403
    for id in ("/alice", "alice", "alice/", "/alice/gated"):
        assert send(server, "DELETE", "/api/repos/delete", {"name": id, "type": "dataset"}, "bob").status in {
            400,
            401,
            404,
        }
        moved = {"fromRepo": id, "toRepo": "bob/taken"}
        assert send(server, "POST", "/api/repos/move", moved, "bob").status in {400, 401, 403, 404}
    assert server.hub.repo("alice/gated").settings["gated"] == "manual"
    bob.create_repo("team/of-bob", repo_type="dataset")
    bob.update_repo_settings("team/of-bob", repo_type="dataset", gated="auto")  # who creates it owns it
    bob.move_repo("team/of-bob", "team/renamed", repo_type="dataset")
    bob.update_repo_settings("team/renamed", repo_type="dataset", gated=False)
    with pytest.raises(HfHubHTTPError, match="Only the owner of team/renamed may do that: bob and team"):
        alice.delete_repo("team/renamed", repo_type="dataset")


def test_an_oid_is_no_question_about_files(server, alice, bob, root):
    url = "/datasets/alice/open.git/info/lfs/verify"
    for oid in (
        str(root / "tokens.json"),
        "/etc/passwd",
        "../../tokens.json",
        "",
        "x",
        OID[:63],
        OID.upper(),
        "/nowhere",
    ):
        assert send(server, "POST", url, {"oid": oid, "size": 1}).status == 401
        assert send(server, "POST", url, {"oid": oid, "size": 1}, "carol").status == 403
        assert send(server, "POST", url, {"oid": oid, "size": 1}, "bob").status == 400
    there, absent = (send(server, "POST", url, {"oid": oid, "size": 1}, "bob") for oid in (OID, "0" * 64))
    assert (there.status, there.body) == (404, absent.body)
    gated = "/datasets/alice/gated.git/info/lfs/verify"
    assert send(server, "POST", gated, {"oid": OID, "size": 1}, "alice").status == 200


def test_a_signed_link_is_for_one_file(server, alice):
    moved = ask(server, "GET", "/datasets/alice/gated/resolve/main/s.bin", token="alice")
    link = urlsplit(moved.headers["Location"])
    good = f"{link.path}?{link.query}"
    assert ask(server, "GET", good).body == SECRET
    for old, new in {
        "s.bin": "a.txt",
        "alice/gated": "alice/open",
        "signature=": "signature=0",
        "until=": "until=9",
    }.items():
        assert ask(server, "GET", good.replace(old, new)).status in {403, 404}
    for until in ("²", "9" * 5000, "-1", "", "x"):
        changed = re.sub(r"until=\d+", f"until={quote(until)}", good)
        assert ask(server, "GET", changed).status == 403


MAIN = ["main", "refs%2Fheads%2Fmain", "%6dain", "refs%2fheads%2fmain", "refs/heads/main", "%72efs%2Fheads%2F%6Dain"]


@pytest.mark.parametrize("name", MAIN)
def test_the_branch_main_stays_however_it_is_written(server, alice, name):
    assert ask(server, "DELETE", f"/api/datasets/alice/open/branch/{name}", token="alice").status in {403, 404}
    assert ask(server, "DELETE", f"/api/datasets/alice/open/tag/{name}", token="alice").status in {400, 404}
    answer = send(server, "POST", "/api/datasets/alice/open/tag/main", {"tag": name.replace("%2F", "/")}, "alice")
    assert ask(server, "GET", "/datasets/alice/open/resolve/main/a.txt").body == b"hello", answer.text
    assert ask(server, "GET", "/api/datasets/alice/open/refs").status == 200


def test_one_reference_has_one_name(server, alice):
    alice.create_branch("alice/open", branch="dev", repo_type="dataset")
    for name in ("dev", "refs%2Fheads%2Fdev", "%64ev"):
        assert ask(server, "POST", f"/api/datasets/alice/open/branch/{name}", b"{}", "alice").status == 409
    assert ask(server, "DELETE", "/api/datasets/alice/open/branch/refs%2Fheads%2Fdev", token="alice").status == 200
    assert list(server.hub.repo("alice/open").refs()) == ["refs/heads/main"]


def test_no_reference_hides_a_commit_or_another_reference(server, alice, bob):
    before = bob.dataset_info("alice/open").sha
    bob.upload_file(path_or_fileobj=b"evil", path_in_repo="a.txt", repo_id="alice/open", repo_type="dataset")
    for name in (before, "refs%2Fheads%2Frefs%2Fheads%2Fmain", "refs%2Fpr%2F7", "refs%2Ftags%2Fx", "refs%2Fpr%2Fx"):
        assert ask(server, "POST", f"/api/datasets/alice/open/branch/{name}", b"{}", "bob").status == 400
        tag = name.replace("%2F", "/")
        status = send(server, "POST", "/api/datasets/alice/open/tag/main", {"tag": tag}, "bob").status
        assert status == (200 if tag == "refs/tags/x" else 400)
    assert ask(server, "GET", f"/datasets/alice/open/resolve/{before}/a.txt").body == b"hello"
    request = alice.upload_file(
        path_or_fileobj=b"y", path_in_repo="y", repo_id="alice/open", repo_type="dataset", create_pr=True
    )
    assert request.pr_revision == "refs/pr/1"


_DATASETS = """
import datasets, huggingface_hub, os, pytest
api = huggingface_hub.HfApi()
rows = datasets.Dataset.from_dict({"x": list(range(100)), "text": ["é"] * 100})
rows.push_to_hub("alice/kept", private=True)
rows.select(range(10)).push_to_hub("alice/kept", "small", revision="dev")
request = rows.select(range(20)).push_to_hub("alice/kept", "asked", create_pr=True)
load = lambda *names, **options: datasets.load_dataset(*names, split="train", **options)
assert list(load("alice/kept")["x"]) == list(range(100))
assert len(load("alice/kept", "small", revision="dev")) == 10
assert len(load("alice/kept", "asked", revision="refs/pr/1")) == 20
api.merge_pull_request("alice/kept", 1, repo_type="dataset")
assert len(load("alice/kept", "asked", download_mode="force_redownload")) == 20
api.create_tag("alice/kept", tag="v1", repo_type="dataset")
assert len(load("alice/kept", revision="v1")) == 100
api.update_repo_settings("alice/kept", repo_type="dataset", gated="manual")
assert len(list(load("alice/kept", streaming=True))) == 100
theirs = dict(token="bob", cache_dir=os.environ["HF_HOME"] + "/bob")
with pytest.raises(datasets.exceptions.DatasetNotFoundError, match="gated"):
    load("alice/kept", **theirs)
with pytest.raises(huggingface_hub.errors.HfHubHTTPError, match="403"):
    rows.push_to_hub("alice/kept", "bobs", token="bob")
rows.push_to_hub("bob/own", token="bob")
assert len(load("bob/own", **theirs)) == 100
"""


def test_hugging_face_datasets_of_two_users_push_and_load(server, alice, bob, tmp_path):
    surroundings = {
        **os.environ,
        "HF_ENDPOINT": server.endpoint,
        "HF_HOME": str(tmp_path / "home"),
        "HF_DATASETS_CACHE": str(tmp_path / "home" / "datasets"),
        "HF_TOKEN": "alice",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_OFFLINE": "0",
    }
    ran = subprocess.run(
        [sys.executable, "-c", _DATASETS], env=surroundings, timeout=120, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[-3000:]


# One for all


def listed(server, token="carol"):
    answer = ask(server, "GET", "/api/datasets?full=1", token=token)
    assert answer.status == 200, answer.text
    return {entry["id"]: entry for entry in json.loads(answer.body)}


READMES = {
    "deep": b"---\na: " + b"[" * 30_000 + b"\n---\n",
    "deeper": b"---\n" + b"- " * 100_000 + b"\n---\n",
    "aliases": b"---\na: &a [1,1,1,1,1,1,1,1,1]\n"
    + b"".join(b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in range(98, 110))
    + b"---\n",
    "itself": b"---\na: &a [*a]\n---\n",
    "tags": b"---\ntags: {a: b}\nlicense: [[1], {2: 3}]\n---\n",
    "python": b"---\na: !!python/object/apply:os.system [exit]\n---\n",
    "bytes": b"---\na: \xff\xfe\n---\n",
    "number": b"---\na: " + b"9" * 5000 + b"\nb: 1970-99-99\n---\n",
    "keys": b"---\n? [a, b]\n: c\n1: 2\n---\n",
    "long": b"---\na: " + b"x" * (4 << 20) + b"\n---\n",
    "list": b"---\n- a\n---\n",
    "surrogate": b'---\na: "\\ud800"\n---\n',
    "nan": b"---\na: .nan\nb: !!binary aGk=\nc: !!set {a}\n---\n",
}


def test_a_bad_card_hides_no_other_repository(server, alice, root):
    for name, content in READMES.items():
        (root / "acme" / name).mkdir()
        (root / "acme" / name / "README.md").write_bytes(content)
    assert listed(server).keys() >= {*(f"acme/{name}" for name in READMES), "acme/plain", "alice/open"}
    for name in READMES:
        assert ask(server, "GET", f"/api/datasets/acme/{name}").status == 200


def break_settings(folder):
    (folder / "repo.json").write_text("{")


def break_settings_type(folder):
    (folder / "repo.json").write_text("[1]")


def break_commit(folder):
    for path in (folder / "commits").iterdir():
        path.write_text('{"parent": 1}')


def remove_commits(folder):
    shutil.rmtree(folder / "commits")


def remove_main(folder):
    (folder / "refs" / "refs%2Fheads%2Fmain").unlink()


def odd_refs(folder):
    for name in ("refs%2Fodd%2Fx", "nonsense", "refs%2Fpr%2Fx", "refs%2Fheads%2F", "%FF"):
        (folder / "refs" / name).write_text("0" * 40)


def break_imported(folder):
    (folder / "plain.json").write_text("[]")
    plain = folder.parents[2].joinpath(*folder.parts[-2:])
    plain.mkdir(parents=True)
    (plain / "x.txt").write_text("x")


DAMAGE = [break_settings, break_settings_type, break_commit, remove_commits, remove_main, odd_refs, break_imported]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_repository_that_cannot_be_read_is_listed_as_such_and_hides_no_other(server, alice, root, damage):
    alice.create_repo("alice/bad", repo_type="dataset", private=True)
    damage(root / "datasets" / "alice" / "bad")
    _loaded.cache_clear()
    server.hub._looked.clear()
    entries = listed(server)
    assert entries.keys() == {"acme/plain", "alice/open", "alice/gated", "alice/bad"}
    if damage is not odd_refs:
        assert entries["alice/bad"]["disabled"] is True
        assert "alice/bad" in entries["alice/bad"]["error"]
        server.hub._looked.clear()
        answer = ask(server, "GET", "/api/datasets/alice/bad", token="alice")
        assert answer.status in {404, 500} and "InternalError" not in str(answer.headers)
    assert "alice/bad" not in listed(server, token=None)  # it was private, which may be unreadable now
    ids = {info.id for info in alice.list_datasets()}
    assert {"alice/open", "alice/bad"} <= ids
    assert ask(server, "GET", "/api/datasets/alice/bad/refs", token="alice").status in {200, 404, 500}


def test_odd_files_of_a_plain_folder_block_nobody(server, alice, root, tmp_path, monkeypatch):
    plain = root / "acme" / "plain"
    os.mkfifo(plain / "pipe")
    (plain / "dangling").symlink_to("nothing")
    (plain / "loop").symlink_to("loop")
    (plain / "out").symlink_to(tmp_path / "outside" / "secret.txt")
    (plain / "folder").symlink_to(tmp_path / "outside")
    (plain / "in").symlink_to("a.csv")
    (plain / "new\nline").write_text("x")
    Path(os.fsdecode(os.fsencode(plain) + b"/\xff")).write_text("x")
    (plain / ".GIT").mkdir()
    (plain / ".GIT" / "config").write_text("[core]")
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(plain)  # the path of a socket is short
        listening.bind("socket")
        assert {file.rfilename for file in alice.dataset_info("acme/plain").siblings} == {"a.csv", "in"}
    assert listed(server).keys() == {"acme/plain", "alice/open", "alice/gated"}


def test_a_file_that_becomes_a_link_or_a_pipe_is_gone(server, root, tmp_path):
    path = root / "acme" / "plain" / "b.txt"
    path.write_text("x")
    url = "/datasets/acme/plain/resolve/main/b.txt"
    assert ask(server, "GET", url).body == b"x"
    for change in (lambda: os.mkfifo(path), lambda: path.symlink_to(tmp_path / "outside" / "secret.txt")):
        path.unlink()
        change()
        answer = ask(server, "GET", url)
        assert (answer.status, "classified" in answer.text) == (404, False)


@pytest.mark.parametrize(
    "at", ["acme/linked", "linked", "datasets/acme/linked", "datasets/linked", "buckets/acme/linked", "buckets/linked"]
)
@pytest.mark.parametrize("to", ["outside", "root", "private"])
def test_a_link_in_the_place_of_a_repository_is_not_served(server, alice, root, tmp_path, at, to):
    alice.create_repo("alice/private", repo_type="dataset", private=True)
    target = {"outside": tmp_path / "elsewhere", "root": root, "private": root / "datasets" / "alice" / "private"}[to]
    for folder in ("", "name"):
        (tmp_path / "elsewhere" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "elsewhere" / folder / "secret.txt").write_text("classified")
    link = root / at
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
    before = outside_of(root)
    names = ["acme/linked"] if "acme" in at else ["linked/name", "linked/alice", "linked"]
    assert not {*names} & listed(server).keys()
    for name in names:
        for path in (
            f"/api/datasets/{name}",
            f"/datasets/{name}/resolve/main/secret.txt",
            f"/datasets/{name}/resolve/main/tokens.json",
            f"/api/buckets/{name}/tree",
            f"/buckets/{name}/resolve/secret.txt",
        ):
            for token in (None, "bob"):
                answer = ask(server, "GET", path, token=token)
                assert 400 <= answer.status < 500 and "classified" not in answer.text, path
        send(server, "POST", "/api/repos/create", {"name": name, "type": "dataset"}, "bob")
        assert 400 <= ask(server, "GET", f"/datasets/{name}/resolve/main/secret.txt", token="bob").status < 500
    assert outside_of(root) == before


def test_requests_for_what_is_not_there_leave_nothing_behind(server, alice, root):
    before = {str(path) for path in root.rglob("*")}
    for number in range(300):
        assert ask(server, "GET", f"/api/datasets/nobody/name{number}").status == 401
    assert {str(path) for path in root.rglob("*")} == before
    assert len(server.hub._looked) < 10


def test_contents_are_for_the_owner_of_the_folder_only(server, alice, root):
    for name in ("blobs", ".uploads"):
        assert os.stat(root / name).st_mode & 0o077 == 0


@pytest.mark.parametrize("text", ["[]", "{", '{"t": {}}', '{"t": {"name": 1, "role": "write"}}', '{"t": "alice"}'])
def test_a_list_of_tokens_that_is_not_one_is_an_error(root, text):
    from crucible_datasets.exceptions import ArgumentError

    (root / "tokens.json").write_text(text)
    with pytest.raises(ArgumentError, match=r"tokens\.json"):
        Access.of(str(root))


def test_uploads_pass_through_little_memory(root, tmp_path):
    """256 MiB by LFS, and bodies that nobody may send: the server stays small."""
    command = [sys.executable, "-m", "crucible_datasets.cli", "hub", "serve", str(root), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        server = SimpleNamespace(
            server_port=int(process.stdout.readline().split(" at ")[1].split(";")[0].rsplit(":")[-1])
        )
        try:
            send(server, "POST", "/api/repos/create", {"name": "alice/open", "type": "dataset"}, "alice")
            before, content = _peak(process.pid), bytes(256 << 20)
            batch = {"objects": [{"oid": hashlib.sha256(content).hexdigest(), "size": len(content)}]}
            answer = send(server, "POST", "/datasets/alice/open.git/info/lfs/objects/batch", batch, "alice")
            link = urlsplit(json.loads(answer.body)["objects"][0]["actions"]["upload"]["href"])
            assert ask(server, "PUT", f"{link.path}?{link.query}", content).status == 200
            for path in ("/api/validate-yaml", "/api/repos/create", "/api/datasets/alice/open/commit/main"):
                with suppress(BrokenPipeError, ConnectionResetError):  # nobody reads what is sent
                    assert ask(server, "POST", path, content).status in {401, 413}
            assert _peak(process.pid) - before < 48 << 20
        finally:
            process.send_signal(2)


def _peak(pid):
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1]) << 10
