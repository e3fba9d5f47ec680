"""`Hasher`: digests that agree between processes, without pickling anything.

A value is walked in a canonical way: containers by their items, functions by their
code and by what they close over and name, objects by the state they would be copied
from. Code that is installed goes by name and version, code of the user by content.
"""

from __future__ import annotations

import copyreg
import dataclasses
import dis
import enum
import functools
import json
import os
import struct
import sys
import types
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import itemgetter
from pathlib import PurePath
from typing import Any

import xxhash

from crucible_datasets.exceptions import DatasetsError


class UnhashableError(DatasetsError, TypeError):
    """A value has a part without content of its own, such as a lock or an open file."""

    def message(self, kind: str, path: tuple[str, ...] = ()) -> str:
        self.kind, self.path = kind, path
        return f"Cannot hash {', in '.join(path) or 'the value'}: {kind} has no content that could be hashed."

    def inside(self, place: str) -> UnhashableError:
        """The same error, seen from the value around it."""
        return UnhashableError(self.kind, (*self.path, place))


class Hasher:
    """Digests of values, sixteen hex digits each.

    >>> Hasher.hash({"a": 1, "b": 2}) == Hasher.hash({"b": 2, "a": 1})
    True
    """

    def __init__(self) -> None:
        self._digest = xxhash.xxh64()

    @classmethod
    def hash_bytes(cls, value: bytes | list[bytes]) -> str:
        """The digest of bytes, or of several one after the other."""
        digest = xxhash.xxh64()
        for part in value if isinstance(value, list) else [value]:
            digest.update(part)
        return digest.hexdigest()

    @classmethod
    def hash(cls, value: Any) -> str:
        """The digest of a value and of everything it refers to."""
        hasher = cls()
        hasher.update(value)
        return hasher.hexdigest()

    def update(self, value: Any) -> None:
        """Add one more value."""
        try:
            Walk(self._digest).feed(value)
        except RecursionError:
            raise UnhashableError(f"{_name(type(value))}, nested this deeply,") from None

    def hexdigest(self) -> str:
        """The digest of the values so far."""
        return self._digest.hexdigest()


class Walk:
    """Feeds a value into a digest, each part as tag, length and bytes, so that no two values look alike.

    What is being walked has a number, and meeting it again writes the number: cycles end.
    Functions, classes and objects keep theirs, so what many share is walked once.
    """

    def __init__(self, digest: Any, numbers: dict[int, int] | None = None, count: int = 0) -> None:
        self._digest, self._numbers, self._count = digest, dict(numbers or {}), count
        # An object freed during the walk could hand its id to another.
        self._kept: list[Any] = []

    def write(self, tag: str, content: Any = b"") -> None:
        self._digest.update(f"{tag}:{len(content)}:".encode())
        self._digest.update(content)

    def feed(self, value: Any) -> None:
        kind = type(value)
        atom = _ATOMS.get(kind)
        if atom is not None:
            self.write(kind.__name__, atom(value))
        elif id(value) in self._numbers:
            self.write("again", b"%d" % self._numbers[id(value)])
        else:
            self._count += 1
            self._numbers[id(value)] = self._count
            _walker(kind)(self, value)
            self._finish(kind, value)

    def feed_at(self, place: str, value: Any) -> None:
        try:
            self.feed(value)
        except UnhashableError as error:
            raise error.inside(place) from error.__cause__

    def feed_all(self, tag: str, values: Iterable[Any]) -> None:
        items = list(values)
        self.write(tag, b"%d" % len(items))
        for position, item in enumerate(items):
            try:
                self.feed(item)
            except UnhashableError as error:
                raise error.inside(f"item {position} of a {tag}") from error.__cause__

    def feed_attributes(self, owner: str, attributes: dict[str, Any]) -> None:
        self.write("attributes", b"%d" % len(attributes))
        for name in sorted(attributes):
            self.write("name", name.encode())
            self.feed_at(f"attribute {name!r} of {owner}", attributes[name])

    def alone(self, value: Any) -> bytes:
        """The digest of a value met here but in no particular order."""
        walk = Walk(xxhash.xxh64(), self._numbers, self._count)
        walk.feed(value)
        return bytes(walk._digest.digest())

    def _finish(self, kind: type, value: Any) -> None:
        if kind in _BY_VALUE or dataclasses.is_dataclass(kind):
            # Equal lists hash alike, whether they are one list twice or two lists.
            del self._numbers[id(value)]
        else:
            self._kept.append(value)


