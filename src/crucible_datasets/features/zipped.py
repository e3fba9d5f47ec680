"""Media in zip archives, read without unpacking the others.

Archives stay open, because finding a member takes reading all names of an archive.
"""

from __future__ import annotations

import atexit
import os
import zipfile
import zlib
from collections import OrderedDict
from lzma import LZMAError

from crucible_datasets import config
from crucible_datasets.exceptions import FileFormatError, FileNotFoundDatasetsError, LimitExceededError
from crucible_datasets.forking import Lock

_DAMAGED = (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, ValueError, RuntimeError, NotImplementedError)
_MOST_OPEN = 8

_opened: OrderedDict[tuple[str, int], tuple[tuple[int, int], zipfile.ZipFile]] = OrderedDict()
_lock = Lock()


def read_member(archive: str, name: str) -> bytes:
    """The content of a member."""
    opened = _archive(archive)
    try:
        info = opened.getinfo(name)
    except KeyError as error:
        raise FileNotFoundDatasetsError(f"{archive}::{name}", "the archive has no such member.") from error
    limit = max(config.MAX_UNPACKED_BYTES_AT_ANY_RATIO, info.compress_size * config.MAX_UNPACKED_RATIO)
    if info.file_size > limit:
        what = f"unpacked, member {name!r} is more than {config.MAX_UNPACKED_RATIO} times its size and"
        raise LimitExceededError(archive, what, limit, "config.MAX_UNPACKED_RATIO")
    try:
        return opened.read(info)
    except _DAMAGED as error:
        raise FileFormatError(archive, f"member {name!r} cannot be read: {error}") from error


def _archive(path: str) -> zipfile.ZipFile:
    facts = os.stat(path)
    # A child process must not share the position of its parent's open file.
    key, identity = (path, os.getpid()), (facts.st_size, facts.st_mtime_ns)
    with _lock:
        known = _opened.pop(key, None)
        if known is not None and known[0] != identity:
            known[1].close()
            known = None
        try:
            found = known or (identity, zipfile.ZipFile(path))
        except _DAMAGED as error:
            raise FileFormatError(path, f"the zip archive is damaged or breaks off: {error}") from error
        _opened[key] = found
        if len(_opened) > _MOST_OPEN:
            _opened.popitem(last=False)[1][1].close()  # members that are still read keep the file open
        return found[1]


@atexit.register
def _close() -> None:
    while _opened:
        _opened.popitem()[1][1].close()
