"""Small functions that programs borrow from Hugging Face: nested values, sizes, seeds."""

from __future__ import annotations

import dataclasses
import re
import shutil
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, Literal, TypeVar

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.formats.parquet import byte_count as convert_file_size_to_int

T = TypeVar("T")

__all__ = [
    "Literal",
    "NestedDataStructure",
    "NonMutableDict",
    "asdict",
    "convert_file_size_to_int",
    "copyfunc",
    "first_non_null_non_empty_value",
    "first_non_null_value",
    "glob_pattern_to_regex",
    "has_sufficient_disk_space",
    "iter_batched",
    "map_nested",
    "no_op_if_value_is_null",
    "size_str",
    "string_to_dict",
    "temp_seed",
    "temporary_assignment",
    "unique_values",
    "zip_dict",
]


class NestedDataStructure:
    """A value, or values in lists, tuples and dicts."""

    def __init__(self, data: Any = None) -> None:
        self.data = [] if data is None else data

    def flatten(self, data: Any = None) -> list[Any]:
        """All values, in one list."""
        data = self.data if data is None else data
        if isinstance(data, dict):
            data = list(data.values())
        if isinstance(data, (list, tuple)):
            return [value for item in data for value in self.flatten(item)]
        return [data]


def map_nested(
    function: Callable[[Any], Any],
    data_struct: Any,
    dict_only: bool = False,
    map_list: bool = True,
    map_tuple: bool = False,
    map_numpy: bool = False,
    **how: Any,
) -> Any:
    """The same structure with a function applied to every value; `num_proc` and bars are not used."""
    kinds = () if dict_only else (list,) * map_list + (tuple,) * map_tuple
    if isinstance(data_struct, dict):
        return {key: map_nested(function, value, dict_only, map_list, map_tuple) for key, value in data_struct.items()}
    if isinstance(data_struct, kinds):
        return type(data_struct)(map_nested(function, value, dict_only, map_list, map_tuple) for value in data_struct)
    if map_numpy and hasattr(data_struct, "dtype"):
        return type(data_struct)([map_nested(function, value) for value in data_struct])
    return function(data_struct)


def asdict(obj: Any) -> Any:
    """Dataclasses in a nested value as dicts."""
    if dataclasses.is_dataclass(obj) and not isinstance(obj, type):
        return {field.name: asdict(getattr(obj, field.name)) for field in dataclasses.fields(obj)}
    return map_nested(asdict, obj, map_tuple=True) if isinstance(obj, (dict, list, tuple)) else obj


def size_str(size_in_bytes: float | None) -> str:
    """A size for people."""
    if not size_in_bytes:
        return "Unknown size"
    for unit, factor in (("PiB", 2**50), ("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_in_bytes >= factor:
            return f"{size_in_bytes / factor:.2f} {unit}"
    return f"{int(size_in_bytes)} bytes"


def zip_dict(*dicts: dict[Any, Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Each key with its values in all dicts."""
    for key in unique_values(key for each in dicts for key in each):
        yield key, tuple(each[key] for each in dicts)


def unique_values(values: Iterable[T]) -> Iterator[T]:
    """Values without repetition, in the order of their first appearance."""
    return iter(dict.fromkeys(values))


def iter_batched(iterable: Iterable[T], n: int) -> Iterator[list[T]]:
    """Lists of `n` values; the last may be shorter."""
    if n < 1:
        raise ArgumentError("n", n, "expected at least 1.")
    rest = iter(iterable)
    while batch := list(islice(rest, n)):
        yield batch


def first_non_null_value(iterable: Iterable[Any]) -> tuple[int, Any]:
    """The first value that is there, with its place; -1 where there is none."""
    return next(((place, value) for place, value in enumerate(iterable) if value is not None), (-1, None))


def first_non_null_non_empty_value(iterable: Iterable[Any]) -> tuple[int, Any]:
    """The first value that is there and no empty list or dict, with its place; -1 where there is none."""
    found = ((place, value) for place, value in enumerate(iterable) if value is not None)
    return next(((place, value) for place, value in found if value or not isinstance(value, (dict, list))), (-1, None))


def no_op_if_value_is_null(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that leaves None as it is."""
    return lambda value: None if value is None else func(value)


def string_to_dict(string: str, pattern: str) -> dict[str, str] | None:
    """What stands in the `{places}` of a pattern; None where the text is not of that form.

    >>> string_to_dict("data/a-1.csv", "data/{name}-{number}.csv")
    {'name': 'a', 'number': '1'}
    """
    parts = re.split(r"\{(.+?)\}", pattern)
    form = "".join(f"(?P<_{part}>.+)" if place % 2 else part for place, part in enumerate(parts))
    found = re.search(form, string)
    return None if found is None else {name[1:]: text for name, text in found.groupdict().items()}


_SIGNS = {"\\": r"\\", ".": r"\.", "*": ".*", "?": ".", "(": r"\(", ")": r"\)", "|": r"\|"}


def glob_pattern_to_regex(pattern: str) -> str:
    """A pattern of file names as a regular expression."""
    return "".join(_SIGNS.get(sign, sign) for sign in pattern.replace("//", "/"))


class NonMutableDict(dict[Any, Any]):
    """A dict in which no key is set twice."""

    def __setitem__(self, key: Any, value: Any) -> None:
        if key in self:
            raise ValueError(f"{key!r} is set already.")
        super().__setitem__(key, value)

    def update(self, other: Mapping[Any, Any]) -> None:  # type: ignore[override]
        """Set all keys of another, none of which is set already."""
        for key, value in other.items():
            self[key] = value


def copyfunc(func: types.FunctionType) -> types.FunctionType:
    """A function with the same code, under the same name."""
    copied = types.FunctionType(func.__code__, func.__globals__, func.__name__, func.__defaults__, func.__closure__)
    copied.__kwdefaults__ = func.__kwdefaults__
    return copied


def has_sufficient_disk_space(needed_bytes: int, directory: str = ".") -> bool:
    """Whether a disk has room for so many bytes; where it does not say, it is believed to."""
    try:
        return needed_bytes < shutil.disk_usage(directory).free
    except OSError:
        return True


@contextmanager
def temporary_assignment(obj: Any, attr: str, value: Any) -> Iterator[None]:
    """An attribute with another value for a while."""
    original = getattr(obj, attr, None)
    setattr(obj, attr, value)
    try:
        yield
    finally:
        setattr(obj, attr, original)


@contextmanager
def temp_seed(seed: int, set_pytorch: bool = False, set_tensorflow: bool = False) -> Iterator[None]:
    """Random numbers of numpy, and of torch and TensorFlow where asked, from a seed for a while."""
    import numpy as np

    before = np.random.get_state()
    np.random.seed(seed)
    if set_tensorflow:
        import tensorflow

        tensorflow.random.set_seed(seed)
    try:
        with _torch_seed(seed) if set_pytorch else temporary_assignment(types.SimpleNamespace(), "_", None):
            yield
    finally:
        np.random.set_state(before)


@contextmanager
def _torch_seed(seed: int) -> Iterator[None]:
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
