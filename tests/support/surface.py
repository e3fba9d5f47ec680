"""The surface of Hugging Face `datasets`: its public names, what each takes, and what of them is here."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import types
import warnings
from collections.abc import Iterator
from typing import Any

import datasets as hf
import datasets.distributed
import datasets.exceptions

import crucible_datasets as ours
from crucible_datasets import _sharing

# Public names that are not here, each with a reason that users would accept.
NOT_HERE: dict[str, str] = {}

# Parameters that come after those of Hugging Face.
MORE = {
    **dict.fromkeys(
        ["Dataset.map", "Dataset.filter", "DatasetDict.map", "DatasetDict.filter"],
        ("on_error", "cache_key", "executor"),
    ),
    **{
        f"Iterable{kind}.{method}": ("executor",) for kind in ("Dataset", "DatasetDict") for method in ("map", "filter")
    },
    **{
        f"{kind}.push_to_hub": ("append",)
        for kind in ("Dataset", "DatasetDict", "IterableDataset", "IterableDatasetDict")
    },
    "distributed.split_dataset_by_node": ("deterministic", "block_size"),
}

# Parameters that differ on purpose.
DIFFERENT = {
    "tqdm": "both libraries subclass the progress bar of the `tqdm` package",
}

# Why a module lacks names, or is not here at all. None of them is public; `compatibility.py` says who imports them.
INSIDES = {
    "arrow_dataset": "functions behind methods of `Dataset`",
    "arrow_reader": "the reader of prepared Arrow files; use `load_dataset` or `Dataset.from_file`",
    "arrow_writer": "the batch sizes of Hugging Face's writer; block sizes are chosen automatically here",
    "commands": "the command `datasets-cli`; use `crucible`",
    "config": "URLs of servers that no longer exist, and settings for threads and pickling that are not used here",
    "data_files": "the file patterns that Hugging Face tries in turn; `reading` finds the files here",
    "dataset_dict": "functions behind methods of `DatasetDict`",
    "download": "tables of compression protocols",
    "features": "encoders behind the feature types, and extension types for pandas",
    "filesystems": "fsspec classes for single compressed files, which are not needed here",
    "fingerprint": "decorators of Hugging Face's own methods; fingerprints are computed on demand here",
    "formatting": "extractors behind the formats; here each format is one file in `outputs`",
    "info": "a type for checksums",
    "io": "the class behind `from_spark`: use the method",
    "iterable_dataset": "the stages of a stream; here they are in `streams` and work on batches",
    "load": "builder factories; use `load_dataset_builder`",
    "packaged_modules": "builders of the less common formats, and their option classes; here each format is one file in `formats`, read by `load_dataset`",
    "parallel": "an experimental joblib backend; use `num_proc` or an executor",
    "streaming": "patches that let loading scripts stream; such scripts are never run here",
    "table": "building blocks of Hugging Face's concatenated tables",
    "utils": "helpers of Hugging Face's own code",
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
CONSTANT = (str, bytes, int, float, list, dict, tuple, set, type(None))


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


def names() -> list[str]:
    """All public names, those of the members of classes behind a dot."""
    found: dict[str, None] = {}
    for name, value in top_level():
        found[name] = None
        if isinstance(value, type) and not issubclass(value, BaseException) and name not in DIFFERENT:
            found |= dict.fromkeys(sorted({f"{name}.{member}" for member in members(value)}))
    return list(found)


def found(library: types.ModuleType, path: str) -> Any:
    """What a dotted path stands for, or `MISSING`."""
    value: Any = library
    for part in path.split("."):
        if isinstance(value, types.ModuleType) and part in ("exceptions", "distributed"):
            value = importlib.import_module(f"{value.__name__}.{part}")
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


def differs(name: str) -> str | None:
    """What is wrong with a name here; None where nothing is."""
    theirs, own = found(hf, name), found(ours, name)
    if (own is MISSING) != (name in NOT_HERE):
        return "is missing" if own is MISSING else "is here now: take it off the list"
    if own is MISSING or name in DIFFERENT or name.startswith("exceptions.") or name.split(".")[-1] in OF_PYTHON:
        return None
    shown, wanted = parameters(own), parameters(theirs)
    more = [(shown.pop()[0]) for _ in MORE.get(name, ())]
    if tuple(reversed(more)) != MORE.get(name, ()) or shown != wanted:
        return f"takes {parameters(own)} and not {wanted}"
    return None


def modules() -> Iterator[str]:
    """Every module of Hugging Face that can be imported and is not private, without the name of the package."""
    for module in pkgutil.walk_packages(hf.__path__, "datasets."):
        if "._" not in module.name:
            yield module.name.removeprefix("datasets.")


def defined(name: str) -> list[str]:
    """The public names that a module defines, and its constants."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = importlib.import_module(f"datasets.{name}")
        except ImportError:
            return []
    return sorted(
        each
        for each, value in vars(module).items()
        if not each.startswith("_")
        and not isinstance(value, types.ModuleType)
        and (getattr(value, "__module__", None) == module.__name__ or (each.isupper() and isinstance(value, CONSTANT)))
        and each != "TYPE_CHECKING"
    )


def absent(name: str) -> list[str] | None:
    """The names that a module has there and not here; None where the module is not here."""
    try:
        module = _sharing.shared(name)
    except ModuleNotFoundError:
        return None
    return [each for each in defined(name) if not hasattr(module, each)]
