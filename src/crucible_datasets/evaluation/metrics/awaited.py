"""Async functions as metrics, such as those that ask a judge: several pairs are judged at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from crucible_datasets.ops.mapping.asynchronous import Loop, Outcome, in_order

_AT_ONCE = 16  # as many as of models that are asked
_LOOP: ContextVar[Loop | None] = ContextVar("loop", default=None)


@contextmanager
def one_loop() -> Iterator[Loop]:
    """Within, everything is awaited in the same loop, so that clients created in it stay usable."""
    shared = _LOOP.get()
    if shared is not None:
        yield shared
        return
    loop = Loop()
    token = _LOOP.set(loop)
    try:
        yield loop
    finally:
        _LOOP.reset(token)
        loop.close()


def awaited(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> list[Outcome]:
    """The value or the error of each call, in order."""

    async def called() -> list[Outcome]:
        turns = asyncio.Semaphore(_AT_ONCE)

        async def one(*given: Any) -> Any:
            async with turns:
                try:
                    return await function(*given)
                except asyncio.CancelledError as error:  # no Exception, so it would end the whole run
                    raise RuntimeError("the call was cancelled") from error

        return await in_order(one, arguments, stop_at_errors=False)

    with one_loop() as loop:
        return loop.run(called())