Walker = Callable[[Walk, Any], None]

_ATOMS: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda value: b"",
    type(...): lambda value: b"",
    type(NotImplemented): lambda value: b"",
    bool: lambda value: b"1" if value else b"0",
    int: lambda value: hex(value).encode(),
    float: lambda value: struct.pack("<d", value),
    complex: lambda value: struct.pack("<dd", value.real, value.imag),
    str: lambda value: value.encode("utf-8", "surrogatepass"),
    bytes: lambda value: value,
    bytearray: bytes,
}


_MANY_ITEMS = 5000
_DEEPEST_COLUMN = 16


def _walk_items(walk: Walk, value: Any) -> None:
    if type(value) is list and len(value) > _MANY_ITEMS:
        walk.write("many", b"%d" % len(value))
        parts = (value[start : start + _MANY_ITEMS] for start in range(0, len(value), _MANY_ITEMS))
        if all(_fed_by_columns(walk, part) for part in parts):
            return
    walk.feed_all(type(value).__name__, value)


def _fed_by_columns(walk: Walk, values: list[Any], depth: int = 0) -> bool:
    """Feed many values of one shape column by column, ten times as fast; False when their shapes differ."""
    kinds = set(map(type, values))
    if kinds == {list} and depth < _DEEPEST_COLUMN:
        walk.write("lists", array("q", map(len, values)))
        return _fed_by_columns(walk, list(chain.from_iterable(values)), depth + 1)
    if kinds == {dict} and depth < _DEEPEST_COLUMN:
        return _fed_by_fields(walk, values, depth)
    if kinds == {str}:
        walk.write("lengths", array("q", map(len, values)))
        walk.write("texts", "".join(values).encode("utf-8", "surrogatepass"))
        return True
    if kinds == {float}:
        walk.write("floats", array("d", values))
        return True
    if kinds == {int} and min(values) >= -(2**63) and max(values) < 2**63:
        walk.write("integers", array("q", values))
        return True
    return False


def _fed_by_fields(walk: Walk, values: list[dict[Any, Any]], depth: int) -> bool:
    names = sorted(values[0]) if all(type(name) is str for name in values[0]) else []
    if not names or set(map(len, values)) != {len(names)}:
        return False
    walk.write("records", b"%d" % len(values))
    walk.feed_all("names", names)
    try:
        return all(_fed_by_columns(walk, list(map(itemgetter(name), values)), depth + 1) for name in names)
    except KeyError:
        return False


def _walk_set(walk: Walk, value: Any) -> None:
    walk.write("set", b"%d" % len(value))
    walk.feed(type(value))
    try:
        digests = sorted(walk.alone(member) for member in value)
    except UnhashableError as error:
        raise error.inside("a member of a set") from error.__cause__
    walk.write("members", b"".join(digests))


def _walk_dict(walk: Walk, value: Any) -> None:
    walk.write("dict", b"%d" % len(value))
    by_name = all(type(key) is str for key in value)
    for key in sorted(value) if by_name else sorted(value, key=walk.alone):
        walk.feed(key)
        try:
            walk.feed(value[key])
        except UnhashableError as error:
            raise error.inside(f"item {key!r} of a dict") from error.__cause__


def _walk_path(walk: Walk, value: PurePath) -> None:
    walk.write("path", os.fsencode(value))


def _walk_enum(walk: Walk, value: enum.Enum) -> None:
    walk.write("enum", value.name.encode() if value.name else b"")
    walk.feed(type(value))
    walk.feed_at(f"the value of {type(value).__name__}.{value.name}", value.value)


