"""Lazy imports: modules, and names from modules, that are imported on first use.

In a package whose `__getattr__` is `submodules(__name__)`, `from package import name` returns a `LazyModule`, which
imports the module on first attribute access. `import package.name` and `from package.name import …` work as usual.
In a package whose `__getattr__` is `names(__name__, homes)`, each name is loaded from its own module.
A module that ends with `names_of_datasets(__name__)` also has the names of Hugging Face's module of that name.
`gc_paused` speeds up importing many modules at once.
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

# When two threads import modules of one package at the same time, Python hands one of them a partially initialised
# module to avoid a deadlock. So imports are serialised, with a timeout: one thread may wait for what the other imports.
_import_lock = Lock(seconds=10)


def _module(name: str) -> Any:
    found = sys.modules.get(name)
    if found is not None and not getattr(found.__spec__, "_initializing", False):
        return found
    with _import_lock:
        return import_module(name)


class LazyModule:
    """Proxy for a module. It holds no state: attributes are read from and written to the real module."""

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
        return f"<module {self._name!r}, imported on first use>"


def submodules(package: str) -> Callable[[str], Any]:
    """A `__getattr__` for a package whose submodules are imported lazily."""

    def named(name: str) -> Any:
        full = f"{package}.{name}"
        if name.startswith("__") or not (name in _listed(package) or find_spec(full)):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return LazyModule(full)

    return named


@cache
def _listed(package: str) -> frozenset[str]:
    """The modules in the folders of a package: listing them once is faster than a `find_spec` for each."""
    try:
        found = [name for folder in sys.modules[package].__path__ for name in os.listdir(folder)]
    except OSError:
        return frozenset()  # the package is in a zip archive
    return frozenset(name.removesuffix(".py") for name in found if name.endswith(".py"))


def names(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """A `__getattr__` for a package that re-exports names; `homes` maps each module to the names it defines."""
    home_of = {name: home for home, shown in homes.items() for name in shown}

    def named(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return named


def names_of_datasets(module: str) -> None:
    """Let a module find the names that only Hugging Face's has, when they are asked for: see `_sharing.elsewhere`."""
    known = vars(sys.modules[module])
    if known.get("_of_datasets"):
        return
    own = known.get("__getattr__")

    def named(name: str) -> Any:
        if own is not None:
            try:
                return own(name)
            except AttributeError:
                pass
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return import_module("crucible_datasets._sharing").elsewhere(module, name)

    # Set, not defined: a type checker would take any name of a module that has a function `__getattr__` as given.
    known.update(__getattr__=named, _of_datasets=True)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection while modules are imported, by one thread at a time; their objects then count as old.

    Otherwise the collector runs 84 times over new classes and functions before the first row, taking 15 of 280 ms.
    """
    with _import_lock:
        yield from _without_gc()


def _without_gc() -> Iterator[None]:
    if not gc.isenabled() or gc.get_freeze_count():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        # This moves all objects to the oldest generation without visiting them; young ones would be traversed next.
        gc.freeze()
        gc.unfreeze()
        gc.enable()
