"""References of code: globals, variables of enclosing functions, and imports."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from dataclasses import field
from typing import NamedTuple

from crucible_datasets.records import dataclass

_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_ENCLOSED = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
_ASSIGNED = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF"}
_ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}
_ATTRIBUTES_SAY_CALL = "LOAD_METHOD" not in dis.opmap  # since Python 3.12


class Use(NamedTuple):
    """One way in which code uses a name: `name.chain`, which it calls or not."""

    chain: tuple[str, ...] = ()
    is_called: bool = False


AS_VALUE = Use()


class Import(NamedTuple):
    """An import inside code; `names` are imported from the module, or it is bound to `variable`."""

    module: str
    level: int
    names: tuple[str, ...]
    variable: str
    of_submodule: bool


@dataclass
class Uses:
    """All names that code and the functions inside it use."""

    globals: dict[str, set[Use]] = field(default_factory=dict)
    variables: dict[str, set[Use]] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)
    assigned: set[str] = field(default_factory=set)  # globals and variables of enclosing functions
    names: set[str] = field(default_factory=set)  # of globals, attributes and imports
    texts: set[str] = field(default_factory=set)  # constants


def uses_of(code: types.CodeType) -> Uses:
    """The uses of code and of its nested code."""
    uses = Uses()
    for inner in all_code(code):
        _gather(inner, uses)
    return uses


def all_code(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and its nested code."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from all_code(constant)


def _gather(code: types.CodeType, uses: Uses) -> None:
    uses.names.update(code.co_names)
    uses.texts.update(constant for constant in code.co_consts if isinstance(constant, str))
    steps = [step for step in dis.get_instructions(code) if step.opname not in {"EXTENDED_ARG", "PUSH_NULL", "NOP"}]
    for position, step in enumerate(steps):
        if step.opname in _GLOBAL:
            if not _names_the_module_of_a_class(steps, position):
                uses.globals.setdefault(step.argval, set()).add(_use(steps, position))
        elif step.opname in _ENCLOSED:
            uses.variables.setdefault(step.argval, set()).add(_use(steps, position))
        elif "LOAD_FAST" in step.opname:
            *before, last = _variables(step)
            if step.opname.startswith("LOAD"):
                uses.variables.update({name: {AS_VALUE, *uses.variables.get(name, ())} for name in before})
            uses.variables.setdefault(last, set()).add(_use(steps, position))
        elif step.opname in _ASSIGNED:
            uses.assigned.add(step.argval)
        elif step.opname == "IMPORT_NAME":
            uses.imports.append(_import(steps, position))


def _variables(step: dis.Instruction) -> tuple[str, ...]:
    """The variables of one instruction: since Python 3.13 it may load two, or store one and load another."""
    return step.argval if isinstance(step.argval, tuple) else (step.argval,)


def _use(steps: list[dis.Instruction], position: int) -> Use:
    chain: list[str] = []
    is_called = steps[position].opname == "LOAD_GLOBAL" and bool((steps[position].arg or 0) & 1)
    for step in steps[position + 1 :]:
        if step.opname not in _ATTRIBUTE:
            break
        chain.append(step.argval)
        is_called = step.opname == "LOAD_METHOD" or (_ATTRIBUTES_SAY_CALL and bool((step.arg or 0) & 1))
        if is_called:
            break
    return Use(tuple(chain), is_called)


def _import(steps: list[dis.Instruction], position: int) -> Import:
    level, names = (step.argval for step in steps[position - 2 : position])
    after = [step.opname for step in steps[position + 1 : position + 6]]
    stores = [step for step in steps[position + 1 : position + 6] if step.opname.startswith("STORE_")]
    of_submodule = bool(after) and after[0] == "IMPORT_FROM" and not names
    local = bool(stores) and stores[0].opname.startswith(("STORE_FAST", "STORE_DEREF"))
    variable = _variables(stores[0])[0] if local else ""
    return Import(steps[position].argval, level or 0, tuple(names or ()), variable, of_submodule)


def _names_the_module_of_a_class(steps: list[dis.Instruction], position: int) -> bool:
    """Whether this is the store of `__module__` with which every class body begins, and which is ignored."""
    after = steps[position + 1 : position + 2]
    return steps[position].argval == "__name__" and bool(after) and after[0].argval == "__module__"
