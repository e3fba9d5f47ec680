"""Files in archives and folders, as iterables that can be iterated again and pickled."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from crucible_datasets.exceptions import FileNotFoundDatasetsError
from crucible_datasets.reading.archives import members
from crucible_datasets.reading.membernames import is_shown

_HIDDEN = (".", "__")


class ArchiveMembers:
    """The files of an archive: their names, and open files that are valid until the next one."""

    def __init__(self, archive: str | BinaryIO) -> None:
        self._archive = archive

    def __iter__(self) -> Iterator[tuple[str, BinaryIO]]:
        if not isinstance(self._archive, str):
            self._archive.seek(0)
        for name, _, stream in members(self._archive):
            if is_shown(name):
                yield name, stream


class FilesUnder:
    """The files in folders, without hidden ones; a path that is a file is itself."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = paths

    def __iter__(self) -> Iterator[str]:
        for path in self._paths:
            if os.path.isfile(path):
                yield path
            elif os.path.isdir(path):
                yield from _walk(path)
            else:
                raise FileNotFoundDatasetsError(path)


def _walk(folder: str) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(_HIDDEN))
        yield from (os.path.join(place, name) for name in sorted(files) if not name.startswith(_HIDDEN))
