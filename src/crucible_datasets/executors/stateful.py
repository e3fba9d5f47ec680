"""Functions with state: of a class whose objects are called, each worker makes one object and calls that.

So what takes long to load, such as a model or a tokenizer, is loaded once by each worker and never travels.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any


def has_state(function: Any) -> bool:
    """Whether a function is a class, perhaps with arguments (`functools.partial`), whose objects are called."""
    kind = _plain(function)
    if not isinstance(kind, type) or issubclass(kind, (type, Mapping)):
        return False
    return any("__call__" in vars(base) for base in kind.__mro__)


def ready(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; of a class with state, a new object."""
    made: Callable[..., Any] = function() if has_state(function) else function
    return made


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a call of the function, once it is ready, is to be awaited."""
    plain: Any = _plain(function)
    called = plain.__call__ if has_state(function) else getattr(type(plain), "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(called)


def _plain(function: Any) -> Any:
    return function.func if isinstance(function, partial) else function
