"""Exceptions of one side as exceptions of the other, so that tests can catch them by their class."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from crucible_datasets.evaluation.sandbox.inside.values import Own


def description_of(error: BaseException) -> tuple[list[str], str, list[Any]]:
    """The class names of an exception, most specific first, its text, and its arguments (or the text instead)."""
    try:
        text = str(error)[:10_000]
    except Exception:  # noqa: BLE001 – a class of the candidate's
        text = ""
    arguments = error.args
    if isinstance(error, OSError) and error.filename is not None:
        arguments = (error.errno, error.strerror, error.filename)  # `args` lacks the file
    plain = all(each is None or type(each) in (bool, int, float, str) for each in arguments)
    return names_of(type(error)), text, list(arguments) if plain else [text]


def names_of(kind: type) -> list[str]:
    """The names of a class and of its bases, with their modules, most specific first."""
    return [f"{each.__module__}.{each.__name__}" for each in kind.__mro__]


def exception_of(names: list[str], arguments: list[Any], own: Own) -> BaseException:
    """An exception of the other side, of the same class as there, or of one with its name; marked as such."""
    error: BaseException = Exception(*arguments)
    with contextlib.suppress(TypeError):  # classes with more arguments, such as UnicodeError
        error = error_class(names, own)(*arguments)
    error.of_candidate = True  # type: ignore[attr-defined]
    return error


def error_class(names: list[str], own: Own) -> type[BaseException]:
    """The exception class of these names on this side; a new one if code of the other side defines it."""
    kind: type[BaseException] = BaseException
    for name in reversed(names):
        module, _, last = name.rpartition(".")
        standard = module.partition(".")[0] in sys.stdlib_module_names
        same = getattr(sys.modules.get(module), last, None) if standard else own(last)
        if isinstance(same, type) and issubclass(same, BaseException):
            kind = same
        elif module == "solution":
            kind = _errors.setdefault(last, type(last, (kind,), {}))
    return kind


_errors: dict[str, type[BaseException]] = {}
