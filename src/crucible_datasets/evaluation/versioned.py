"""Registries that keep every version of their entries: metrics and extraction rules.

Results refer to entries as `name@version`, so that scores stay comparable. A name alone means the newest version.
Case and separators do not matter: `rouge-l`, `ROUGE_L` and `rougeL` are equal. Entries register themselves when the
modules of their package are imported, which happens on the first lookup; unknown names are also looked up in the
entry points of the group with the name of the package.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Generic, Protocol, TypeVar

from crucible_datasets.exceptions import UnknownEntryError


class Versioned(Protocol):
    """The interface of an entry."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...


E = TypeVar("E", bound=Versioned)


class Versions(Generic[E]):
    """Every version of every entry, by `name@version`."""

    def __init__(self, kind: str, package: str, made: Callable[[str, Any], E]) -> None:
        self.kind, self.package, self._made = kind, package, made
        self.entries: dict[str, E] = {}
        self.families: list[Callable[[str], E | None]] = []  # functions for families of names, such as pass@1, pass@2 …
        self._complete = self._plugged = False

    def __getitem__(self, name: str) -> E:
        """The entry of that key, or the newest version of that name."""
        for places in (self._modules, self._with_plugins):
            places()
            found = self._find(name)
            if found is not None:
                return found
        raise UnknownEntryError(self.kind, name, list(self) if "@" in name else self.names())

    def __contains__(self, name: object) -> bool:
        try:
            return self[str(name)] is not None
        except UnknownEntryError:
            return False

    def __iter__(self) -> Iterator[str]:
        """Every key, sorted."""
        self._with_plugins()
        return iter(sorted(self.entries))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def names(self) -> list[str]:
        """Every name without its version, sorted."""
        return sorted({self[key].name for key in self})

    def add(self, entry: E) -> E:
        """Register one more version; the same key again replaces it."""
        self.entries[f"{entry.name}@{entry.version}"] = entry
        return entry

    def _find(self, asked: str) -> E | None:
        if asked in self.entries:
            return self.entries[asked]
        name, _, version = asked.partition("@")
        named = [entry for entry in self.entries.values() if name == entry.name or name in entry.aliases]
        if not named:
            wanted = _spelling(name)
            named = [entry for entry in self.entries.values() if wanted in map(_spelling, (entry.name, *entry.aliases))]
        matching = [entry for entry in named if version in ("", entry.version)]
        made = (family(asked) for family in self.families if not matching)
        return max(matching, key=_age, default=next((entry for entry in made if entry is not None), None))

    def _modules(self) -> None:
        if not self._complete:
            folder = import_module(self.package)
            for module in pkgutil.iter_modules(folder.__path__):
                import_module(f"{self.package}.{module.name}")
            self._complete = True

    def _with_plugins(self) -> None:
        # Reading entry points takes milliseconds, so they are read once, for an unknown name or a listing.
        from importlib.metadata import entry_points

        self._modules()
        for point in () if self._plugged else entry_points(group=self.package):
            if self._find(point.name) is None:
                self.add(self._made(point.name, point.load()))
        self._plugged = True


def _spelling(name: str) -> str:
    """A name without case and separators."""
    return re.sub(r"[-_\s]", "", name).lower()


def _age(entry: Versioned) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", entry.version)]
