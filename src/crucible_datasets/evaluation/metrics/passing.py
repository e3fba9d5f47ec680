"""pass@k: the probability that at least one of k completions, drawn from n, is correct."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import comb
from typing import Any

from crucible_datasets.exceptions import ArgumentError, TooFewCompletionsError

_KEPT: ContextVar[dict[Any, Any] | None] = ContextVar("verdicts", default=None)


@contextmanager
def keeping_verdicts() -> Iterator[None]:
    """A context in which completions are run once for all metrics that need them, such as pass@1 and pass@10."""
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def verdicts(about: Any, run: Callable[[], Any]) -> Any:
    """The result of `run`, cached by `about`."""
    kept = _KEPT.get()
    if kept is None:
        return run()
    if about not in kept:
        kept[about] = run()
    return kept[about]


def pass_at_k(n: int, c: int, k: int) -> float:
    """1 − C(n−c, k) / C(n, k), exactly, for `c` correct of `n` completions.

    >>> pass_at_k(10, 3, 1), pass_at_k(10, 3, 5)
    (0.3, 0.9166666666666666)
    """
    if k < 1:
        raise ArgumentError("k", k, "draw at least one completion.")
    if not 0 <= c <= n:
        raise ArgumentError("c", c, f"of {n} completions, 0 to {n} can be right.")
    if n < k:
        raise TooFewCompletionsError(n, k)
    return (comb(n, k) - comb(n - c, k)) / comb(n, k)
