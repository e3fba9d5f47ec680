"""Which installed packages tasks refer to, so that they can be imported once for all workers (see `preloaded`).

Only packages that the program has already imported count. Modules of the user are not preloaded, since they may be
edited while the program runs and every worker must import the current version; but packages that they use are.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

# What every fork server has; it imports pyarrow and pandas too once the program has them.
_EVERYWHERE = {"cloudpickle", "crucible_datasets", "numpy", "pandas", "pyarrow", *sys.stdlib_module_names}
_EVERYWHERE |= {"__main__", "__mp_main__"}  # never imported by workers
_FOLDERS = {"site-packages", "dist-packages"}


def modules_behind(value: Any) -> Iterator[str]:
    """The modules that another process must import to unpickle a value, or to run a code object."""
    kind = type(value)
    if issubclass(kind, ModuleType):
        yield value.__name__
    elif kind is CodeType:
        yield from (step.argval for step in dis.get_instructions(value) if step.opname == "IMPORT_NAME")
    elif kind in {FunctionType, BuiltinFunctionType} or issubclass(kind, type):
        module = getattr(value, "__module__", None)
        if isinstance(module, str):
            yield module


def installed_among(names: Iterable[str]) -> set[str]:
    """The modules of installed packages among these, and those that user modules among these refer to."""
    found, seen, left = set(), set(), list(names)
    while left:
        name = left.pop()
        module = sys.modules.get(name)
        if name in seen or module is None or _root(name) in _EVERYWHERE:
            continue
        seen.add(name)
        if _is_installed(name):
            found.add(name)
        elif _file(name):
            left.extend(used for value in list(vars(module).values()) for used in modules_behind(value))
    return found


def of_users(names: Iterable[str]) -> list[str]:
    """The modules among these that the user wrote."""
    return [name for name in names if _root(name) not in _EVERYWHERE and _file(name) and not _is_installed(name)]


def _is_installed(name: str) -> bool:
    """Whether a module is in site-packages. Modules that packages create at run time have no file of their own."""
    return any(not _FOLDERS.isdisjoint(PurePath(_file(part)).parts) for part in (name, _root(name)))


def _root(name: str) -> str:
    return name.partition(".")[0]


def _file(name: str) -> str:
    file = getattr(sys.modules.get(name), "__file__", None)
    return file if isinstance(file, str) else ""
