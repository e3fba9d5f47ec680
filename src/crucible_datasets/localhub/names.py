"""Texts of requests that name something, each checked here and nowhere else: names become paths.

repository  org/name
path        data/train.csv   a file of a repository or a bucket
ref         refs/heads/main  a branch, a tag, a conversion or a pull request, in full
oid         the sha256 of a content: 64 hexadecimal digits

A name that is not valid is an error of the client, 400.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote, unquote

from crucible_datasets.localhub.errors import HubError

MAIN = "refs/heads/main"
_MAX_PATH, _MAX_NAME, _MAX_REF = 2048, 255, 250  # bytes; file systems hold 255 for each name

_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]{0,94}[\w])?")
_OWN_FILES = {"refs", "commits", "repo.json", "plain.json"}  # in the folder of a repository without an organization
_DRIVE = re.compile(r"[A-Za-z]:")
_REF = re.compile(r"refs/(heads|tags|convert|pr)/(.+)")
_NOT_IN_REFS = re.compile(r"[\s~^:?*\[\\\x00-\x20\x7f]|\.\.|@\{|//")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_OID = re.compile(r"[0-9a-f]{64}")
_PULL_REQUEST = re.compile(r"[1-9][0-9]{0,8}")
_UNPRINTABLE = {"Cc", "Cs", "Zl", "Zp"}  # control characters, surrogates, line and paragraph separators


def decoded(text: str) -> str:
    """A percent-encoded part of a URL."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError as error:
        raise HubError(400, "BadRequest", f"{text!r} is not UTF-8 in percent-encoding.") from error


def is_repo(text: str) -> bool:
    org, slash, name = text.rpartition("/")
    is_taken = bool(slash) and name.lower() in _OWN_FILES
    parts = [org, name] if slash else [name]
    return (
        all(_NAME.fullmatch(part) and len(part.encode()) <= _MAX_NAME for part in parts)
        and not is_taken
        and ".." not in text
        and "--" not in text
        and not name.lower().endswith(".git")
    )


def repo(text: str) -> str:
    """The name of a repository or a bucket."""
    return _checked(text, is_repo(text), "the name of a dataset")


def is_path(text: str) -> bool:
    parts = text.split("/")
    return (
        (text.isprintable() or not any(unicodedata.category(letter) in _UNPRINTABLE for letter in text))
        and "\\" not in text
        and not _DRIVE.match(text)
        and len(text.encode()) <= _MAX_PATH
        and not any(part in {"", ".", ".."} or len(part.encode()) > _MAX_NAME or _is_git(part) for part in parts)
    )


def path(text: str) -> str:
    """The path of a file inside a repository or a bucket."""
    return _checked(text, is_path(text), "a path inside a repository")


def _is_git(part: str) -> bool:
    """Whether a file system may take this for `.git`, in which programs are configured that git then runs."""
    if not part.isascii():
        letters = (letter for letter in unicodedata.normalize("NFKC", part) if unicodedata.category(letter) != "Cf")
        part = "".join(letters)
    return part.casefold().partition(":")[0].rstrip(" .") in {".git", "git~1"}


def ref(text: str, kind: str = "heads") -> str:
    """The full name of a ref: `main` and `refs/heads/main` are the same."""
    full = text if text.startswith("refs/") else f"refs/{kind}/{text}"
    return _checked(full, is_ref(full), "the name of a branch or a tag")


def refs(text: str) -> list[str]:
    """The full names of the refs that a revision may mean."""
    full = [text] if text.startswith("refs/") else [f"refs/heads/{text}", f"refs/tags/{text}"]
    return [ref for ref in full if is_ref(ref)]


def is_ref(text: str) -> bool:
    """Whether this is the full name of a ref. A name in the form of a commit would hide the commit."""
    found = _REF.fullmatch(text)
    if found is None or any(unicodedata.category(letter) in _UNPRINTABLE for letter in text):
        return False
    kind, name = found.groups()
    if kind == "pr":
        return _PULL_REQUEST.fullmatch(name) is not None
    parts = name.split("/")
    return (
        parts[0] != "refs"
        and not is_commit(name)
        and not _NOT_IN_REFS.search(name)
        and not any(part == "" or part.startswith(".") or part.endswith((".", ".lock")) for part in parts)
        and len(quote(text, safe="")) <= _MAX_REF
    )


def is_commit(text: str) -> bool:
    """Whether this is the id of a commit."""
    return _COMMIT.fullmatch(text) is not None


def is_oid(text: str) -> bool:
    return _OID.fullmatch(text) is not None


def oid(text: str) -> str:
    """The hash of a content."""
    return _checked(text, is_oid(text), "the sha256 of a content")


def _checked(text: str, is_valid: bool, what: str) -> str:
    if not is_valid:
        shown = text if len(text) <= 100 else f"{text[:100]}…"
        raise HubError(400, "BadRequest", f"{shown!a} is not {what}.")
    return text
