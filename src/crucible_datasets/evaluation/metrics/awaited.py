"""Async functions as metrics, such as those that ask a judge: several pairs are judged at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from crucible_datasets.ops.mapping.asynchronous import Outcome, in_order, run

_AT_ONCE = 16  # as many as of models that are asked


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

    return run(called())
