"""The pool of boxes: as many as were in use at once, kept for the next checks.

Each thread takes its own box. A forked process starts with an empty pool, since the boxes belong to its parent.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from crucible_datasets.evaluation.sandbox.box import Box

_idle: list[Box] = []
_lock = threading.Lock()


@contextmanager
def borrowed() -> Iterator[Box]:
    """A box for one check. A box that did not reply, or whose check was interrupted, is closed."""
    with _lock:
        box = _idle.pop() if _idle else None
    box = box or Box()
    try:
        yield box
    except BaseException:
        box.close()
        raise
    if box.broken:
        box.close()
        return
    with _lock:
        _idle.append(box)


def close_all() -> None:
    """Close all idle boxes."""
    with _lock:
        boxes, _idle[:] = list(_idle), []
    for box in boxes:
        box.close()


def _forget() -> None:
    global _lock
    _lock = threading.Lock()
    for box in _idle:
        box.control.close()
    _idle.clear()


atexit.register(close_all)
os.register_at_fork(after_in_child=_forget)
