"""URLs of the Hub: `hf://datasets/org/name@revision/path` and `hf://buckets/org/name/path`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.sources.base import Options
from crucible_datasets.sources.hub.bucket import HubBucket
from crucible_datasets.sources.hub.repo import HubRepo
from crucible_datasets.sources.wildcards import is_pattern

# Revisions that the Hub names itself may contain a plain `/`; in others it is written as %2F.
_ADDRESS = re.compile(
    r"hf://(?P<kind>datasets|buckets)/(?P<id>[^/@]+/[^/@]+)(?:@(?P<revision>refs/(?:convert|pr)/[^/]+|[^/]+))?(?:/(?P<path>.*))?",
    re.DOTALL,
)

_PIECES = re.compile(r"(\*\*/|\*\*|\*|\?|\[!?[^\]/]+\])")


def located(url: str, options: Options) -> tuple[HubRepo | HubBucket, str]:
    """The repository or bucket of a URL, and the path in it."""
    found = _ADDRESS.fullmatch(url)
    if not found:
        expected = "hf://datasets/org/name[@revision][/path] or hf://buckets/org/name[/path]."
        raise ArgumentError("path", url, f"expected {expected}")
    path = (found["path"] or "").strip("/")
    if found["kind"] == "datasets":
        revision = unquote(found["revision"] or config.HUB_DEFAULT_VERSION)
        return HubRepo(found["id"], revision, options.get("token")), path
    if found["revision"]:
        raise ArgumentError("path", url, "a bucket has no revisions: remove the part after @.")
    return HubBucket(found["id"], token=options.get("token")), path


def matching(path: str, is_pattern: bool) -> re.Pattern[str]:
    """A regular expression for names at or below a path, or for those that match a pattern."""
    if not is_pattern:
        return re.compile(f"{re.escape(path)}(?:/.*)?" if path else ".*", re.DOTALL)
    try:
        return re.compile("".join(_expression(piece) for piece in _PIECES.split(path)), re.DOTALL)
    except re.error as error:
        raise ArgumentError("path", path, f"it is not a valid pattern: {error}.") from error


def named(pattern: str, names: Iterable[str]) -> list[str]:
    """The names that match a pattern of a card; a name may have a `[` in it, so one that matches none is literal."""
    readings, pattern = (True, False) if is_pattern(pattern) else (False,), pattern.removeprefix("./")
    found = ([name for name in names if matching(pattern, reading).fullmatch(name)] for reading in readings)
    return next(filter(None, found), [])


def _expression(piece: str) -> str:
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if piece.startswith("[") and piece.endswith("]"):
        negated, inside = piece.startswith("[!"), re.sub(r"([\\\[&~|^])", r"\\\1", piece[1:-1].removeprefix("!"))
        return f"[{'^' if negated else ''}{inside}]"
    return words.get(piece) or re.escape(piece)


def below(base: str, path: str) -> str:
    """A path relative to `base`; the file's name if it is `base` itself."""
    if path == base:
        return path.rpartition("/")[2]
    return path.removeprefix(f"{base}/") if base else path
