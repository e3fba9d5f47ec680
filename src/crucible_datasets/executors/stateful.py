"""Callable classes as functions: each worker creates one instance and calls that.

So a model or tokenizer that is slow to load is loaded once per worker and never pickled.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any


def has_state(function: Any) -> bool:
    """Whether a function is a callable class, possibly with arguments (`functools.partial`)."""
    kind = _plain(function)
    if not isinstance(kind, type) or issubclass(kind, (type, Mapping)):
        return False
    return any("__call__" in vars(base) for base in kind.__mro__)


def ready(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself; for a callable class, a new instance."""
    made: Callable[..., Any] = function() if has_state(function) else function
    return made


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calls of the function, or of an instance of the class, must be awaited."""
    plain: Any = _plain(function)
    called = plain.__call__ if has_state(function) else getattr(type(plain), "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(called)


def _plain(function: Any) -> Any:
    return function.func if isinstance(function, partial) else function
