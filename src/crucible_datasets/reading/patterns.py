"""Stage 2 of 6: the files that match a glob pattern.

`*`, `?` and `[abc]` match inside one name, `**` matches any number of folders. Names that begin with a dot, and folders
that begin with two underscores, are matched only by patterns that contain these; files that describe a dataset only by
their exact name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from crucible_datasets.exceptions import ArgumentError, DataFilesNotFoundError, UnavailableError
from crucible_datasets.reading import archives
from crucible_datasets.reading.archivenames import chain_of, chained
from crucible_datasets.sources.wildcards import is_pattern

DESCRIPTIONS = frozenset(
    {"README.md", "config.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "dummy_data.zip"}
)
_REMOTE = re.compile(r"^\w+://|::")


def listed(folder: str, depth: int | None = None, hidden: bool = False) -> list[str]:
    """The files under a folder as sorted paths relative to it, down to `depth` folders.

    One pass, without `stat`. Links to folders are not followed.
    """
    return sorted(_walk(folder, "", depth, hidden))


def _walk(folder: str, prefix: str, depth: int | None, hidden: bool) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if depth != 0 and (hidden or not _is_hidden_folder(entry.name)):
                    deeper = None if depth is None else depth - 1
                    yield from _walk(entry.path, f"{prefix}{entry.name}/", deeper, hidden)
            elif (hidden or not entry.name.startswith(".")) and entry.is_file():
                yield prefix + entry.name


def _is_hidden_folder(name: str) -> bool:
    return name.startswith((".", "__"))


def matched(pattern: str, base: str) -> list[str]:
    """The sorted absolute paths of the files that match a pattern; relative patterns start at `base`.

    A pattern without `*`, `?` and `[` is one file, which must exist. `zip://*.csv::data.zip` matches members of an
    archive.
    """
    archive, inner = chain_of(pattern)
    if inner is not None:
        return [path for one in matched(archive, base) for path in _matched_members(inner, one)]
    whole = os.path.normpath(os.path.join(base, _local(pattern)))
    if not is_pattern(whole.removeprefix(base)):
        if not os.path.isfile(whole):
            raise DataFilesNotFoundError(pattern, *absence(whole))
        return [whole]
    folder, parts = _split(whole, base)
    for part in parts:
        if "**" in part and part != "**":
            raise ArgumentError("data_files", pattern, "'**' stands for whole folders, as in 'data/**/*.csv'.")
    if not os.path.isdir(folder):
        return []
    depth = None if "**" in parts else len(parts) - 1
    names = listed(folder, depth, hidden=any(map(_is_hidden_folder, parts)))
    found = [os.path.join(folder, name) for name in matching(names, parts)]
    return found or [whole] * os.path.isfile(whole)  # a file name with `[` in it does not match itself


def _matched_members(pattern: str, archive: str) -> list[str]:
    names = sorted(member.name for member in archives.listed(archive))
    found = matching(names, pattern.strip("/").split("/")) if is_pattern(pattern) else [pattern] * (pattern in names)
    if not found and not is_pattern(pattern):
        raise DataFilesNotFoundError(f"{archive}::{pattern}", "the archive has no such member.")
    return [chained(name, archive) for name in found]


def matching(names: Sequence[str], parts: Sequence[str]) -> list[str]:
    """The relative paths that match a pattern, given as its path components."""
    return [name for name in names if _agree(name.split("/"), parts) and _is_shown(name, parts)]


def _local(pattern: str) -> str:
    local = os.path.expanduser(pattern.removeprefix("file://"))
    if _REMOTE.search(local):
        raise UnavailableError(f"Reading {pattern}", "Download it and give the path of the file.")
    return local


def _split(whole: str, base: str) -> tuple[str, list[str]]:
    """The folder to list, and the parts of the pattern below it."""
    # The base folder is literal, even if its name has wildcard characters.
    fixed = base if whole.startswith(base.rstrip("/") + "/") else "/"
    parts = whole[len(fixed) :].strip("/").split("/")
    while len(parts) > 1 and not is_pattern(parts[0]):
        fixed = os.path.join(fixed, parts.pop(0))
    return fixed, parts


def _agree(names: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether a path matches, in time that grows with the product of both lengths.

    The parts after the last `**` that was met are tried at one place after the other; what came before it stays.
    """
    if len(parts) - parts.count("**") > len(names):
        return False
    name = part = 0
    retry: tuple[int, int] | None = None  # behind the last `**`: its place in the pattern, and in the path
    while name < len(names):
        if part < len(parts) and parts[part] == "**":
            part += 1
            retry = part, name
            if part == len(parts):
                return True
        elif part < len(parts) and fnmatchcase(names[name], _closed(parts[part])):
            name, part = name + 1, part + 1
        elif retry:
            part, name = retry[0], retry[1] + 1
            retry = part, name
        else:
            return False
    return part == len(parts)


def _closed(part: str) -> str:
    """A part of a pattern with brackets that are not closed as literals, which `fnmatch` finds in quadratic time."""
    head, mark, rest = part.rpartition("]")
    return head + mark + rest.replace("[", "[[]")


def _is_shown(name: str, parts: Sequence[str]) -> bool:
    *folders, file = name.split("/")
    if file in DESCRIPTIONS and file != parts[-1]:
        return False
    named_dots = sum(part.startswith(".") for part in parts)
    named_dunders = sum(part.startswith("__") for part in parts[:-1])
    dots = sum(part.startswith(".") for part in (*folders, file))
    return dots == named_dots and sum(part.startswith("__") for part in folders) == named_dunders


def absence(path: str) -> tuple[str, list[str]]:
    """Why a path is not a file, and the names of the files in its folder."""
    if os.path.isdir(path):
        return "it is a folder; use data_dir, or a pattern such as 'folder/*'.", []
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        return f"there is no folder {folder}.", []
    there = sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    shown = ", ".join(there[:10]) + (f", … ({len(there) - 10} more)" if len(there) > 10 else "")
    return f"there is no such file. In {folder}: {shown or 'no files'}.", there
