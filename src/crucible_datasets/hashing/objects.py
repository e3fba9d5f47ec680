"""Objects: by the state that `copy` uses."""

from __future__ import annotations

import copyreg
import dataclasses
import enum
import os
import re
from pathlib import PurePath
from typing import Any

from crucible_datasets.hashing.modules import write_name
from crucible_datasets.hashing.walk import UnhashableError, Walk, Walker


def walk_path(walk: Walk, value: PurePath) -> None:
    walk.write("path", os.fsencode(value))


def walk_enum(walk: Walk, value: enum.Enum) -> None:
    walk.write("enum", value.name.encode() if value.name else b"")
    walk.feed_called(type(value))
    walk.feed_at(f"the value of {type(value).__name__}.{value.name}", value.value)


def walk_dataclass(walk: Walk, value: Any) -> None:
    walk.write("dataclass")
    walk.feed_called(type(value))
    known = {item.name: getattr(value, item.name) for item in dataclasses.fields(value) if hasattr(value, item.name)}
    walk.feed_attributes(type(value).__name__, {**getattr(value, "__dict__", {}), **known})


def walk_object(walk: Walk, value: Any) -> None:
    """Feed an object by the result of its `__reduce_ex__`."""
    kind = type(value)
    try:
        recipe = copyreg.dispatch_table[kind](value) if kind in copyreg.dispatch_table else value.__reduce_ex__(4)
    except Exception as error:
        raise UnhashableError(name_of(kind)) from error
    if isinstance(recipe, str):
        write_name(walk, getattr(value, "__module__", None) or kind.__module__, recipe)
        return
    make, arguments, state, items, pairs = (*recipe, None, None, None)[:5]
    place = kind.__qualname__
    walk.write("object")
    walk.feed_called(make)
    with walk.at(place):
        if arguments and arguments[0] is kind:
            walk.feed_called(kind)
            arguments = arguments[1:]
        walk.feed(arguments)
        _walk_state(walk, place, state)
        walk.feed(None if items is None else list(items))
        walk.feed(None if pairs is None else list(pairs))


def _walk_state(walk: Walk, place: str, state: Any) -> None:
    parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
    walk.write("state", b"%d" % len(parts))
    for part in parts:
        if isinstance(part, dict) and all(isinstance(name, str) for name in part):
            walk.feed_attributes(place, part)
        else:
            walk.feed_at(f"the state of {place}", part)


def _walk_pattern(walk: Walk, pattern: re.Pattern[Any]) -> None:
    walk.write("pattern", b"%d" % pattern.flags)
    walk.feed(pattern.pattern)


def has_own_recipe(kind: type) -> bool:
    """Whether a class defines its own `__reduce__` or state."""
    hooks = ("__reduce__", "__reduce_ex__", "__getstate__")
    return any(getattr(kind, hook, None) is not getattr(object, hook, None) for hook in hooks)


def name_of(kind: type) -> str:
    """The full name of a class."""
    return f"{kind.__module__}.{kind.__qualname__}"


BY_VALUE: dict[type, Walker] = {re.Pattern: _walk_pattern}
