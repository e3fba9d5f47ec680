"""Every public name of Hugging Face `datasets` is here with the same parameters, or on the list below with its reason."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any

import datasets as hf
import datasets.distributed
import datasets.exceptions
import pytest

import crucible_datasets as ours

FILES = "files stage: reading, writing and caching files"

STILL_TO_COME = {
    "Dataset.from_spark": FILES,
    "IterableDataset.from_spark": FILES,
    **dict.fromkeys(
        [f"{kind}Builder.SLEEP_ON_THREADS_SHUTDOWNS" for kind in ("Dataset", "ArrowBased", "GeneratorBased")],
        "a switch for threads that are not used here",
    ),
    "experimental": "a decorator of Hugging Face's own functions, of no use to callers",
}

# Parameters that come after those of Hugging Face.
MORE = {
    **dict.fromkeys(
        ["Dataset.map", "Dataset.filter", "DatasetDict.map", "DatasetDict.filter"], ("on_error", "cache_key")
    ),
    **{
        f"{kind}.push_to_hub": ("append",)
        for kind in ("Dataset", "DatasetDict", "IterableDataset", "IterableDatasetDict")
    },
    "distributed.split_dataset_by_node": ("deterministic", "block_size"),
}

# Parameters that differ on purpose.
DIFFERENT = {
    "tqdm": "the bar of the `tqdm` package, of which both libraries make a subclass",
}

# Of the names between double underscores, those that mean something to a caller.
SPECIAL = {
    "__enter__",
    "__exit__",
    "__getitem__",
    "__getitems__",
    "__iter__",
    "__len__",
    "__eq__",
    "__repr__",
    "__str__",
}

# Called by Python, or with the meaning and the parameters they have in `dict`.
OF_PYTHON = SPECIAL | {name for name in vars(dict) if not name.startswith("_")}

MISSING = object()
FUNCTION = (types.FunctionType, types.MethodType)


def top_level() -> Iterator[tuple[str, Any]]:
    """Public names of the package that are not modules, and what they stand for."""
    for name, value in vars(hf).items():
        if not name.startswith("_") and not isinstance(value, types.ModuleType):
            yield name, value
    yield "distributed.split_dataset_by_node", hf.distributed.split_dataset_by_node
    for name, value in vars(hf.exceptions).items():
        if isinstance(value, type) and value.__module__ == hf.exceptions.__name__:
            yield f"exceptions.{name}", value


def members(owner: type) -> Iterator[str]:
    """Public members that the package itself defines, on the class or on a base of it."""
    for base in owner.__mro__:
        if base.__module__.startswith("datasets"):
            yield from (name for name in vars(base) if not name.startswith("_") or name in SPECIAL)


def names() -> Iterator[str]:
    for name, value in top_level():
        yield name
        if isinstance(value, type) and not issubclass(value, BaseException):
            yield from sorted({f"{name}.{member}" for member in members(value)})


def found(library: types.ModuleType, path: str) -> Any:
    """What a dotted path stands for, or `MISSING`."""
    value: Any = library
    for part in path.split("."):
        if isinstance(value, types.ModuleType) and part in ("exceptions", "distributed"):
            try:
                value = __import__(f"{value.__name__}.{part}", fromlist=[part])
            except ModuleNotFoundError:
                return MISSING
        else:
            value = getattr(value, part, MISSING)
    return value


def parameters(value: Any) -> list[tuple[str, str, str]] | None:
    """Name, kind and default of each parameter; None for what is not called."""
    if not isinstance(value, (type, *FUNCTION)):
        return None
    if isinstance(value, type) and issubclass(value, dict):
        return None
    shown = list(inspect.signature(value).parameters.values())
    if isinstance(value, type) and [each.name for each in shown] == ["args", "kwargs"]:
        # A metaclass with a `__call__` of its own hides the parameters of the class.
        shown = list(inspect.signature(value.__init__).parameters.values())[1:]
    return [(each.name, each.kind.name, repr(each.default)) for each in shown]


ALL_NAMES = list(dict.fromkeys(names()))


@pytest.mark.parametrize("name", [name for name in ALL_NAMES if name.split(".")[0] not in STILL_TO_COME])
def test_every_public_name_is_here_with_the_same_parameters(name):
    theirs, own = found(hf, name), found(ours, name)
    if name in STILL_TO_COME:
        assert own is MISSING, f"{name} is here now: take it off the list"
        return
    assert own is not MISSING, f"{name} is missing"
    if name not in DIFFERENT and not name.startswith("exceptions.") and name.split(".")[-1] not in OF_PYTHON:
        shown = parameters(own)
        for parameter in reversed(MORE.get(name, ())):
            assert shown.pop()[0] == parameter
        assert shown == parameters(theirs)


@pytest.mark.parametrize("name", STILL_TO_COME)
def test_the_list_of_work_to_come_is_true(name):
    assert name in ALL_NAMES, f"{name} is no public name of Hugging Face datasets"
    assert found(ours, name) is MISSING, f"{name} is here now: take it off the list"


@pytest.mark.parametrize("name", [name for name, value in top_level() if isinstance(value, type)])
def test_attributes_are_attributes_and_methods_are_methods(name):
    theirs, own = found(hf, name), found(ours, name)
    if own is MISSING:
        assert name in STILL_TO_COME
        return
    for member in sorted(set(members(theirs))):
        if f"{name}.{member}" not in STILL_TO_COME:
            called = callable(getattr(own, member)), callable(getattr(theirs, member))
            assert called[0] == called[1], f"{name}.{member}"
            if called[0]:
                bound = [
                    isinstance(inspect.getattr_static(each, member), (staticmethod, classmethod))
                    for each in (own, theirs)
                ]
                assert bound[0] == bound[1], f"{name}.{member}"


@pytest.mark.parametrize("name", [name for name, _ in top_level() if name.startswith("exceptions.")])
def test_errors_are_caught_by_the_same_clauses(name):
    """An error of ours is an instance of the counterparts of all classes that theirs is one of."""
    theirs, own = found(hf, name), found(ours, name)
    if own is MISSING:
        assert name in STILL_TO_COME
        return
    wanted = [base.__name__ for base in theirs.__mro__]
    assert set(wanted) <= {base.__name__ for base in own.__mro__}
