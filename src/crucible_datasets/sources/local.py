"""Local files."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import BinaryIO

from crucible_datasets.exceptions import DataFilesNotFoundError
from crucible_datasets.fingerprint import version_of
from crucible_datasets.sources.base import Options, Source, SourceFile
from crucible_datasets.sources.wildcards import folder_of, is_pattern


def listed(url: str, options: Options) -> list[SourceFile]:
    """The file, the files of a folder, or those that match a pattern."""
    place = _path(url)
    if os.path.isfile(place):
        return [_file(place, os.path.basename(place))]
    if is_pattern(place):
        base = folder_of(place) or os.sep
        found = sorted(path for path in glob.glob(place, recursive=True) if os.path.isfile(path))
    else:
        base, found = place, sorted(os.path.join(top, name) for top, _, names in os.walk(place) for name in names)
    if not found:
        raise DataFilesNotFoundError(url)
    return [_file(path, os.path.relpath(path, base).replace(os.sep, "/"), is_below=True) for path in found]


def opened(file: SourceFile, options: Options) -> BinaryIO:
    """The file, opened."""
    return open(_path(file.url), "rb")


def fetched(files: Sequence[SourceFile], options: Options) -> list[str]:
    """Their paths: nothing is copied."""
    return [_path(file.url) for file in files]


def _path(url: str) -> str:
    return os.path.abspath(os.path.expanduser(url.removeprefix("file://")))


def _file(path: str, name: str, is_below: bool = False) -> SourceFile:
    facts = os.stat(path)
    identity = (path, *version_of(facts))
    return SourceFile(path, name, facts.st_size, identity, is_below=is_below, modified=facts.st_mtime)


SOURCE = Source("local", ("", "file"), listed, opened, fetched)
