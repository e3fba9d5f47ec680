"""The one check of names that come in requests: whatever passes stays inside, and means one thing."""

from __future__ import annotations

import os
import shutil
import subprocess
import unicodedata
from urllib.parse import quote, unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crucible_datasets.localhub import names
from crucible_datasets.localhub.errors import HubError

PARTS = [
    *("..", ".", "", ".git", ".GIT", ".gi\u200ct", "git~1", ".git ", ".git.", ".git::$INDEX_ALLOCATION", "\uff0egit"),
    *(
        "a",
        "a.csv",
        "data",
        "train 1.csv",
        "é",
        "日本",
        "\0",
        "\n",
        "\r\n",
        "\x85",
        "\u2028",
        "\ud800",
        "\\",
        "C:",
        "~",
    ),
    *(
        "refs",
        "heads",
        "main",
        "tags",
        "pr",
        "convert",
        "1",
        "01",
        "@{",
        "a.lock",
        ".a",
        "0" * 40,
        "x" * 256,
        "é" * 130,
    ),
    *("%2e%2e", "%2F", "-", "--", "repo.json", "commits", "x.git", "*", "?", "[", "^", " "),
]
texts = st.lists(st.sampled_from(PARTS) | st.text(max_size=5), max_size=6).map("/".join)


def passes(check, text):
    try:
        return check(text)
    except HubError as error:
        assert error.status == 400
        str(error).encode()  # it is sent to the client
        return None


@settings(max_examples=400)
@given(texts)
def test_a_path_that_passes_is_a_file_inside(text):
    path = passes(names.path, text)
    assert (path is not None) == names.is_path(text)
    if path is None:
        return
    inside = os.path.normpath(os.path.join("/repo", path))
    assert inside == "/repo/" + path
    assert len(path.encode()) <= 2048
    assert not any(unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} for letter in path)
    for part in path.split("/"):
        assert 0 < len(part.encode()) <= 255
        assert part.casefold().rstrip(" .") not in {".git", "git~1"}


@pytest.mark.parametrize(
    "path", ["a.csv", "data/train 1.csv", "日本/é.txt", ".gitattributes", ".github/x", "ab:c", "...", "~", "%2F"]
)
def test_usual_paths_pass(path, tmp_path):
    assert names.path(path) == path
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text("x")


@settings(max_examples=400)
@given(texts, st.sampled_from(["heads", "tags"]))
@example("refs/heads/main", "heads")
def test_a_reference_that_passes_has_one_full_name(text, kind):
    ref = passes(lambda one: names.ref(one, kind), text)
    if ref is None:
        return
    assert names.ref(ref) == names.ref(ref, "tags") == ref
    short = ref.split("/", 2)[2]
    assert not short.startswith("refs/")
    assert not names.is_commit(short)
    stored = quote(ref, safe="")
    assert len(stored) <= 250 and "/" not in stored and not stored.startswith(".")
    assert unquote(stored) == ref
    assert names.refs(text) == [one for one in names.refs(text) if names.is_ref(one)]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
@settings(max_examples=100, deadline=None)
@given(texts.filter(lambda text: names.is_ref(f"refs/heads/{text}")))
def test_git_accepts_every_reference_that_passes(text):
    assert subprocess.run(["git", "check-ref-format", f"refs/heads/{text}"]).returncode == 0


@settings(max_examples=400)
@given(texts)
def test_a_name_of_a_repository_that_passes_is_two_folders(text):
    id = passes(names.repo, text)
    if id is None:
        return
    assert os.path.normpath(os.path.join("/hub", id)) == "/hub/" + id
    assert id.count("/") <= 1 and not id.startswith(".")
    assert id.rpartition("/")[2].lower() not in {"refs", "commits", "repo.json", "plain.json"} or "/" not in id


@settings(max_examples=400)
@given(st.text(max_size=70) | st.text("0123456789abcdefABCDEFg\n", min_size=62, max_size=66))
@example("0" * 64)
@example("0" * 64 + "\n")
def test_an_oid_is_64_hexadecimal_digits(text):
    assert (passes(names.oid, text) is not None) == (len(text) == 64 and set(text) <= set("0123456789abcdef"))


@settings(max_examples=400)
@given(st.text(max_size=20))
def test_what_is_encoded_is_decoded_once(text):
    encoded = quote(text, safe="", errors="surrogatepass")
    decoded = passes(names.decoded, encoded)
    assert decoded == (text if not any(unicodedata.category(letter) == "Cs" for letter in text) else None)
