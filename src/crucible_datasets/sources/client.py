"""The HTTP client of this process: created by the factory of huggingface_hub, but not shared with it.

huggingface_hub closes its client in every forked process. That waits for a lock which one of our threads may have held
at the fork: during downloads, one of 600 forks never returned.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from importlib import import_module
from typing import Any

_made: tuple[Any, Any] | None = None  # the factory and the client
_lock = threading.Lock()
_inherited: list[Any] = []


def is_client_loaded() -> bool:
    """Whether the HTTP client of huggingface_hub has been imported."""
    return "huggingface_hub.utils" in sys.modules


def is_client_configured() -> bool:
    """Whether the program has, or may have, set its own client factory in huggingface_hub, which must then be used."""
    hub: Any = sys.modules.get("huggingface_hub.utils._http")
    if hub is None:
        return is_client_loaded()
    made_by, usual = (getattr(hub, name, None) for name in ("_GLOBAL_CLIENT_FACTORY", "default_client_factory"))
    return made_by is None or made_by is not usual


def client() -> Any:
    """The client, replaced if the program has set another factory in huggingface_hub."""
    global _made
    hub: Any = import_module("huggingface_hub.utils._http")
    make = getattr(hub, "_GLOBAL_CLIENT_FACTORY", None)
    if make is None:  # a version of huggingface_hub that hides its factory
        return hub.get_session()
    with _lock:
        if _made is None or _made[0] is not make:
            _inherited.append(_made)  # not closed: it may be in use
            _made = make, make()
        return _made[1]


def _close() -> None:
    if _made is not None:
        _made[1].close()


def _leave_to_parent() -> None:
    """In a forked process: leave the client to the parent, which goes on using its connections."""
    global _made, _lock
    _inherited.append(_made)
    _made, _lock = None, threading.Lock()


atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
