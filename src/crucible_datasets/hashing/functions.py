"""Functions and classes: by their code, and the globals, closures and imports it refers to.

Installed code is hashed by name and version, users' code by content: its file, its layout and the names of its local
variables do not matter.
"""

from __future__ import annotations

import dis
import enum
import functools
import inspect
import re
import sys
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from crucible_datasets.hashing.modules import (
    feed_import,
    feed_used,
    goes_by_name,
    is_installed,
    users_module,
    write_name,
)
from crucible_datasets.hashing.references import AS_VALUE, Uses, all_code, uses_of
from crucible_datasets.hashing.walk import Walk, Walker

_KINDS_OF_CODE = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
_READS_GLOBALS = {"globals", "eval", "exec"}
_READS_ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "expandvars"}
_IMPORTS = {"import_module", "__import__"}
_READS_DOCSTRINGS = {"__doc__", "getdoc"}
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_SEES_LOCALS = {"locals", "vars", "dir", "eval", "exec"}
# Special names, besides methods, that the author of a class may have defined.
_METHODS = (
    *(types.FunctionType, property, classmethod, staticmethod),
    *(functools.partialmethod, functools.singledispatchmethod),
)
_OF_PYTHON = {"__module__", "__qualname__", "__doc__", "__firstlineno__"}
_WRITTEN = {"__call__", "__annotations__", "__slots__", "__match_args__", "__dataclass_fields__", "__pydantic_fields__"}


def _walk_function(walk: Walk, function: types.FunctionType) -> None:
    if goes_by_name(function):
        write_name(walk, function.__module__, function.__qualname__)
        return
    if _is_generic(function):
        walk.write("singledispatch")
        walk.feed([function.__wrapped__, list(function.registry.items())])  # type: ignore[attr-defined]
        return
    with _order_counts(walk):
        _walk_users_function(walk, function)


def _walk_users_function(walk: Walk, function: types.FunctionType) -> None:
    place = f"function {function.__name__}"
    walk.write("function")
    walk.feed(function.__code__)
    walk.feed_at(f"a default of {place}", function.__defaults__)
    walk.feed_at(f"a default of {place}", function.__kwdefaults__)
    if vars(function) and not walk.skips_changing:
        walk.feed_attributes(place, vars(function))
    uses = uses_of(function.__code__)
    skipped = uses.assigned if walk.skips_changing else set()
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        walk.write("closure", name.encode())
        if name in skipped:
            continue
        found = cell.cell_contents if _is_filled(cell) else ...
        feed_used(walk, f"closure variable {name!r} of {place}", found, uses.variables.get(name, {AS_VALUE}))
    module = function.__globals__.get("__name__")
    if is_installed(module):
        write_name(walk, module, "")
        return
    for name in sorted((uses.globals.keys() & function.__globals__.keys()) - skipped):
        walk.write("global", name.encode())
        feed_used(walk, f"global {name!r} of {place}", function.__globals__[name], uses.globals[name])
    for wanted in sorted(set(uses.imports)):
        of_variable = uses.variables.get(wanted.variable, set())
        feed_import(walk, place, wanted, function.__globals__.get("__package__"), of_variable)
    _feed_named_in_texts(walk, function, uses)


def _feed_named_in_texts(walk: Walk, function: types.FunctionType, uses: Uses) -> None:
    """Add what code reads by a name in a text: globals by `globals()` or `eval`, modules by `import_module`."""
    walk.mentions.reads_environment |= bool(_READS_ENVIRONMENT & uses.names)
    walk.mentions.texts |= uses.texts
    texts = uses.texts | _texts_held(function, uses)
    if _READS_GLOBALS & uses.names:
        for name in sorted({name for text in texts for name in _IDENTIFIER.findall(text)}):
            if name in function.__globals__:
                walk.write("global", name.encode())
                walk.feed_at(f"global {name!r} of function {function.__name__}", function.__globals__[name])
    if _IMPORTS & uses.names or "modules" in uses.names:
        for name in sorted(texts):
            module = users_module(name) if _IMPORTS & uses.names or name in sys.modules else None
            if module is not None:
                walk.write("module", name.encode())
                walk.feed_at(f"module {name!r} that function {function.__name__} names", module)


def _texts_held(function: types.FunctionType, uses: Uses) -> set[str]:
    """Texts in globals, enclosing variables and defaults, as in `os.environ[MODEL]`."""
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    enclosed = (cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell))
    held = (*defaults, *enclosed, *(function.__globals__.get(name) for name in uses.globals))
    return {value for value in held if isinstance(value, str)}


@contextmanager
def _order_counts(walk: Walk) -> Iterator[None]:
    before, walk.order_counts = walk.order_counts, True
    try:
        yield
    finally:
        walk.order_counts = before


def _is_generic(function: types.FunctionType) -> bool:
    """Whether it was created by `functools.singledispatch`, which has a cache of weak references."""
    return function.__globals__ is vars(functools) and {"registry", "__wrapped__"} <= vars(function).keys()


def _walk_code(walk: Walk, code: types.CodeType) -> None:
    steps, constants = _by_first_use(code)
    walk.write("code", steps)
    walk.write("exceptions", code.co_exceptiontable)
    walk.feed((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & _KINDS_OF_CODE))
    walk.feed((code.co_names, _names_seen(code), code.co_freevars, code.co_cellvars))
    walk.feed(constants)


