"""Timeouts for requests of huggingface_hub, most of which have none: a Hub may never respond to a commit.

Its client is shared by the whole process, so only requests inside `with_timeouts` get a timeout, and one that
huggingface_hub sets itself is kept. It retries some requests six times; once one has timed out, further retries are
left to this library.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from crucible_datasets import config
from crucible_datasets.sources.backoff import TransientError

_CONNECTING = 20.0
Request = Any
_first_asked: ContextVar[dict[tuple[str, str], float] | None] = ContextVar("_first_asked", default=None)


@contextmanager
def with_timeouts() -> Iterator[None]:
    """A block in which a server that is silent for `CRUCIBLE_HUB_SILENCE` seconds raises a `TransientError`."""
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
    """Set the timeouts of a request that is about to be sent."""
    asked, silence = _first_asked.get(), config.CRUCIBLE_HUB_SILENCE
    if asked is None:
        return
    now = time.monotonic()
    if now - asked.setdefault((request.method, str(request.url)), now) > silence:
        raise TransientError(f"{request.url.host} has not answered for {silence:g} seconds")
    own = {"connect": min(_CONNECTING, silence), "read": silence, "write": silence, "pool": None}
    stated = request.extensions.get("timeout") or {}
    request.extensions["timeout"] = {name: stated.get(name) or most for name, most in own.items()}
