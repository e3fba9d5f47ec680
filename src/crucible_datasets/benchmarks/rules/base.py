"""`Rule`, and the registry of rules.

The parameters of a rule are roles, to which a TOML file assigns columns. Values are checked against the annotations
of the parameters before the rule is called.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_type_hints

import msgspec

from crucible_datasets.exceptions import UnknownEntryError
from crucible_datasets.forking import cached_property

Kind = Literal["row", "value", "table"]
Fields = dict[str, Any]  # of a sample: input, target, choices, metadata
ENTRY_POINTS = "crucible_datasets.benchmarks.rules"


class Unfit(Exception):  # noqa: N818 – it never leaves the package: the loader tells benchmark, row and column
    """A value that is not valid for a role."""

    def __init__(self, role: str | None, reason: str) -> None:
        super().__init__(role, reason)
        self.role, self.reason = role, reason


@dataclass(frozen=True)
class Rule:
    """A function with a name and a version, and the types of the fields that it returns."""

    name: str
    version: int
    kind: Kind
    function: Callable[..., Any]
    input: str = "text"  # text, messages or pictures
    target: str = "text"  # text or texts
    metadata: Mapping[str, Any] = field(default_factory=dict)
    at_once: int = 1000  # rows in memory; fewer if a row may have many megabytes

    def __getstate__(self) -> dict[str, Any]:
        """Without the roles, which are computed again: their types cannot be pickled."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def key(self) -> str:
        """The name with the version, as in TOML files and results."""
        return f"{self.name}@{self.version}"

    @cached_property
    def roles(self) -> dict[str, Any]:
        """The parameters and the types of their values."""
        hints = get_type_hints(self.function, include_extras=True)
        return {name: hints.get(name, Any) for name in inspect.signature(self.function).parameters}

    @cached_property
    def required(self) -> list[str]:
        """The required parameters."""
        parameters = inspect.signature(self.function).parameters.values()
        return [parameter.name for parameter in parameters if parameter.default is parameter.empty]

    def fitting_columns(self, columns: Mapping[str, list[Any]]) -> dict[str, list[Any]] | None:
        """The values of many rows, checked together, which is several times faster; None if some are invalid."""
        try:
            return {role: msgspec.convert(values, list[self._kind(role)]) for role, values in columns.items()}  # type: ignore[misc]
        except msgspec.ValidationError:
            return None

    def _kind(self, role: str) -> Any:
        return self.roles[role] if role in self.required else self.roles[role] | None

    def fitting(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of roles, checked; None is left to the default."""
        return {
            role: self._checked(role, value)
            for role, value in values.items()
            if value is not None or role in self.required
        }

    def _checked(self, role: str, value: Any) -> Any:
        try:
            return msgspec.convert(value, self.roles[role])
        except msgspec.ValidationError as error:
            raise Unfit(role, str(error)) from error


class Rules(Mapping[str, Rule]):
    """All rules by name and version; a name alone means its newest version."""

    def __init__(self) -> None:
        self._found: dict[str, Rule] = {}
        self._complete = False

    def add(self, rule: Rule) -> Rule:
        """Register a rule for this process."""
        self._found[rule.key] = rule
        return rule

    def __getitem__(self, name: str) -> Rule:
        found = self._all()
        if name in found:
            return found[name]
        versions = [rule for rule in found.values() if rule.name == name]
        if not versions:
            raise UnknownEntryError("rule of benchmarks", name, sorted(found))
        return max(versions, key=lambda rule: rule.version)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._all()))

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Rule]:
        if not self._complete:
            self._complete = True
            folder = importlib.import_module("crucible_datasets.benchmarks.rules")
            for module in pkgutil.iter_modules(folder.__path__):
                importlib.import_module(f"{folder.__name__}.{module.name}")
            self._plug()
        return self._found

    def _plug(self) -> None:
        from importlib.metadata import entry_points

        for point in entry_points(group=ENTRY_POINTS):
            point.load()  # importing the module registers its rules


RULES = Rules()
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def rule(
    name: str,
    version: int = 1,
    *,
    input: str = "text",
    target: str = "text",
    metadata: Mapping[str, Any] | None = None,
    at_once: int = 1000,
) -> Decorator:
    """Register a function of columns that returns some of `input`, `target`, `choices` and `metadata`.

    `metadata` has the types of its metadata; `input` is "text", "messages" or "pictures", `target` is "text" or
    "texts"; `at_once` is the number of rows in memory at a time.
    """

    def registered(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES.add(Rule(name, version, "row", function, input, target, metadata or {}, at_once))
        return function

    return registered


def value_rule(name: str, version: int = 1) -> Decorator:
    """Register a function from the raw target to the target."""

    def registered(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES.add(Rule(name, version, "value", function))
        return function

    return registered


def table_rule(name: str, version: int = 1, *, columns: Mapping[str, Any]) -> Decorator:
    """Register a function from the columns of all rows to other rows, with the types `columns`."""

    def registered(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES.add(Rule(name, version, "table", function, metadata=columns))
        return function

    return registered
