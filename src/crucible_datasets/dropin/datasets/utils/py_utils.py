"""Small functions that programs borrow from Hugging Face: nested values, sizes, seeds, shards, pickles, JSON."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, Literal, TypeVar, Union

import cloudpickle

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.formats.parquet import byte_count as convert_file_size_to_int
from crucible_datasets.streams.from_generator import shared_arguments
from crucible_datasets.tables.rows import shared_out

T = TypeVar("T")
ListLike = list[T] | tuple[T, ...]
NestedDataStructureLike = Union[T, list[T], dict[str, T]]  # noqa: UP007 - a variable first is no alias to type checkers
PathLike = str | bytes | os.PathLike[str]

__all__ = [
    "ListLike",
    "Literal",
    "NestedDataStructure",
    "NestedDataStructureLike",
    "NonMutableDict",
    "PathLike",
    "Pickler",
    "T",
    "asdict",
    "convert_file_size_to_int",
    "copyfunc",
    "dump",
    "dumps",
    "first_non_null_non_empty_value",
    "first_non_null_value",
    "glob_pattern_to_regex",
    "has_sufficient_disk_space",
    "iter_batched",
    "map_nested",
    "minimal_tf_collate_fn",
    "minimal_tf_collate_fn_with_renaming",
    "no_op_if_value_is_null",
    "size_str",
    "string_to_dict",
    "temp_seed",
    "temporary_assignment",
    "ujson_dumps",
    "ujson_loads",
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
    num_proc: int | None = None,
    parallel_min_length: int = 2,
    batched: bool = False,
    batch_size: int | None = 1000,
    types: tuple[type, ...] | None = None,
    disable_tqdm: bool = True,
    desc: str | None = None,
) -> Any:
    """The same structure with a function applied to every value, or to lists of values if `batched`.

    `types` are the containers besides dicts whose values are mapped. It is done in this process, without a bar.
    """
    kinds: tuple[Any, ...] = types or (() if dict_only else (list,) * map_list + (tuple,) * map_tuple)
    if not batched:
        return _nested(function, data_struct, kinds, map_numpy)
    values: list[Any] = []
    _nested(values.append, data_struct, kinds, map_numpy)
    size = batch_size or max(len(values), 1)
    results = chain.from_iterable(function(values[start : start + size]) for start in range(0, len(values), size))
    return _nested(lambda _: next(results), data_struct, kinds, map_numpy)


def _nested(function: Callable[[Any], Any], data: Any, kinds: tuple[Any, ...], map_numpy: bool) -> Any:
    if isinstance(data, dict):
        return {key: _nested(function, value, kinds, map_numpy) for key, value in data.items()}
    if isinstance(data, kinds):
        return type(data)(_nested(function, value, kinds, map_numpy) for value in data)
    if map_numpy and hasattr(data, "dtype"):
        return type(data)([function(value) for value in data])
    return function(data)


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


def ujson_loads(*args: Any, **kwargs: Any) -> Any:
    """What JSON text says."""
    return json.loads(*args, **kwargs)


def ujson_dumps(*args: Any, **kwargs: Any) -> str:
    """A value as JSON text, without spaces."""
    return json.dumps(*args, **{"separators": (",", ":"), **kwargs})


class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Writes objects to a file; functions and what they use go with them, with or without `recurse`."""

    def __init__(self, file: Any, *args: Any, recurse: bool = True, **kwargs: Any) -> None:
        super().__init__(file, *args, **kwargs)


dump, dumps = cloudpickle.dump, cloudpickle.dumps


def _number_of_shards_in_gen_kwargs(gen_kwargs: dict[str, Any]) -> int:
    """How many elements the lists have."""
    return len(shared_arguments(gen_kwargs))


def _distribute_shards(num_shards: int, max_num_jobs: int) -> list[range]:
    """Which shards each of several jobs gets; none gets nothing."""
    return [shared_out(num_shards, jobs, job) for jobs in [min(num_shards, max_num_jobs)] for job in range(jobs)]


def _split_gen_kwargs(gen_kwargs: dict[str, Any], max_num_jobs: int) -> list[dict[str, Any]]:
    """The arguments of each of several jobs."""
    count = _number_of_shards_in_gen_kwargs(gen_kwargs)
    if count == 1:
        return [dict(gen_kwargs)]
    return [
        {
            name: [value[shard] for shard in shards] if isinstance(value, list) else value
            for name, value in gen_kwargs.items()
        }
        for shards in _distribute_shards(count, max_num_jobs)
    ]


def _merge_gen_kwargs(gen_kwargs_list: list[dict[str, Any]]) -> dict[str, Any]:
    """The arguments of several jobs as one."""
    first = gen_kwargs_list[0]
    return {
        name: [element for part in gen_kwargs_list for element in part[name]] if isinstance(value, list) else value
        for name, value in first.items()
    }


def minimal_tf_collate_fn(features: dict[str, Any] | list[dict[str, Any]]) -> dict[str, Any]:
    """The columns of rows as arrays; columns as they are."""
    import numpy as np

    if isinstance(features, dict):
        return features
    return {name: np.array([row[name] for row in features]) for name in features[0]}


def minimal_tf_collate_fn_with_renaming(features: Any) -> dict[str, Any]:
    """The same; the column `label` is called `labels`, as models do."""
    batch = minimal_tf_collate_fn(features)
    if "label" in batch:
        batch["labels"] = batch.pop("label")
    return batch
