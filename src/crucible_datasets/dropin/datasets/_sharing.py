"""How `datasets.x` and `crucible_datasets.x` are one module, so that there is one of each class.

A module of this library that Hugging Face has too may lack names that it has there. They are looked up, when somebody
asks, in `_more/` (a file for each such module), then among the public names and the errors of the library: Hugging
Face's modules show all that they import, and programs rely on it.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import crucible_datasets
from crucible_datasets import exceptions

_FOLDER = os.path.dirname(os.path.abspath(__file__))


class SharedModules(MetaPathFinder, Loader):
    """Gives the modules of this library for the names of those of `datasets`."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The module below `datasets`, if this library has it."""
        if not fullname.startswith("datasets."):
            return None
        found = find_spec("crucible_datasets" + fullname.removeprefix("datasets"))
        return found and ModuleSpec(fullname, self, is_package=found.submodule_search_locations is not None)

    def exec_module(self, module: ModuleType) -> None:
        """Put the real module in the place of the one that was made for it."""
        sys.modules[module.__name__] = shared(module.__name__.removeprefix("datasets."))


def _complete(module: ModuleType, name: str) -> None:
    """Let a module know the names, and a package the modules, that it has at Hugging Face."""
    if "_of_datasets" in vars(module):
        return
    own = vars(module).get("__getattr__")

    def named(asked: str) -> Any:
        if own is not None:
            try:
                return own(asked)
            except AttributeError:
                pass
        return _elsewhere(module, name, asked)

    vars(module).update(__getattr__=named, _of_datasets=name)
    folder, path = os.path.join(_FOLDER, *name.split(".")), vars(module).get("__path__")
    if path is not None and folder not in path and os.path.isdir(folder):
        path.append(folder)


def _elsewhere(module: ModuleType, name: str, asked: str) -> Any:
    if asked.isidentifier() and not asked.startswith("__"):
        more = f"crucible_datasets._more.{name.replace('.', '_')}"
        if find_spec(more) and hasattr(found := import_module(more), asked):
            return getattr(found, asked)
        if asked in exceptions.__all__:
            return getattr(exceptions, asked)
        if asked in crucible_datasets.__all__:
            return getattr(crucible_datasets, asked)
        if "__path__" in vars(module) and find_spec(f"{module.__name__}.{asked}"):
            return shared(f"{name}.{asked}")
    raise AttributeError(f"module {module.__name__!r} has no attribute {asked!r}")


def shared(name: str) -> ModuleType:
    """A module by the name that it has below `datasets`."""
    if not find_spec(f"crucible_datasets.{name}"):
        raise ModuleNotFoundError(f"No module named 'datasets.{name}'", name=f"datasets.{name}")
    module = import_module(f"crucible_datasets.{name}")
    _complete(module, name)
    return module


def install() -> None:
    """Answer imports of modules below `datasets` from now on."""
    if not any(isinstance(finder, SharedModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, SharedModules())
