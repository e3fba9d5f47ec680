"""The identity of a function as a state of a stream records it: what is written in its code, not what calls may change.

A cache may miss a hit, so its hash covers everything that a function can see. A state must be accepted by the program
that goes on, in another process or after an upgrade of a package: counters, models that are loaded at the first call
and other objects do not count here, nor do versions; numbers, texts and the arguments that are passed explicitly do.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
from typing import Any

import xxhash

from crucible_datasets.hashing.hasher import walker_of
from crucible_datasets.hashing.walk import UnhashableError, Walk

_CODE = (types.FunctionType, types.MethodType, types.ModuleType, types.CodeType, type, property)
_CONSTANTS = (bool, int, float, complex, str, bytes, tuple, frozenset)
_CONTAINERS = (list, dict, set, bytearray, types.MappingProxyType)
_ARRAYS = ("numpy", "pyarrow")


class CodeWalk(Walk):
    """Feeds code and constants; of other values only explicit arguments, if they are containers or arrays."""

    skips_changing = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.is_argument = False

    def _feed(self, value: Any) -> bool:
        if isinstance(value, functools.partial):
            self.write("partial")
            self.feed_called(value.func)
            self.feed_arguments((value.args, value.keywords))
            return True
        if self._is_constant(value) or (self.is_argument and _is_data(value)):
            return super()._feed(value)
        self.write("value")
        return True

    def _is_constant(self, value: Any) -> bool:
        # None often stands for what the first call loads.
        is_native = callable(value) and type(value).__module__ in ("builtins", "functools")
        return isinstance(value, (*_CONSTANTS, *_CODE)) or is_native

    def feed_arguments(self, arguments: Any) -> None:
        """Add arguments that were passed explicitly, so that their content counts."""
        before, self.is_argument = self.is_argument, True
        try:
            self.feed(arguments)
        finally:
            self.is_argument = before


def code_identity(function: Any, arguments: Any = None) -> str | None:
    """The identity of a function and of explicit arguments, which begins with the version of Python that compiled it.

    Of an object that is called, it is that of its class; None if there is none.
    """
    walk = CodeWalk(xxhash.xxh64(), walker_of)
    try:
        if isinstance(function, (*_CODE, functools.partial)):
            walk.feed_called(function)
        else:
            walk.feed_called(type(function))
            parameters = getattr(type(function), "__dataclass_params__", None)
            if parameters is not None and parameters.frozen:
                walk.feed_arguments({item.name: getattr(function, item.name) for item in dataclasses.fields(function)})
        walk.feed_arguments(arguments)
        walk.end()
    except (UnhashableError, RecursionError):
        return None
    return f"{sys.version_info.major}.{sys.version_info.minor} {walk.digest.hexdigest()}"


def _is_data(value: Any) -> bool:
    return value is None or isinstance(value, _CONTAINERS) or type(value).__module__.partition(".")[0] in _ARRAYS


def arguments_identity(arguments: Any) -> str | None:
    """The identity of arguments that were passed explicitly; None if there is none."""
    walk = CodeWalk(xxhash.xxh64(), walker_of)
    try:
        walk.feed_arguments(arguments)
    except (UnhashableError, RecursionError):
        return None
    return walk.digest.hexdigest()
