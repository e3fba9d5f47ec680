"""Extension points: one package folder, one file per entry.

A file named after the entry defines one frozen value. `Registry` finds it by name and imports only that file. For other
names it looks at installed entry points, so third parties can add entries without touching this package.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any, Generic, Protocol, TypeVar

from crucible_datasets.exceptions import MissingPackageError, UnknownEntryError
from crucible_datasets.records import dataclass


class Entry(Protocol):
    """An entry of a registry, with its name and aliases."""

    @property
    def name(self) -> str: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...


E = TypeVar("E", bound=Entry)


@dataclass
class Registry(Generic[E]):
    """The entries of `package`: each module there with an attribute `attribute`."""

    kind: str
    package: str
    attribute: str
    entries: dict[str, E] = field(default_factory=dict)
    _complete: bool = False
    _plugged: bool = False

    def __getitem__(self, name: str) -> E:
        places: tuple[Callable[[], dict[str, E]], ...] = (
            lambda: self.entries,
            lambda: self._module(name),
            self._modules,
            self._with_plugins,
        )
        for place in places:
            for entry in place().values():
                if name == entry.name or name in entry.aliases:
                    return entry
        raise UnknownEntryError(self.kind, name, self.names())

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def names(self) -> list[str]:
        """Every name, sorted."""
        return sorted(self._modules() | self._with_plugins())

    def add(self, entry: E) -> E:
        """Register one more entry for this process."""
        self.entries[entry.name] = entry
        return entry

    def _module(self, name: str) -> dict[str, E]:
        """The entry from the file of the same name, without importing others."""
        if not self._complete and name.isidentifier() and importlib.util.find_spec(f"{self.package}.{name}"):
            self._import(name)
        return self.entries

    def _modules(self) -> dict[str, E]:
        if not self._complete:
            folder = importlib.import_module(self.package)
            for module in pkgutil.iter_modules(folder.__path__):
                self._import(module.name)
            self._complete = True
        return self.entries

    def _import(self, module: str) -> None:
        entry = getattr(importlib.import_module(f"{self.package}.{module}"), self.attribute, None)
        if entry is not None:
            self.entries.setdefault(entry.name, entry)

    def _with_plugins(self) -> dict[str, E]:
        # Reading entry points takes tens of milliseconds, so it is done only for unknown names and listings, and once.
        from importlib.metadata import entry_points

        for point in () if self._plugged else entry_points(group=self.package):
            self.entries.setdefault(point.name, point.load())
        self._plugged = True
        return self.entries


def need(package: str, extra: str) -> Any:
    """Import an optional package; the error says how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingPackageError(package, extra) from error
