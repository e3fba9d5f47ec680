"""What is looked at: data in memory, data of a name that is loaded when somebody looks, stores of runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import field
from threading import Lock
from typing import Any, Protocol

from crucible_datasets.exceptions import ArgumentError
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
        """The splits that need not be loaded to be named."""

    def forget(self) -> None:
        """What has been loaded is loaded again, where that can be done."""


@dataclass(frozen=True)
class Held:
    """Datasets that the program has in its hands."""

    name: str
    held: Mapping[str, Any]

    def configs(self) -> list[str]:
        return []

    def splits(self, config: str | None) -> Mapping[str, Any]:
        return self.held

    def known(self) -> Mapping[str, Any]:
        return self.held

    def forget(self) -> None:
        return None


@dataclass
class Named:
    """A dataset or benchmark that is loaded when its page is opened; every configuration once."""

    name: str
    streaming: bool = False
    revision: str | None = None
    on_bad_lines: str = "error"
    _loaded: dict[str | None, Mapping[str, Any]] = field(default_factory=dict)
    _lock: Any = field(default_factory=Lock)

    @cached_property
    def _is_benchmark(self) -> bool:
        from crucible_datasets import list_benchmarks

        return not os.path.exists(self.name) and self.name in list_benchmarks()

    @property
    def _options(self) -> dict[str, Any]:
        # Formats without lines do not know the option, so it is given where somebody asks for it.
        of_lines = {} if self.on_bad_lines == "error" else {"on_bad_lines": self.on_bad_lines}
        return {"streaming": self.streaming, "revision": self.revision, **of_lines}

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
        """Load everything anew when it is next asked for, as files that have changed since."""
        with self._lock:
            self._loaded.clear()

    def _load(self, config: str | None) -> Mapping[str, Any]:
        # Each is imported for itself: benchmarks bring along what files need not wait for.
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
    """One dataset, or a dict of them, as splits by their names."""
    if isinstance(loaded, Mapping):
        return {str(name): rows for name, rows in loaded.items()}
    return {str(getattr(loaded, "split", None) or "train"): loaded}


@dataclass(frozen=True)
class Opened:
    """All that one viewer shows."""

    data: Mapping[str, Data] = field(default_factory=dict)
    stores: Mapping[str, Any] = field(default_factory=dict)

    @property
    def beginning(self) -> str:
        """The page to begin with: that of the only thing there is, else a list of all."""
        if len(self.data) + len(self.stores) != 1:
            return "/"
        return f"/data/{next(iter(self.data))}" if self.data else f"/results/{next(iter(self.stores))}"

    def data_of(self, key: str) -> Data:
        if key not in self.data:
            raise NotFoundHereError(f"There is no dataset {key!r} in this viewer.")
        return self.data[key]

    def store_of(self, key: str) -> Any:
        if key not in self.stores:
            raise NotFoundHereError(f"There is no result store {key!r} in this viewer.")
        return self.stores[key]


def opened(
    things: tuple[Any, ...], streaming: bool = False, revision: str | None = None, on_bad_lines: str = "error"
) -> Opened:
    """Things to look at, each under a short key."""
    data: dict[str, Data] = {}
    stores: dict[str, Any] = {}
    for number, thing in enumerate(things):
        if is_store(thing):
            stores[str(number)] = as_store(thing)
        else:
            data[str(number)] = _data(thing, streaming, revision, on_bad_lines)
    return Opened(data, stores)


def _data(thing: Any, streaming: bool, revision: str | None, on_bad_lines: str) -> Data:
    if isinstance(thing, (str, os.PathLike)):
        return Named(os.fspath(thing), streaming, revision, on_bad_lines)
    if hasattr(thing, "entry") and hasattr(thing, "dataset"):  # a benchmark
        return Held(str(thing.entry.name), as_splits(thing.dataset))
    if isinstance(thing, Mapping) or hasattr(thing, "features"):
        splits = as_splits(thing)
        info = getattr(next(iter(splits.values()), None), "info", None)
        return Held(getattr(info, "dataset_name", None) or "dataset", splits)
    raise ArgumentError("data", thing, "expected a name, a dataset, a benchmark, runs, or a result store.")


def is_store(thing: Any) -> bool:
    """Whether this is a store of runs, the folder of one, or a result."""
    if isinstance(thing, (str, os.PathLike)):
        return os.path.isdir(os.path.join(thing, "runs"))
    # Who holds one has imported the module that it is of; others need not wait for it.
    return any(home in sys.modules and isinstance(thing, getattr(sys.modules[home], name)) for home, name in _RUNS)


def as_store(thing: Any) -> Any:
    """The store itself, that of a folder, or one that holds a single result."""
    from crucible_datasets.evaluation import EvaluationResult, ResultStore

    if isinstance(thing, EvaluationResult):
        from crucible_datasets.viewer.alone import Alone

        return Alone.of(thing)
    return thing if isinstance(thing, ResultStore) else ResultStore(thing)


def _is_saved(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for name in ("dataset_dict.json", "state.json"))
