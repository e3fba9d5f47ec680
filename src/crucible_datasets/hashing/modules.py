"""Modules: installed ones by version, users' modules by the content that is used."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import platform
import sys
import types
from pathlib import PurePath
from typing import Any

from crucible_datasets.hashing.references import AS_VALUE, Import, Use
from crucible_datasets.hashing.walk import Walk, Walker

_PACKAGES = {"site-packages", "dist-packages"}


@functools.cache
def _stdlib() -> tuple[str, ...]:
    import sysconfig  # importing it takes milliseconds

    return tuple({os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")})


def walk_module(walk: Walk, module: types.ModuleType) -> None:
    """Feed a module that is passed as a value, so that anything in it may be used."""
    if is_installed(module.__name__):
        write_name(walk, module.__name__, "")
        return
    content = {name: value for name, value in vars(module).items() if not _is_special(name)}
    walk.feed_attributes(f"module {module.__name__}", content)


def feed_used(walk: Walk, place: str, value: Any, uses: set[Use]) -> None:
    """Add a value; of a module, only the names that are used."""
    if isinstance(value, types.ModuleType) and is_installed(value.__name__):
        write_name(walk, value.__name__, "")
        _feed_replaced(walk, place, value, uses)
    elif isinstance(value, types.ModuleType) and AS_VALUE not in uses:
        _feed_used_module(walk, place, value, uses)
    else:
        with walk.at(place):
            if all(use == Use((), is_called=True) for use in uses):
                walk.feed_called(value)
            else:
                walk.feed(value)


def _feed_replaced(walk: Walk, place: str, module: types.ModuleType, uses: set[Use]) -> None:
    """Add what a user put into an installed module, in place of its own functions."""
    for chain in sorted({use.chain for use in uses if use.chain}):
        value: Any = module
        for depth, name in enumerate(chain, 1):
            value = vars(value).get(name) if hasattr(value, "__dict__") else None
            if isinstance(value, (types.FunctionType, type)) and not is_installed(value.__module__):
                walk.write("replaced", ".".join(chain[:depth]).encode())
                walk.feed_at(f"{'.'.join(chain[:depth])!r} of {place}", value)
                break


def _feed_used_module(walk: Walk, place: str, module: types.ModuleType, uses: set[Use]) -> None:
    for name in sorted({use.chain[0] for use in uses if use.chain}):
        walk.write("attribute", name.encode())
        below = {Use(use.chain[1:], use.is_called) for use in uses if use.chain[:1] == (name,)}
        head, _, tail = place.partition("' of ")
        inner = f"{head}.{name}' of {tail}" if tail else f"{place}.{name}"
        if name in vars(module):
            feed_used(walk, inner, vars(module)[name], below)
        elif "__getattr__" in vars(module):
            walk.feed_at(inner, vars(module)["__getattr__"])


def feed_import(walk: Walk, place: str, wanted: Import, package: str | None, uses: set[Use]) -> None:
    """Add the result of an import statement inside a function."""
    name = wanted.module
    if wanted.level:
        name = importlib.util.resolve_name("." * wanted.level + name, package or "")
    found = _imported(name if wanted.names or wanted.of_submodule else name.partition(".")[0], name)
    walk.write("import", name.encode())
    if found is None:
        write_name(walk, name, "")
    elif wanted.names:
        for each in wanted.names:
            value = getattr(found, each, None) or _imported(f"{name}.{each}", f"{name}.{each}")
            walk.feed_at(f"{each!r} that {place} imports", value)
    else:
        feed_used(walk, f"{name!r} that {place} imports", found, uses if wanted.variable else {AS_VALUE})


def _imported(name: str, whole: str) -> types.ModuleType | None:
    """A user's module; None for one that is installed or cannot be imported."""
    if is_installed(name):
        return None
    try:
        importlib.import_module(whole)
    except Exception:  # noqa: BLE001 - whatever the module raises, the function may meet it or not
        return None
    return sys.modules.get(name)


def users_module(name: str) -> types.ModuleType | None:
    """The user's module of a name; None if there is none."""
    is_name = all(part.isidentifier() for part in name.split("."))
    return _imported(name, name) if is_name else None


def is_installed(module: str | None) -> bool:
    """Whether a module is part of Python or of an installed package, and changes only with its version."""
    package = (module or "").partition(".")[0]
    if package in {"", "__main__", "__mp_main__"}:
        return False
    return package == __name__.partition(".")[0] or _lies_in_a_package(package)


def _lies_in_a_package(package: str) -> bool:
    loaded = sys.modules.get(package)
    if loaded is not None:
        paths = (vars(loaded).get("__file__"), *vars(loaded).get("__path__", ()))
    else:
        paths = _paths_of_unloaded(package)
    return _is_a_package(package, *(path for path in paths if path))


@functools.cache
def _is_a_package(package: str, *paths: str) -> bool:
    if not paths:
        return package in sys.stdlib_module_names
    return any(
        _PACKAGES & set(PurePath(path).parts)
        or (package in sys.stdlib_module_names and os.path.realpath(path).startswith(_stdlib()))
        for path in paths
    )


def _paths_of_unloaded(package: str) -> tuple[str | None, ...]:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return ()
    if spec is None or spec.origin in {"built-in", "frozen"}:
        return ()
    return (spec.origin, *(spec.submodule_search_locations or ()))


def write_name(walk: Walk, module: str | None, qualname: str) -> None:
    """Add an installed object: its name and the version of its package."""
    package = (module or "").partition(".")[0]
    walk.mentions.packages.add(package)
    version = "" if walk.skips_changing else _version(package)
    walk.write("named", f"{module}.{qualname} {version}".encode())


def _version(package: str) -> str:
    if package in sys.stdlib_module_names or package == "builtins":
        return platform.python_version()
    stated = getattr(sys.modules.get(package), "__version__", None)
    return stated if isinstance(stated, str) else _version_of_distribution(package)


@functools.cache
def _version_of_distribution(package: str) -> str:
    from importlib import metadata  # importing it takes longer than opening a Parquet file

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        names = metadata.packages_distributions().get(package, ())
        return " ".join(metadata.version(name) for name in sorted(set(names)))


def goes_by_name(value: Any) -> bool:
    """Whether a function or class is found in an installed module under its name."""
    found: Any = sys.modules.get(value.__module__)
    if found is None or not is_installed(value.__module__):
        return False
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


BY_NAME: dict[str, Walker] = {"builtins.module": walk_module}
