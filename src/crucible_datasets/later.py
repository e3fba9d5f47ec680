"""Modules, and names of modules, that are imported when they are first used.

A package whose `__getattr__` is `submodules(__name__)` gives, to `from package import name`, a stand-in that
imports the module on the first access. `import package.name` and `from package.name import …` are as ever.
A package whose `__getattr__` is `names(__name__, homes)` gives each name from the module that it lives in.
`collected_later` is for imports of many modules at once.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from crucible_datasets.forking import Lock

# Of two threads that import modules of one package at the same time, Python gives one a module that is half there,
# lest they wait for each other. So they take turns, but not for ever: one may wait for what the other imports.
_one_at_a_time = Lock(seconds=10)


def _module(name: str) -> Any:
    found = sys.modules.get(name)
    if found is not None and not getattr(found.__spec__, "_initializing", False):
        return found
    with _one_at_a_time:
        return import_module(name)


class Later:
    """Stands in for a module. Nothing is kept here: what somebody puts into the module is seen by all."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return vars(_module(self._name))

    def __getattr__(self, name: str) -> Any:
        return getattr(_module(self._name), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_module(self._name), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_module(self._name), name)

    def __repr__(self) -> str:
        return f"<module {self._name!r}, imported when it is used>"


def submodules(package: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose modules wait."""

    def named(name: str) -> Any:
        full = f"{package}.{name}"
        if name.startswith("__") or not (name in _listed(package) or find_spec(full)):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return Later(full)

    return named


@cache
def _listed(package: str) -> frozenset[str]:
    """The modules that lie in the folders of a package: one look is faster than a search for each."""
    try:
        found = [name for folder in sys.modules[package].__path__ for name in os.listdir(folder)]
    except OSError:
        return frozenset()  # it is in an archive
    return frozenset(name.removesuffix(".py") for name in found if name.endswith(".py"))


def names(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package that shows names of its modules: which module, which names."""
    home_of = {name: home for home, shown in homes.items() for name in shown}

    def named(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return named


@contextmanager
def collected_later() -> Iterator[None]:
    """No garbage collection while modules are imported, one thread at a time; what they define then counts as old.

    The collector would walk over new classes and functions 84 times on the way to a first row, for 15 ms of 280.
    """
    with _one_at_a_time:
        yield from _uncollected()


def _uncollected() -> Iterator[None]:
    if not gc.isenabled() or gc.get_freeze_count():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        # Into the oldest generation without a look at any object: as young ones they would all be walked over next.
        gc.freeze()
        gc.unfreeze()
        gc.enable()
