"""`experimental`: a decorator for functions that may change without notice."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def experimental(fn: Callable[P, R]) -> Callable[P, R]:
    """The function, with a warning on every call."""

    @wraps(fn)
    def warned(*args: P.args, **kwargs: P.kwargs) -> R:
        warnings.warn(f"{fn.__name__!r} is experimental and may change.", UserWarning, stacklevel=2)
        return fn(*args, **kwargs)

    return warned
