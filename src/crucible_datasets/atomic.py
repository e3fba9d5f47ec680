"""The one way a file comes into being: written beside its place, made durable, renamed into it.

A reader sees the old file or the whole new one, never half of it, also after a crash.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield a path beside `path` to write to; on leaving, the file there takes the place of `path`.

    When the block raises, the new file is removed and what was at `path` stays.
    """
    target = os.path.abspath(path)
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    try:
        yield beside
        _make_durable(beside)
        os.replace(beside, target)
        _make_durable(folder)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def _make_durable(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
