"""The HTTP client of this process: made as huggingface_hub makes its own, and not the same one.

huggingface_hub closes its client in every forked process. That waits for a lock which one of our threads may have held
when the process was forked: while files were coming, one of 600 forks never returned.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from importlib import import_module
from typing import Any

_made: tuple[Any, Any] | None = None  # how it was made, and the client
_lock = threading.Lock()
_of_others: list[Any] = []


def is_client_loaded() -> bool:
    """Whether somebody has imported the HTTP client of huggingface_hub."""
    return "huggingface_hub.utils" in sys.modules


def is_client_told() -> bool:
    """Whether somebody has told huggingface_hub how to connect, or may have done so: then its client is to connect."""
    hub: Any = sys.modules.get("huggingface_hub.utils._http")
    if hub is None:
        return is_client_loaded()
    made_by, usual = (getattr(hub, name, None) for name in ("_GLOBAL_CLIENT_FACTORY", "default_client_factory"))
    return made_by is None or made_by is not usual


def client() -> Any:
    """The client, made anew when its user has told huggingface_hub to make clients in another way."""
    global _made
    hub: Any = import_module("huggingface_hub.utils._http")
    make = getattr(hub, "_GLOBAL_CLIENT_FACTORY", None)
    if make is None:  # another version of huggingface_hub, which does not say
        return hub.get_session()
    with _lock:
        if _made is None or _made[0] is not make:
            _of_others.append(_made)  # whoever is using it goes on
            _made = make, make()
        return _made[1]


def _close() -> None:
    if _made is not None:
        _made[1].close()


def _leave_to_parent() -> None:
    """In a forked process: connections go on in the one that made them, and the client is never touched again."""
    global _made, _lock
    _of_others.append(_made)
    _made, _lock = None, threading.Lock()


atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
