"""What users call today goes on working: no public name, parameter, default, option or setting is lost.

    python tests/test_surface.py

writes what is public now to `tests/data/surface.json`; the test fails when anything that stands there is gone.
"""

from __future__ import annotations

import argparse
import ast
import enum
import importlib
import inspect
import json
import os
from pathlib import Path

from crucible_datasets import cli, config

SURFACE = Path(__file__).parent / "data" / "surface.json"
MODULES = [
    "crucible_datasets",
    *(
        f"crucible_datasets.{name}"
        for name in (
            "arrow_dataset builder benchmarks cache combine config dataset_dict decoders distributed download "
            "evaluation evaluation.metrics evaluation.statistics exceptions features fingerprint formats hub info "
            "iterable_dataset iterable_dataset_dict load logging outputs search splits storage webdataset"
        ).split()
    ),
]


def surface():
    """Signatures by the name that a user writes; bases of errors; options of commands; settings."""
    signatures, errors = {}, {}
    for module in map(importlib.import_module, MODULES):
        for name in _public(module):
            value = getattr(module, name)
            path = f"{module.__name__}.{name}"
            if inspect.isclass(value):
                if issubclass(value, Exception):
                    errors[path] = sorted(kind.__name__ for kind in value.__mro__[1:-2])
                signatures.update(_methods(path, value))
            elif callable(value):
                signatures[path] = _parameters(value)
            else:
                signatures[path] = None
    return {
        "signatures": signatures,
        "errors": errors,
        "commands": {name: options for command in [cli.parser()] for name, options in _commands(command)},
        "settings": sorted(name for name in vars(config) if name.isupper() and not name.startswith("_")),
    }


def _public(module):
    names = getattr(module, "__all__", None)
    if names is None:
        names = [
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")
        ]
    return [name for name in names if not inspect.ismodule(getattr(module, name))]


def _methods(path, kind):
    yield path, None if issubclass(kind, (enum.Enum, Exception)) else _parameters(kind)
    for name in dir(kind):
        home = next((base for base in kind.__mro__ if name in vars(base)), object)
        if not name.startswith("_") and home.__module__.startswith("crucible_datasets"):
            member = getattr(kind, name)
            yield f"{path}.{name}", _parameters(member) if callable(member) else None


def _parameters(function):
    """The parameters as they are written, without annotations: `a, /, b, c=1, *, d=None, **options`."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    plain = [each.replace(annotation=each.empty, default=_Shown.of(each)) for each in parameters]
    return str(inspect.Signature(plain))[1:-1]


class _Shown(str):
    """A default as it is written; an object as the name of its class."""

    __slots__ = ()

    @classmethod
    def of(cls, parameter):
        value = parameter.default
        if value is parameter.empty:
            return value
        return cls(
            repr(value) if value is None or type(value) in (bool, int, float, str, tuple) else type(value).__name__
        )

    def __repr__(self):
        return str(self)


def _commands(parser):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _commands(child)
    yield parser.prog, sorted(option for action in parser._actions for option in action.option_strings or [action.dest])


def _one_line_each(parts):
    lines = []
    for name, part in parts.items():
        entries = part.items() if isinstance(part, dict) else [(each, True) for each in part]
        body = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in sorted(entries)
        )
        lines.append(f"{json.dumps(name)}: {{\n{body}\n}}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lost(before, now):
    """The calls that a signature took and no longer takes, or takes otherwise."""
    if before is None or now is None:
        return []
    old, new = (ast.parse(f"def call({parameters}): ...").body[0].args for parameters in (before, now))
    lost = [f"{kind} parameters" for kind in ("vararg", "kwarg") if getattr(old, kind) and not getattr(new, kind)]
    if _names(new.posonlyargs + new.args)[: len(old.posonlyargs + old.args)] != _names(old.posonlyargs + old.args):
        lost.append("positions")
    if gone := set(_names(old.args + old.kwonlyargs)) - set(_names(new.args + new.kwonlyargs)):
        lost += sorted(gone)
    old_defaults, new_defaults = _defaults(old), _defaults(new)
    lost += [f"{name}={value}" for name, value in old_defaults.items() if new_defaults.get(name, value) != value]
    needed = set(_names(new.posonlyargs + new.args + new.kwonlyargs)) - set(new_defaults)
    was_needed = set(_names(old.posonlyargs + old.args + old.kwonlyargs)) - set(old_defaults)
    return lost + [f"{name} is needed" for name in sorted(needed - was_needed)]


def _names(arguments):
    return [argument.arg for argument in arguments]


def _defaults(arguments):
    positional = arguments.posonlyargs + arguments.args
    pairs = [*zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)]
    pairs += [(name, value) for name, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    return {argument.arg: ast.unparse(value) for argument, value in pairs}


def test_every_public_name_takes_the_calls_that_it_took():
    before, now = json.loads(SURFACE.read_text("utf-8"))["signatures"], surface()["signatures"]
    assert not before.keys() - now.keys()
    assert not {path: lost for path, taken in before.items() if (lost := _lost(taken, now[path]))}


def test_every_error_is_caught_by_the_clauses_that_caught_it():
    before, now = json.loads(SURFACE.read_text("utf-8"))["errors"], surface()["errors"]
    assert not {path: gone for path, bases in before.items() if (gone := set(bases) - set(now.get(path, ())))}


def test_every_command_has_the_options_that_it_had():
    before, now = json.loads(SURFACE.read_text("utf-8"))["commands"], surface()["commands"]
    assert not {name: gone for name, had in before.items() if (gone := set(had) - set(now.get(name, ())))}


def test_every_setting_is_there():
    assert not set(json.loads(SURFACE.read_text("utf-8"))["settings"]) - set(surface()["settings"])


if __name__ == "__main__":
    os.environ["COLUMNS"] = "120"
    SURFACE.write_text(_one_line_each(surface()), "utf-8")
