"""Requests of huggingface_hub that do not wait for ever: a Hub that takes a commit may never say what became of it.

It sets no limit to most of what it asks and to all that it sends. Its client is the one of the whole process, so only
what is asked inside of `bounded` is given a limit, and a limit that it has set itself stays. It asks some things six
times; what was not answered once is left to the patience of this library.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from crucible_datasets import config
from crucible_datasets.sources.backoff import PassingError

_CONNECTING = 20.0
Request = Any
_first_asked: ContextVar[dict[tuple[str, str], float] | None] = ContextVar("_first_asked", default=None)


@contextmanager
def bounded() -> Iterator[None]:
    """In the block, a server that says nothing for `CRUCIBLE_HUB_SILENCE` seconds is an accident."""
    from huggingface_hub import get_session

    hooks = get_session().event_hooks
    if _bound not in hooks.get("request", ()):
        get_session().event_hooks = {**hooks, "request": [*hooks.get("request", ()), _bound]}
    before = _first_asked.set({})
    try:
        yield
    finally:
        _first_asked.reset(before)


def _bound(request: Request) -> None:
    """Give a request its limits, before it is sent."""
    asked, silence = _first_asked.get(), config.CRUCIBLE_HUB_SILENCE
    if asked is None:
        return
    now = time.monotonic()
    if now - asked.setdefault((request.method, str(request.url)), now) > silence:
        raise PassingError(f"{request.url.host} has not answered for {silence:g} seconds")
    own = {"connect": min(_CONNECTING, silence), "read": silence, "write": silence, "pool": None}
    stated = request.extensions.get("timeout") or {}
    request.extensions["timeout"] = {name: stated.get(name) or most for name, most in own.items()}
