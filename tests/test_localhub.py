"""The local Hub, asked over real HTTP by huggingface_hub, by `datasets`, and by hand."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi, HfFileSystem, hf_hub_download, snapshot_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from support.command import crucible

from crucible_datasets import config
from crucible_datasets.cli import main
from crucible_datasets.localhub.blobs import blob_of
from crucible_datasets.localhub.folder import HubFolder
from crucible_datasets.localhub.mirror import mirror
from crucible_datasets.localhub.server import HubServer, serving

# huggingface_hub sends large files in a way that its own HTTP client calls old.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def root(tmp_path):
    plain = tmp_path / "hub" / "acme" / "plain"
    (plain / "data").mkdir(parents=True)
    (plain / "README.md").write_text("---\nlicense: mit\n---\n# plain\n")
    (plain / "numbers.csv").write_text("a,b\n1,2\n3,4\n")
    pq.write_table(pa.table({"x": range(100_000)}), plain / "data" / "train-00000-of-00001.parquet")
    return str(tmp_path / "hub")


@pytest.fixture
def server(root):
    with serving(root, names=["hub.example.com"]) as server:
        yield server


@pytest.fixture(autouse=True)
def a_client_of_this_machine(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)


@pytest.fixture
def api(server):
    return HfApi(endpoint=server.endpoint, token=next(iter(server.access.tokens)))


@pytest.fixture
def stranger(server):
    return HfApi(endpoint=server.endpoint, token=False)


def asked(server: HubServer, method: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def test_a_plain_folder_is_a_repository(server, stranger, tmp_path):
    info = stranger.dataset_info("acme/plain", files_metadata=True)
    assert {file.rfilename for file in info.siblings} == {
        "README.md",
        "numbers.csv",
        "data/train-00000-of-00001.parquet",
    }
    assert info.card_data["license"] == "mit"
    path = hf_hub_download(
        "acme/plain", "numbers.csv", repo_type="dataset", endpoint=server.endpoint, cache_dir=tmp_path / "cache"
    )
    assert Path(path).read_text() == "a,b\n1,2\n3,4\n"
    assert os.path.basename(os.path.dirname(path)) == info.sha


@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("created: 2020-01-02\nlicense: mit", {"created": "2020-01-02", "license": "mit"}),
        ("more: {2020-01-02: x, y: z}", {"more": {"y": "z"}}),
        ("1: one", None),
    ],
)
def test_a_card_may_hold_what_json_cannot(server, root, yaml, said):
    Path(root, "acme", "plain", "README.md").write_text(f"---\n{yaml}\n---\n")
    status, _, body = asked(server, "GET", "/api/datasets/acme/plain")
    assert (status, json.loads(body)["cardData"]) == (200, said)


def test_a_changed_folder_is_another_commit_and_the_old_one_is_not_faked(server, stranger, root, monkeypatch):
    before = stranger.dataset_info("acme/plain").sha
    Path(root, "acme", "plain", "numbers.csv").write_text("a,b\n9,9\n")
    server.hub._looked.clear()
    after = stranger.dataset_info("acme/plain").sha
    assert before != after
    status, _, body = asked(server, "GET", f"/datasets/acme/plain/resolve/{after}/numbers.csv")
    assert (status, body) == (200, b"a,b\n9,9\n")
    assert asked(server, "GET", f"/datasets/acme/plain/resolve/{before}/numbers.csv")[0] == 404


def test_what_clients_commit_to_a_plain_folder_stays(server, api, root):
    api.upload_file(repo_id="acme/plain", repo_type="dataset", path_or_fileobj=b"new", path_in_repo="numbers.csv")
    api.delete_file("README.md", "acme/plain", repo_type="dataset")
    server.hub._looked.clear()
    assert "README.md" not in api.list_repo_files("acme/plain", repo_type="dataset")
    assert asked(server, "GET", "/datasets/acme/plain/resolve/main/numbers.csv")[2] == b"new"
    Path(root, "acme", "plain", "numbers.csv").unlink()
    Path(root, "acme", "plain", "README.md").write_text("# changed later")
    server.hub._looked.clear()
    assert asked(server, "GET", "/datasets/acme/plain/resolve/main/README.md")[2] == b"# changed later"
    assert asked(server, "GET", "/datasets/acme/plain/resolve/main/numbers.csv")[2] == b"new"


def test_a_plain_folder_is_not_deleted_by_a_client(server, api, root):
    with pytest.raises(HfHubHTTPError, match="remove it there"):
        api.delete_repo("acme/plain", repo_type="dataset")
    server.hub._looked.clear()
    assert api.repo_exists("acme/plain", repo_type="dataset")
    assert Path(root, "acme", "plain", "numbers.csv").exists()


def test_links_that_lead_out_of_a_folder_are_not_served(server, stranger, root, tmp_path):
    (tmp_path / "secret").write_text("secret")
    os.symlink(tmp_path / "secret", Path(root, "acme", "plain", "innocent.txt"))
    server.hub._looked.clear()
    assert "innocent.txt" not in stranger.list_repo_files("acme/plain", repo_type="dataset")


def test_large_files_come_from_another_origin_in_ranges(server):
    path = "/datasets/acme/plain/resolve/main/data/train-00000-of-00001.parquet"
    status, headers, _ = asked(server, "HEAD", path)
    assert status == 302 and len(headers["X-Linked-Etag"].strip('"')) == 64
    elsewhere = urlsplit(headers["Location"])
    assert elsewhere.hostname == "localhost"
    link = f"{elsewhere.path}?{elsewhere.query}"
    whole = asked(server, "GET", link)[2]
    assert len(whole) == int(headers["X-Linked-Size"])
    status, headers, part = asked(server, "GET", link, Range="bytes=100-199")
    assert (status, part) == (206, whole[100:200])
    assert headers["Content-Range"] == f"bytes 100-199/{len(whole)}"
    assert asked(server, "GET", link, Range="bytes=-10")[2] == whole[-10:]
    assert asked(server, "GET", link, Range=f"bytes={len(whole)}-")[0] == 416
    assert asked(server, "GET", link.replace("signature=", "signature=0"))[0] == 403
    assert asked(server, "GET", elsewhere.path)[0] == 403
    # Behind another server, which speaks https for it.
    behind = {"Host": "hub.example.com", "X-Forwarded-Proto": "https"}
    assert asked(server, "HEAD", path, **behind)[1]["Location"].startswith("https://hub.example.com/")
    # A page of another site whose name was given this address.
    for host in ("evil.example.com", f"evil.example.com:{server.server_port}", "127.0.0.1.evil.example.com"):
        assert asked(server, "GET", "/api/datasets/acme/plain", Host=host)[0] == 403


def test_a_file_that_is_not_there_cannot_be_removed(api):
    api.create_repo("local/empty", repo_type="dataset")
    with pytest.raises(EntryNotFoundError, match="A file with this name doesn't exist"):
        api.delete_file("a.txt", "local/empty", repo_type="dataset")


def test_what_is_uploaded_is_downloaded(server, api, tmp_path):
    api.create_repo("local/made", repo_type="dataset")
    pq.write_table(pa.table({"x": range(50_000)}), tmp_path / "x.parquet")
    api.upload_file(path_or_fileobj=b"hello", path_in_repo="a/b.txt", repo_id="local/made", repo_type="dataset")
    api.upload_file(
        path_or_fileobj=tmp_path / "x.parquet", path_in_repo="x.parquet", repo_id="local/made", repo_type="dataset"
    )
    folder = snapshot_download(
        "local/made", repo_type="dataset", endpoint=server.endpoint, cache_dir=tmp_path / "cache"
    )
    assert Path(folder, "a", "b.txt").read_bytes() == b"hello"
    assert Path(folder, "x.parquet").read_bytes() == (tmp_path / "x.parquet").read_bytes()
    assert [commit.title for commit in api.list_repo_commits("local/made", repo_type="dataset")][-1] == "initial commit"


def test_revisions_stay_what_they_were(server, api):
    api.create_repo("local/revised", repo_type="dataset")
    for text in (b"one", b"two"):
        api.upload_file(path_or_fileobj=text, path_in_repo="t.txt", repo_id="local/revised", repo_type="dataset")
        api.create_tag("local/revised", tag=text.decode(), repo_type="dataset")
    api.create_branch("local/revised", branch="dev/old", revision="one", repo_type="dataset")
    api.delete_file("t.txt", "local/revised", repo_type="dataset")
    contents = {
        revision: asked(server, "GET", f"/datasets/local/revised/resolve/{revision}/t.txt")[2]
        for revision in ("one", "two", "dev%2Fold")
    }
    assert contents == {"one": b"one", "two": b"two", "dev%2Fold": b"one"}
    assert api.list_repo_files("local/revised", repo_type="dataset") == []
    with pytest.raises(RevisionNotFoundError):
        api.dataset_info("local/revised", revision="three")


def test_wrong_bytes_are_not_kept(server, api):
    sha256 = "0" * 64
    link = server.access.signed("upload", "acme/plain", sha256, "local", "14")
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    connection.request(
        "PUT", f"/datasets/acme/plain.git/info/lfs/upload/{sha256}?user=local&size=14&{link}", body=b"something else"
    )
    assert connection.getresponse().status == 422
    connection.close()
    assert not server.hub.blobs.has(sha256)


def test_private_and_gated_repositories_need_a_token(server, api, stranger):
    api.create_repo("local/hidden", repo_type="dataset", private=True)
    api.upload_file(path_or_fileobj=b"x", path_in_repo="t.txt", repo_id="local/hidden", repo_type="dataset")
    assert api.file_exists("local/hidden", "t.txt", repo_type="dataset")
    with pytest.raises(RepositoryNotFoundError):
        stranger.dataset_info("local/hidden")
    api.create_repo("local/gated", repo_type="dataset")
    server.hub.repo("local/gated").create(gated="manual")
    with pytest.raises(GatedRepoError):
        stranger.auth_check("local/gated", repo_type="dataset")
    api.auth_check("local/gated", repo_type="dataset")  # of its owner
    server.hub.repo("acme/plain").create(gated="manual")
    with pytest.raises(GatedRepoError):
        api.auth_check("acme/plain", repo_type="dataset")


def test_what_was_sent_in_vain_is_not_taken_for_the_next_request(server, api):
    api.create_repo("local/branched", repo_type="dataset")
    for _ in range(2):
        api.create_branch("local/branched", branch="dev", repo_type="dataset", exist_ok=True)
    assert api.dataset_info("local/branched", revision="dev").id == "local/branched"


def test_nobody_writes_without_a_token(server, stranger):
    with pytest.raises(HfHubHTTPError, match="401"):
        stranger.create_repo("local/nope", repo_type="dataset")
    assert not server.hub.repo("local/nope").exists


@pytest.mark.parametrize("path", ["../out", "a/../../out", "/etc/x", "a//b", ".git/config", "a\\..\\b", ""])
def test_no_commit_names_a_path_outside_its_repository(server, api, path):
    api.create_repo("local/paths", repo_type="dataset", exist_ok=True)
    line = {"key": "file", "value": {"path": path, "content": "eA==", "encoding": "base64"}}
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    body = b'{"key":"header","value":{"summary":"s"}}\n' + json.dumps(line).encode()
    token = next(iter(server.access.tokens))
    connection.request("POST", "/api/datasets/local/paths/commit/main", body, {"Authorization": f"Bearer {token}"})
    assert connection.getresponse().status == 400
    connection.close()


def test_listings_come_in_pages(server, api):
    api.create_repo("local/many", repo_type="dataset")
    repo, known = server.hub.repo("local/many"), server.hub.repo("acme/plain").find("main").files["numbers.csv"]
    names = [f"data/{number:05d}.csv" for number in range(2_500)]
    repo.commit(dict.fromkeys(names, known), "many")
    assert sorted(api.list_repo_files("local/many", repo_type="dataset")) == names


def test_a_pull_request_leaves_the_branch_alone(server, api):
    api.create_repo("local/pulled", repo_type="dataset")
    made = api.upload_file(
        path_or_fileobj=b"x", path_in_repo="t.txt", repo_id="local/pulled", repo_type="dataset", create_pr=True
    )
    assert made.pr_revision == "refs/pr/1"
    assert api.list_repo_files("local/pulled", repo_type="dataset") == []
    assert api.list_repo_files("local/pulled", repo_type="dataset", revision="refs/pr/1") == ["t.txt"]


def test_a_pull_request_is_merged_unless_both_changed_a_file(api, server):
    where = {"repo_id": "local/pulled", "repo_type": "dataset"}
    api.create_repo(**where)

    def write(name, content, **how):
        return api.upload_file(path_or_fileobj=content, path_in_repo=name, **where, **how)

    write("a.txt", b"1")
    write("b.txt", b"1")
    pull = write("a.txt", b"2", create_pr=True).pr_num
    api.delete_file("b.txt", revision=f"refs/pr/{pull}", **where)
    conflict = write("c.txt", b"1", create_pr=True).pr_num
    write("c.txt", b"2")
    api.merge_pull_request(discussion_num=pull, **where)
    assert {name: file.size for name, file in server.hub.repo("local/pulled").find("main").files.items()} == {
        "a.txt": 1,
        "c.txt": 1,
    }
    assert Path(api.hf_hub_download(filename="a.txt", **where)).read_bytes() == b"2"
    with pytest.raises(HfHubHTTPError, match=r"c\.txt was changed on main too"):
        api.merge_pull_request(discussion_num=conflict, **where)


def test_what_no_client_could_work_with_is_refused(api):
    where = {"repo_id": "local/refusing", "repo_type": "dataset"}
    with pytest.raises(HfHubHTTPError, match="datasets, not a model"):
        api.create_repo("local/refusing")
    api.create_repo(**where)
    with pytest.raises(HfHubHTTPError, match="main cannot be deleted"):
        api.delete_branch(branch="main", **where)
    api.upload_file(path_or_fileobj=b"1", path_in_repo="a/b/c.txt", **where)
    for name in ("a", "a/b", "a/b/c.txt/d"):
        with pytest.raises(HfHubHTTPError, match="a file and a folder"):
            api.upload_file(path_or_fileobj=b"1", path_in_repo=name, **where)
    assert api.list_repo_files(**where) == ["a/b/c.txt"]


def test_the_file_system_of_huggingface_hub_reads_ranges(server):
    files = HfFileSystem(endpoint=server.endpoint, token=False)
    with files.open("datasets/acme/plain/data/train-00000-of-00001.parquet") as file:
        assert pq.read_metadata(file).num_rows == 100_000


def test_a_mirror_has_the_same_commits_and_bytes(server, tmp_path, requests):
    copy = str(tmp_path / "copy")
    origin = server.hub.repo("acme/plain").find("main")
    (line,) = mirror(copy, ["acme/plain"], server.endpoint, token=False)
    assert origin.id in line
    with serving(copy) as second:
        for path in origin.files:
            folder = snapshot_download(
                "acme/plain",
                repo_type="dataset",
                revision=origin.id,
                endpoint=second.endpoint,
                cache_dir=tmp_path / "cache",
            )
            assert Path(folder, path).read_bytes() == Path(server.hub.root, "acme", "plain", path).read_bytes()
    requests.clear()
    list(mirror(copy, ["acme/plain"], server.endpoint, token=False))
    assert [path for path in requests if "/resolve/" in path] == []
    assert [path for path in Path(copy).rglob("*") if "incoming" in path.name] == []


def test_a_mirror_of_a_program_has_what_is_read_instead(server, root, tmp_path):
    (Path(root) / "acme" / "program").mkdir()
    (Path(root) / "acme" / "program" / "program.py").write_text("raise SystemExit")
    repo, known = server.hub.repo("acme/program"), server.hub.repo("acme/plain").find("main").files
    export = {"default/train/0000.parquet": known["data/train-00000-of-00001.parquet"]}
    repo.commit(export, "export", onto="refs/convert/parquet")
    said = list(mirror(str(tmp_path / "copy"), ["acme/program", "acme/plain"], server.endpoint))
    assert [line.partition(" ")[0] for line in said] == ["acme/program", "acme/program", "acme/plain"]
    copied = HubFolder(str(tmp_path / "copy")).repo("acme/program")
    assert list(copied.refs()) == ["refs/convert/parquet", "refs/heads/main"]
    assert list(copied.find("refs/convert/parquet").files) == list(export)


def test_a_mirror_looks_once_at_contents_that_several_datasets_have(server, api, tmp_path, monkeypatch):
    copy, seen = str(tmp_path / "copy"), []
    known = server.hub.repo("acme/plain").find("main").files["data/train-00000-of-00001.parquet"]
    for name in ("local/one", "local/two"):
        api.create_repo(name, repo_type="dataset")
        server.hub.repo(name).commit({f"data/{number}.parquet": known for number in range(5)}, "the same")
    list(mirror(copy, ["local/one"], server.endpoint, token=False))
    monkeypatch.setattr("crucible_datasets.localhub.mirror.blob_of", lambda path: seen.append(path) or blob_of(path))
    list(mirror(copy, ["local/two"], server.endpoint, token=False))
    assert len(seen) == 1
    assert len(HubFolder(copy).repo("local/two").find("main").files) == 5


@pytest.fixture
def versions(api):
    """A dataset with an old commit, a tag, a branch and a new commit; the commits by name."""
    at = {"repo_id": "acme/versions", "repo_type": "dataset"}
    api.create_repo(**at)
    commits = {"old": api.upload_file(path_or_fileobj=b"a\n1\n", path_in_repo="a.csv", **at).oid}
    api.create_tag(**at, tag="v1.0")
    api.create_branch(**at, branch="dev/x")
    commits["branch"] = api.upload_file(path_or_fileobj=b"x", path_in_repo="x.txt", revision="dev/x", **at).oid
    commits["main"] = api.upload_file(path_or_fileobj=b"a\n2\n", path_in_repo="a.csv", **at).oid
    return commits


def test_a_mirrored_commit_does_not_move_main(server, versions, tmp_path):
    copy, name = str(tmp_path / "copy"), "acme/versions"
    list(mirror(copy, [name, f"{name}@{versions['old']}"], server.endpoint, token=False))
    copied = HubFolder(copy).repo(name)
    assert copied.refs() == {"refs/heads/main": versions["main"]}
    assert copied.find(versions["old"]).files["a.csv"] != copied.find("main").files["a.csv"]


@pytest.mark.parametrize(
    ("revision", "commit", "ref"),
    [("v1.0", "old", "refs/tags/v1.0"), ("dev/x", "branch", "refs/heads/dev/x"), ("COMMIT", "old", None)],
)
def test_the_first_revision_stands_in_for_main(server, versions, tmp_path, revision, commit, ref):
    copy, name = str(tmp_path / "copy"), "acme/versions"
    revision = versions["old"] if revision == "COMMIT" else revision
    list(mirror(copy, [f"{name}@{revision}"], server.endpoint, token=False))
    known = {ref: versions[commit]} if ref else {}
    assert HubFolder(copy).repo(name).refs() == {"refs/heads/main": versions[commit], **known}
    list(mirror(copy, [name], server.endpoint, token=False))
    assert HubFolder(copy).repo(name).refs() == {"refs/heads/main": versions["main"], **known}


@pytest.mark.parametrize("damage", [lambda content: content[:-1] + b"!", lambda content: content[:-1]])
@pytest.mark.parametrize("name", ["numbers.csv", "data/train-00000-of-00001.parquet"])
def test_what_was_damaged_in_a_mirror_is_mirrored_again(server, tmp_path, damage, name, requests):
    copy = str(tmp_path / "copy")
    list(mirror(copy, ["acme/plain"], server.endpoint, token=False))
    hub = HubFolder(copy)
    path = Path(hub.blobs.path(hub.repo("acme/plain").find("main").files[name].sha256))
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    requests.clear()
    list(mirror(copy, ["acme/plain"], server.endpoint, token=False))
    assert path.read_bytes() == whole
    assert [one.rpartition("/resolve/")[2].partition("/")[2] for one in requests if "/resolve/" in one] == [name]


@pytest.mark.parametrize("settings", [{"private": True}, {"gated": "manual"}])
def test_what_needs_a_token_needs_one_in_a_mirror(server, api, tmp_path, settings):
    copy, at = str(tmp_path / "copy"), {"repo_id": "local/secret", "repo_type": "dataset"}
    api.create_repo(**at)
    api.upload_file(path_or_fileobj=b"x", path_in_repo="x.txt", **at)
    api.update_repo_settings(**at, **settings)
    list(mirror(copy, ["local/secret"], server.endpoint, token=api.token))
    with serving(copy) as second:
        with pytest.raises(RepositoryNotFoundError):
            HfApi(endpoint=second.endpoint, token=False).dataset_info("local/secret")
        known = HfApi(endpoint=second.endpoint, token=next(iter(second.access.tokens)))
        assert known.hf_hub_download("local/secret", "x.txt", repo_type="dataset", cache_dir=tmp_path / "cache")


def test_what_cannot_be_mirrored_is_named(server, tmp_path, api):
    api.create_repo("acme/hidden", repo_type="dataset", private=True)
    for name, words in {
        "acme/absent": "does not exist at",
        "acme/hidden": "it is private",
        "acme/plain@never": "no revision 'never'",
        "../etc": "expected org/name",
    }.items():
        ran = crucible("hub", "mirror", name, tmp_path / "copy", "--endpoint", server.endpoint)
        assert (ran.code != 0, words in ran.err, "Traceback" in ran.err) == (True, True, False), ran


def test_a_mirror_is_no_file(server, tmp_path):
    (tmp_path / "file").write_text("x")
    ran = crucible("hub", "mirror", "acme/plain", tmp_path / "file", "--endpoint", server.endpoint)
    assert (ran.code, "this is a file" in ran.err) == (2, True), ran


def test_hugging_face_datasets_loads_and_pushes_through_it(server, tmp_path):
    program = """