def _walk_dataclass(walk: Walk, value: Any) -> None:
    walk.write("dataclass")
    walk.feed(type(value))
    known = {item.name: getattr(value, item.name) for item in dataclasses.fields(value) if hasattr(value, item.name)}
    walk.feed_attributes(type(value).__name__, known)


def _walk_module(walk: Walk, value: types.ModuleType) -> None:
    walk.write("module", value.__name__.encode())


def _walk_function(walk: Walk, function: types.FunctionType) -> None:
    if _goes_by_name(function):
        _write_name(walk, function.__module__, function.__qualname__)
        return
    place = f"function {function.__name__}"
    walk.write("function")
    walk.feed(function.__code__)
    walk.feed_at(f"a default of {place}", function.__defaults__)
    walk.feed_at(f"a default of {place}", function.__kwdefaults__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        walk.write("closure", name.encode())
        walk.feed_at(f"closure variable {name!r} of {place}", cell.cell_contents if _is_filled(cell) else ...)
    if not _is_installed(function.__globals__.get("__name__")):
        for name, found in _globals_named_by(function):
            walk.write("global", name.encode())
            walk.feed_at(f"global {name!r} of {place}", found)


def _walk_code(walk: Walk, code: types.CodeType) -> None:
    walk.write("code", code.co_code)
    walk.write("exceptions", code.co_exceptiontable)
    walk.feed((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags))
    walk.feed((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    walk.feed(code.co_consts)


def _walk_method(walk: Walk, method: types.MethodType) -> None:
    walk.write("method")
    walk.feed(method.__func__)
    walk.feed_at(f"the object of method {method.__name__}", method.__self__)


def _walk_partial(walk: Walk, value: functools.partial[Any]) -> None:
    walk.write("partial")
    walk.feed(value.func)
    walk.feed_at(f"an argument of partial {getattr(value.func, '__name__', '')}", (value.args, value.keywords))


def _walk_wrapper(walk: Walk, value: Any) -> None:
    walk.write(type(value).__name__)
    wrapped = ("fget", "fset", "fdel", "func", "__wrapped__", "__func__")
    walk.feed([getattr(value, name) for name in wrapped if getattr(value, name, None) is not None])


def _walk_descriptor(walk: Walk, value: Any) -> None:
    _write_name(walk, value.__objclass__.__module__, value.__qualname__)


def _walk_class(walk: Walk, kind: type) -> None:
    if _goes_by_name(kind) or not _is_made_in_python(kind):
        _write_name(walk, kind.__module__, kind.__qualname__)
        return
    walk.write("class", kind.__qualname__.encode())
    walk.feed(kind.__bases__)
    if issubclass(kind, enum.Enum):
        walk.feed([(name, member.value) for name, member in kind.__members__.items()])
    walk.feed_attributes(f"class {kind.__name__}", dict(_body(kind)))


def _walk_object(walk: Walk, value: Any) -> None:
    """An object by the recipe it gives for copying itself."""
    kind = type(value)
    try:
        recipe = copyreg.dispatch_table[kind](value) if kind in copyreg.dispatch_table else value.__reduce_ex__(4)
    except Exception as error:
        raise UnhashableError(_name(kind)) from error
    if isinstance(recipe, str):
        _write_name(walk, getattr(value, "__module__", None) or kind.__module__, recipe)
        return
    make, arguments, state, items, pairs = (*recipe, None, None, None)[:5]
    place = kind.__qualname__
    walk.write("object")
    walk.feed(make)
    walk.feed_at(place, arguments)
    _walk_state(walk, place, state)
    walk.feed_at(place, None if items is None else list(items))
    walk.feed_at(place, None if pairs is None else list(pairs))


def _walk_state(walk: Walk, place: str, state: Any) -> None:
    parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
    walk.write("state", b"%d" % len(parts))
    for part in parts:
        if isinstance(part, dict) and all(isinstance(name, str) for name in part):
            walk.feed_attributes(place, part)
        else:
            walk.feed_at(f"the state of {place}", part)


def _walk_array(walk: Walk, array: Any) -> None:
    if type(array).__name__ not in ("ndarray", "memmap"):
        _walk_object(walk, array)
        return
    walk.write("ndarray", f"{array.dtype} {array.shape}".encode())
    if array.dtype.hasobject or array.dtype.kind == "T":
        walk.feed(array.tolist())
    else:
        walk.write("values", array.tobytes() if not array.flags.c_contiguous else array.reshape(-1).view("u1").data)


def _walk_scalar(walk: Walk, scalar: Any) -> None:
    walk.write("scalar", str(scalar.dtype).encode())
    walk.write("value", scalar.tobytes())


def _walk_tensor(walk: Walk, tensor: Any) -> None:
    import torch

    walk.write("tensor", f"{tensor.dtype} {tuple(tensor.shape)}".encode())
    plain = tensor.detach().cpu().to_dense().resolve_conj().resolve_neg().contiguous()
    walk.write("values", plain.reshape(-1).view(torch.uint8).numpy().data)


def _walk_torch_generator(walk: Walk, generator: Any) -> None:
    walk.write("generator", str(generator.device).encode())
    walk.feed(generator.get_state())


def _walk_table(walk: Walk, table: Any) -> None:
    walk.write("table", b"%d" % table.num_rows)
    write_table(walk._digest, table)


def _walk_batch(walk: Walk, batch: Any) -> None:
    import pyarrow as pa

    walk.write("batch")
    _walk_table(walk, pa.Table.from_batches([batch]))


def _walk_column(walk: Walk, column: Any) -> None:
    import pyarrow as pa

    walk.write(type(column).__name__)
    _walk_table(walk, pa.table({"": column}))


def _walk_arrow_scalar(walk: Walk, scalar: Any) -> None:
    import pyarrow as pa

    walk.write("scalar")
    _walk_column(walk, pa.array([scalar.as_py()], scalar.type))


def _walk_schema(walk: Walk, schema: Any) -> None:
    walk.write("schema", schema.serialize())


def _walk_field(walk: Walk, field: Any) -> None:
    import pyarrow as pa

    walk.write("field", pa.schema([field]).serialize())


def _walk_type(walk: Walk, kind: Any) -> None:
    import pyarrow as pa

    walk.write("type", pa.schema([pa.field("", kind)]).serialize())


def _walk_buffer(walk: Walk, buffer: Any) -> None:
    walk.write("buffer", memoryview(buffer).cast("B"))


def _walk_features(walk: Walk, features: Any) -> None:
    # As text, because the order of columns counts here.
    walk.write("features", json.dumps(features.to_dict()).encode())


def _walk_fingerprint(walk: Walk, fingerprint: Any) -> None:
    walk.write("fingerprint", str(fingerprint).encode())


def _walk_dataset(walk: Walk, dataset: Any) -> None:
    walk.write("dataset", str(dataset._fingerprint).encode())


_BY_VALUE: dict[type, Walker] = {
    list: _walk_items,
    tuple: _walk_items,
    dict: _walk_dict,
    set: _walk_set,
    frozenset: _walk_set,
    types.MappingProxyType: _walk_dict,
    types.CodeType: _walk_code,
}
_BY_IDENTITY: dict[type, Walker] = {
    types.FunctionType: _walk_function,
    types.MethodType: _walk_method,
    functools.partial: _walk_partial,
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
# By name, so that none of these packages needs to be imported.
_BY_NAME: dict[str, Walker] = {
    "builtins.module": _walk_module,
    "builtins.set": _walk_set,
    "builtins.frozenset": _walk_set,
    "numpy.ndarray": _walk_array,
    "numpy.generic": _walk_scalar,
    "torch.Tensor": _walk_tensor,
    "torch._C.Generator": _walk_torch_generator,
    "pyarrow.lib.Table": _walk_table,
    "pyarrow.lib.RecordBatch": _walk_batch,
    "pyarrow.lib.ChunkedArray": _walk_column,
    "pyarrow.lib.Array": _walk_column,
    "pyarrow.lib.Scalar": _walk_arrow_scalar,
    "pyarrow.lib.Schema": _walk_schema,
    "pyarrow.lib.Field": _walk_field,
    "pyarrow.lib.DataType": _walk_type,
    "pyarrow.lib.Buffer": _walk_buffer,
    "crucible_datasets.features.features.Features": _walk_features,
    "crucible_datasets.fingerprint.Fingerprint": _walk_fingerprint,
    "crucible_datasets.arrow_dataset.Dataset": _walk_dataset,
}


def _walker(kind: type) -> Walker:
    exact = _BY_VALUE.get(kind) or _BY_IDENTITY.get(kind)
    if exact:
        return exact
    if issubclass(kind, type):
        return _walk_class
    named = next((_BY_NAME[name] for name in map(_name, kind.__mro__) if name in _BY_NAME), None)
    if named:
        return named
    if issubclass(kind, enum.Enum):
        return _walk_enum
    if issubclass(kind, PurePath):
        return _walk_path
    return _walk_dataclass if dataclasses.is_dataclass(kind) and not _has_own_recipe(kind) else _walk_object


def _has_own_recipe(kind: type) -> bool:
    hooks = ("__reduce__", "__reduce_ex__", "__getstate__")
    return any(getattr(kind, hook, None) is not getattr(object, hook, None) for hook in hooks)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _write_name(walk: Walk, module: str | None, qualname: str) -> None:
    package = sys.modules.get((module or "").partition(".")[0])
    walk.write("named", f"{module}.{qualname} {getattr(package, '__version__', '')}".encode())


def _goes_by_name(value: Any) -> bool:
    """Whether a function or class is what an installed module holds under its name."""
    found: Any = sys.modules.get(value.__module__)
    if found is None or not _is_installed(value.__module__):
        return False
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


@functools.cache
def _is_installed(module: str | None) -> bool:
    """Whether a module comes with Python or from a package index, and changes only with its version."""
    package = (module or "").partition(".")[0]
    if package in sys.stdlib_module_names or package == __name__.partition(".")[0]:
        return True
    file = getattr(sys.modules.get(module or ""), "__file__", None) or ""
    return bool({"site-packages", "dist-packages"} & set(PurePath(file).parts))


def _is_made_in_python(kind: type) -> bool:
    heap_type = 1 << 9
    return bool(kind.__flags__ & heap_type)


def _body(kind: type) -> Iterator[tuple[str, Any]]:
    """The part of a class that its author wrote: methods and plain attributes."""
    written = (types.FunctionType, property, classmethod, staticmethod)
    for name, value in vars(kind).items():
        special = name.startswith("__") and name.endswith("__")
        if isinstance(value, written) or name == "__annotations__" or not (special or name.startswith("_abc_")):
            yield name, value


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _globals_named_by(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    names, attributes = _names(function.__code__)
    for name in sorted(names & function.__globals__.keys()):
        found = function.__globals__[name]
        yield name, found
        if isinstance(found, types.ModuleType) and not _is_installed(found.__name__):
            yield from ((f"{name}.{part}", vars(found)[part]) for part in sorted(attributes & vars(found).keys()))


def _names(code: types.CodeType) -> tuple[set[str], set[str]]:
    """The globals that code reads, and every name it uses as an attribute or global."""
    reads = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
    names = {step.argval for step in dis.get_instructions(code) if step.opname in reads}
    attributes = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner_names, inner_attributes = _names(constant)
            names, attributes = names | inner_names, attributes | inner_attributes
    return names, attributes


class _Sink:
    """A file that keeps only the digest of what is written to it."""

    closed = False

    def __init__(self, digest: Any) -> None:
        self.write = digest.update

    def flush(self) -> None: ...

    def close(self) -> None: ...


def write_table(digest: Any, table: Any) -> None:
    """Feed the content of an Arrow table into a digest, without a second copy of it."""
    import pyarrow as pa

    with pa.ipc.new_stream(pa.PythonFile(_Sink(digest), mode="w"), table.schema) as writer:
        writer.write_table(table, max_chunksize=1 << 16)
