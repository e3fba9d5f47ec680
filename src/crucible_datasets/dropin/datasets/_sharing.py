"""How `datasets.x` and `crucible_datasets.x` are one module, so that there is one of each class.

A module of this library that Hugging Face has too may lack names that it has there. They are looked up, when somebody
asks, in the table of `_names`, then among the public names and the errors of the library: Hugging Face's modules show
all that they import, and programs rely on it. Modules that only forward names have no files: `forward` makes them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import crucible_datasets
from crucible_datasets import exceptions
from crucible_datasets.lazy_imports import names_of_datasets


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


def elsewhere(module: str, asked: str) -> Any:
    """A name that Hugging Face's module has, and the module of this library has not."""
    name = module.removeprefix("crucible_datasets.")
    if asked.isidentifier() and not asked.startswith("__"):
        origins = import_module("crucible_datasets._names").ORIGINS.get(name, {})
        if asked in origins:
            return getattr(import_module(f"crucible_datasets.{origins[asked]}"), asked)
        if asked in exceptions.__all__:
            return getattr(exceptions, asked)
        if asked in crucible_datasets.__all__:
            return getattr(crucible_datasets, asked)
        if "__path__" in vars(sys.modules[module]) and find_spec(f"{module}.{asked}"):
            return shared(f"{name}.{asked}")
    raise AttributeError(f"module {module!r} has no attribute {asked!r}")


def forward(package: str, modules: Mapping[str, Mapping[str, str]]) -> None:
    """Give a package modules that only forward: names, or `name:alias`, by the module of this library they are from."""
    for name, origins in modules.items():
        module = ModuleType(f"{package}.{name}", "Forwards to other modules of Crucible Datasets.")
        homes = {alias or own: (home, own) for home, own, alias in _listed(origins)}
        vars(module).update(
            __all__=sorted(homes), __getattr__=_getter(module.__name__, homes), __path__=[], __package__=module.__name__
        )
        module.__spec__ = ModuleSpec(module.__name__, None, is_package=True)
        sys.modules[module.__name__] = module
        if name not in vars(sys.modules[package]):
            setattr(sys.modules[package], name, module)
        names_of_datasets(module.__name__)


def _listed(origins: Mapping[str, str]) -> list[tuple[str, str, str]]:
    words = [(home, word.partition(":")) for home, words in origins.items() for word in words.split()]
    return [(home, name, alias) for home, (name, _, alias) in words]


def _getter(module: str, homes: Mapping[str, tuple[str, str]]) -> Any:
    def named(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, own = homes[name]
        return getattr(import_module(home if home == "filelock" else f"crucible_datasets.{home}"), own)

    return named


def shared(name: str) -> ModuleType:
    """A module by the name that it has below `datasets`."""
    if not find_spec(f"crucible_datasets.{name}"):
        raise ModuleNotFoundError(f"No module named 'datasets.{name}'", name=f"datasets.{name}")
    module = import_module(f"crucible_datasets.{name}")
    names_of_datasets(module.__name__)
    return module


def install() -> None:
    """Answer imports of modules below `datasets` from now on."""
    if not any(isinstance(finder, SharedModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, SharedModules())
