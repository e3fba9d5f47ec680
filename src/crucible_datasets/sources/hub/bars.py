"""Progress bars of huggingface_hub, shown where those of this library are: on a terminal, unless they are disabled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from crucible_datasets import progress

_lock = threading.Lock()
_hiding = 0  # blocks that hide them now, in all threads


@contextmanager
def bars_as_ours() -> Iterator[None]:
    """A block in which huggingface_hub shows no bars if this library would show none."""
    from huggingface_hub import constants

    # Users set the variable to 0 to insist on bars.
    insisted = constants.HF_HUB_DISABLE_PROGRESS_BARS is False
    if progress.are_shown() or insisted or (not _hiding and _utils().are_progress_bars_disabled()):
        yield
        return
    _hide(1)
    try:
        yield
    finally:
        _hide(-1)


def _hide(change: int) -> None:
    global _hiding
    with _lock:
        _hiding += change
        (_utils().disable_progress_bars if _hiding else _utils().enable_progress_bars)()


def _utils() -> Any:
    return import_module("huggingface_hub.utils")
