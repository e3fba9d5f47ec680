"""What a viewer shows: data in memory, data by name that is loaded on access, stores of runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import field
from threading import Lock
from typing import Any, Protocol

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.exceptions.base import listed
from crucible_datasets.forking import cached_property
from crucible_datasets.records import dataclass
from crucible_datasets.viewer.errors import NotFoundHereError

_RUNS = (
    ("crucible_datasets.evaluation.results.store", "ResultStore"),
    ("crucible_datasets.evaluation.runs.record", "EvaluationResult"),
)


class Data(Protocol):
    """Splits of one or more configurations."""

    @property
    def name(self) -> str: ...
    def configs(self) -> list[str]: ...
    def splits(self, config: str | None) -> Mapping[str, Any]:
        """The splits of a configuration: datasets, or streams."""

    def known(self) -> Mapping[str, Any]:
        """The names of the splits that are loaded or in memory."""

    def forget(self) -> None:
        """Load the data again on next access, if it was loaded by name."""


@dataclass(frozen=True)
class InMemory:
    """Datasets in memory."""

    name: str
    data: Mapping[str, Any]

    def configs(self) -> list[str]:
        return []

    def splits(self, config: str | None) -> Mapping[str, Any]:
        return self.data

    def known(self) -> Mapping[str, Any]:
        return self.data

    def forget(self) -> None:
        return None


@dataclass
class Named:
    """A dataset or benchmark that is loaded when its page is opened, each configuration once."""

    name: str
    streaming: bool = False
    revision: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    _loaded: dict[str | None, Mapping[str, Any]] = field(default_factory=dict)
    _lock: Any = field(default_factory=Lock)

    @cached_property
    def _is_benchmark(self) -> bool:
        from crucible_datasets import list_benchmarks

        return not os.path.exists(self.name) and self.name in list_benchmarks()

    @property
    def _options(self) -> dict[str, Any]:
        return {"streaming": self.streaming, "revision": self.revision, **self.reading}

    def configs(self) -> list[str]:
        from crucible_datasets import get_dataset_config_names

        if self._is_benchmark or _is_saved(self.name):
            return []
        return [str(name) for name in get_dataset_config_names(self.name, revision=self.revision)]

    def splits(self, config: str | None) -> Mapping[str, Any]:
        with self._lock:
            if config not in self._loaded:
                self._loaded[config] = self._load(config)
            return self._loaded[config]

    def known(self) -> Mapping[str, Any]:
        return next(iter(self._loaded.values()), {})

    def forget(self) -> None:
        """Load everything again on next access, since files have changed."""
        with self._lock:
            self._loaded.clear()

    def _load(self, config: str | None) -> Mapping[str, Any]:
        # Imported separately, since benchmarks import much that files do not need.
        if self._is_benchmark:
            from crucible_datasets import load_benchmark

            made = load_benchmark(self.name, config=config, **self._options)
            return {str(made.split or "train"): made.dataset}
        if _is_saved(self.name):
            from crucible_datasets import load_from_disk

            return as_splits(load_from_disk(self.name))
        from crucible_datasets import load_dataset

        known = self.configs()
        wanted = config or ("default" if "default" in known else next(iter(known), None))
        return as_splits(load_dataset(self.name, wanted, **self._options))


def as_splits(loaded: Any) -> Mapping[str, Any]:
    """One dataset, or a dict of them, as splits by name."""
    if isinstance(loaded, Mapping):
        return {str(name): rows for name, rows in loaded.items()}
    return {str(getattr(loaded, "split", None) or "train"): loaded}


@dataclass(frozen=True)
class Opened:
    """Everything that one viewer shows."""

    data: Mapping[str, Data] = field(default_factory=dict)
    stores: Mapping[str, Any] = field(default_factory=dict)

    @property
    def beginning(self) -> str:
        """The first page: that of a single dataset or store, else the list of all."""
        if len(self.data) + len(self.stores) != 1:
            return "/"
        return f"/data/{next(iter(self.data))}" if self.data else f"/results/{next(iter(self.stores))}"

    def data_of(self, key: str) -> Data:
        if key not in self.data:
            raise NotFoundHereError(f"There is no dataset {key!r} here; there are {listed(self.data)}.")
        return self.data[key]

    def store_of(self, key: str) -> Any:
        if key not in self.stores:
            raise NotFoundHereError(f"There is no result store {key!r} here; there are {listed(self.stores)}.")
        return self.stores[key]


def opened(
    things: tuple[Any, ...],
    streaming: bool = False,
    revision: str | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Opened:
    """The things to show, each under a short key."""
    data: dict[str, Data] = {}
    stores: dict[str, Any] = {}
    for number, thing in enumerate(things):
        if is_store(thing):
            stores[str(number)] = as_store(thing)
        else:
            name = "dataset" if len(things) == 1 else f"dataset {number}"  # if it has none
            data[str(number)] = _data(thing, name, streaming, revision, reading or {})
    return Opened(data, stores)


def _data(thing: Any, name: str, streaming: bool, revision: str | None, reading: Mapping[str, Any]) -> Data:
    if isinstance(thing, (str, os.PathLike)):
        return Named(os.fspath(thing), streaming, revision, reading)
    if hasattr(thing, "entry") and hasattr(thing, "dataset"):  # a benchmark
        return InMemory(str(thing.entry.name), {str(thing.split or "train"): thing.dataset})
    if isinstance(thing, Mapping) or hasattr(thing, "features"):
        splits = as_splits(thing)
        info = getattr(next(iter(splits.values()), None), "info", None)
        return InMemory(getattr(info, "dataset_name", None) or name, splits)
    raise ArgumentError("data", thing, "expected a name, a dataset, a benchmark, runs, or a result store.")


def is_store(thing: Any) -> bool:
    """Whether this is a store of runs, its folder, or a result."""
    if isinstance(thing, (str, os.PathLike)):
        return os.path.isdir(os.path.join(thing, "runs"))
    # If the module has not been imported, there can be no such object.
    return any(home in sys.modules and isinstance(thing, getattr(sys.modules[home], name)) for home, name in _RUNS)


def as_store(thing: Any) -> Any:
    """The store itself, that of a folder, or one of a single result."""
    from crucible_datasets.evaluation import EvaluationResult, ResultStore

    if isinstance(thing, EvaluationResult):
        from crucible_datasets.viewer.memory_store import MemoryStore

        return MemoryStore.of(thing)
    return thing if isinstance(thing, ResultStore) else ResultStore(thing)


def _is_saved(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for name in ("dataset_dict.json", "state.json"))