def _by_first_use(code: types.CodeType) -> tuple[bytes, tuple[Any, ...]]:
    """The instructions and constants of code, constants in order of first use; an unused docstring is left out."""
    steps, numbers = bytearray(code.co_code), dict[int, int]()
    upper, first_of_upper = 0, None
    for position in range(0, len(steps), 2):
        operation = steps[position]
        if operation == dis.EXTENDED_ARG:
            first_of_upper = position if first_of_upper is None else first_of_upper
            upper = (upper | steps[position + 1]) << 8
            continue
        if operation in _HAS_CONSTANT:
            number = numbers.setdefault(upper | steps[position + 1], len(numbers))
            for low in range(position, (first_of_upper if first_of_upper is not None else position) - 2, -2):
                steps[low + 1], number = number & 255, number >> 8
        upper, first_of_upper = 0, None
    return bytes(steps), tuple(code.co_consts[index] for index in numbers)


_HAS_CONSTANT = frozenset(dis.hasconst)


def _names_seen(code: types.CodeType) -> tuple[str, ...]:
    """The variables whose names matter: parameters, or all of them if the code inspects its variables."""
    if _SEES_LOCALS & set(code.co_names):
        return code.co_varnames
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]


def _walk_method(walk: Walk, method: types.MethodType) -> None:
    walk.write("method")
    walk.feed_called(method.__func__)
    with walk.at(f"the object of method {method.__name__}"):
        walk.feed_called(method.__self__)


def _walk_partial(walk: Walk, value: functools.partial[Any]) -> None:
    walk.write("partial")
    walk.feed_called(value.func)
    with _order_counts(walk):
        walk.feed_at(f"an argument of partial {getattr(value.func, '__name__', '')}", (value.args, value.keywords))


class Arguments(dict[str, Any]):
    """Keyword arguments of a function, which may depend on the order of dicts in them.

    It may depend on the order of the arguments themselves only if it takes any, as `**arguments`.
    """

    order_counts = False

    @classmethod
    def of(cls, function: Any, arguments: Mapping[str, Any]) -> Arguments:
        """The arguments with which a function is called."""
        result = cls(arguments)
        with suppress(TypeError, ValueError):  # of functions that are not written in Python
            parameters = inspect.signature(function).parameters.values()
            result.order_counts = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        return result


def _walk_arguments(walk: Walk, arguments: Arguments) -> None:
    walk.write("arguments", b"%d" % len(arguments))
    with _order_counts(walk):
        for name in arguments if arguments.order_counts else sorted(arguments):
            walk.feed(name)
            walk.feed_at(f"argument {name!r}", arguments[name])


def _walk_wrapper(walk: Walk, value: Any) -> None:
    walk.write(type(value).__name__)
    for name in ("fget", "fset", "fdel", "func", "__wrapped__", "__func__"):
        wrapped = getattr(value, name, None)
        if wrapped is not None:
            walk.write("wrapped", name.encode())
            walk.feed_called(wrapped)


def _walk_descriptor(walk: Walk, value: Any) -> None:
    write_name(walk, value.__objclass__.__module__, value.__qualname__)


def walk_class(walk: Walk, kind: type) -> None:
    """Feed a class by what its author wrote: bases, methods and attributes."""
    if goes_by_name(kind) or not _is_made_in_python(kind):
        write_name(walk, kind.__module__, kind.__qualname__)
        return
    walk.write("class", kind.__qualname__.encode())
    walk.feed_called(type(kind))
    for base in kind.__bases__:
        walk.feed_called(base)
    with _order_counts(walk):
        if issubclass(kind, enum.Enum):
            walk.feed([(name, member.value) for name, member in kind.__members__.items()])
        if _reads_docstrings(kind):
            walk.feed(kind.__doc__)
        for name, value in sorted(_body(kind)):
            walk.write("name", name.encode())
            with walk.at(f"attribute {name!r} of class {kind.__name__}"):
                walk.feed_called(value)


def _is_made_in_python(kind: type) -> bool:
    heap_type = 1 << 9
    return bool(kind.__flags__ & heap_type)


def _body(kind: type) -> Iterator[tuple[str, Any]]:
    """The part of a class that its author wrote: methods and plain attributes."""
    for name, value in vars(kind).items():
        special = name.startswith("__") and name.endswith("__")
        is_text = isinstance(value, str) and name not in _OF_PYTHON
        if isinstance(value, _METHODS) or is_text or name in _WRITTEN or not (special or name.startswith("_abc_")):
            yield name, value


def _reads_docstrings(kind: type) -> bool:
    """Whether a method of a user's class reads docstrings, such as that of its own class."""
    bodies = [value for base in kind.__mro__ if not goes_by_name(base) for value in vars(base).values()]
    functions = [getattr(body, "__func__", getattr(body, "fget", body)) for body in bodies]
    return any(
        _READS_DOCSTRINGS & set(code.co_names)
        for function in functions
        if isinstance(function, types.FunctionType)
        for code in all_code(function.__code__)
    )


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


BY_VALUE: dict[type, Walker] = {types.CodeType: _walk_code}
BY_TYPE: dict[type, Walker] = {
    types.FunctionType: _walk_function,
    types.MethodType: _walk_method,
    functools.partial: _walk_partial,
    Arguments: _walk_arguments,
    property: _walk_wrapper,
    classmethod: _walk_wrapper,
    staticmethod: _walk_wrapper,
    functools.cached_property: _walk_wrapper,
    functools._lru_cache_wrapper: _walk_wrapper,
    types.WrapperDescriptorType: _walk_descriptor,
    types.MethodDescriptorType: _walk_descriptor,
    types.ClassMethodDescriptorType: _walk_descriptor,
    types.MemberDescriptorType: _walk_descriptor,
    types.GetSetDescriptorType: _walk_descriptor,
}