import datasets
loaded = datasets.load_dataset("acme/plain", split="train")
assert len(loaded) == 100_000, loaded
loaded.select(range(10)).push_to_hub("local/pushed")
assert datasets.load_dataset("local/pushed", split="train", streaming=True).take(2).to_list() == [{"x": 0}, {"x": 1}]
"""
    surroundings = {
        **os.environ,
        "HF_ENDPOINT": server.endpoint,
        "HF_HOME": str(tmp_path / "home"),
        "HF_TOKEN": next(iter(server.access.tokens)),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_OFFLINE": "0",
    }
    subprocess.run([sys.executable, "-c", program], env=surroundings, check=True, timeout=120)


def test_the_command_serves_until_interrupted(root):
    command = [sys.executable, "-m", "crucible_datasets.cli", "hub", "serve", root, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        endpoint = line.split(" at ")[1].split(";")[0]
        assert HfApi(endpoint=endpoint, token=False).dataset_info("acme/plain").id == "acme/plain"
        assert f"HF_ENDPOINT={endpoint}" in process.stdout.readline()
        to_write = process.stdout.readline()
        assert "HF_TOKEN" in to_write and "HF_HUB_DISABLE_XET=1" in to_write
        process.send_signal(2)
        assert process.wait(10) == 0


def test_a_folder_that_is_not_there_is_an_error(tmp_path, capsys):
    assert main(["hub", "serve", str(tmp_path / "nowhere")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_the_token_file_is_for_its_owner_only(server, root):
    assert os.stat(os.path.join(root, "tokens.json")).st_mode & 0o777 == 0o600


def test_listings_are_filtered_sorted_and_paged(server, api, monkeypatch):
    for name, card in {"en": "language: en\ntags: [small one]", "both": "language: [de, en]\nlicense: mit"}.items():
        api.create_repo(f"acme/{name}", repo_type="dataset")
        content = f"---\n{card}\n---\n".encode()
        api.upload_file(repo_id=f"acme/{name}", repo_type="dataset", path_or_fileobj=content, path_in_repo="README.md")
    api.update_repo_settings("acme/en", repo_type="dataset", gated="auto")

    def names(**wanted):
        return {one.id for one in api.list_datasets(**wanted)}

    assert names(filter="license:mit") == {"acme/plain", "acme/both"}
    assert names(language="en") == {"acme/en", "acme/both"}
    assert names(filter=["license:mit", "language:de"]) == {"acme/both"}
    assert names(filter="small one", search="EN") == {"acme/en"}
    assert (names(gated=True), names(gated=False)) == ({"acme/en"}, {"acme/plain", "acme/both"})
    assert len(list(api.list_datasets(sort="last_modified", limit=2))) == 2
    monkeypatch.setattr("crucible_datasets.localhub.routing.PAGE", 1)
    assert names() == {"acme/plain", "acme/both", "acme/en"}
    assert len(api.list_repo_commits("acme/en", repo_type="dataset")) == 2


def test_a_repository_is_renamed_and_its_history_squashed(api, tmp_path):
    api.create_repo("acme/old", repo_type="dataset")
    for content in (b"1", b"2"):
        api.upload_file(repo_id="acme/old", repo_type="dataset", path_or_fileobj=content, path_in_repo="a")
    api.super_squash_history("acme/old", repo_type="dataset", commit_message="one")
    assert [one.title for one in api.list_repo_commits("acme/old", repo_type="dataset")] == ["one"]
    api.move_repo("acme/old", "team/new", repo_type="dataset")
    assert not api.repo_exists("acme/old", repo_type="dataset")
    path = api.hf_hub_download("team/new", "a", repo_type="dataset", cache_dir=tmp_path / "cache")
    assert Path(path).read_bytes() == b"2"
    api.create_repo("acme/old", repo_type="dataset")
    with pytest.raises(HfHubHTTPError, match="exists already"):
        api.move_repo("acme/old", "team/new", repo_type="dataset")
    with pytest.raises(HfHubHTTPError, match="rename it there"):
        api.move_repo("acme/plain", "team/plain", repo_type="dataset")
