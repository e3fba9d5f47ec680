"""Open the datasets, result stores and runs that a user names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from crucible_datasets.cli.stdin import STANDARD_INPUT, spooled
from crucible_datasets.exceptions import (
    ArgumentError,
    DatasetNotFoundError,
    DownloadError,
    FileNotFoundDatasetsError,
    IncomparableRunsError,
    OfflineError,
    RunNotFoundError,
    SplitNotFoundError,
)
from crucible_datasets.exceptions.base import closest, listed
from crucible_datasets.exceptions.evaluation import is_part_of_name

if TYPE_CHECKING:
    from crucible_datasets import Dataset, DatasetDict, IterableDataset
    from crucible_datasets.evaluation.results.runfile import StoredRun
    from crucible_datasets.evaluation.results.store import ResultStore

_LISTED = 5  # runs that an error lists


def splits(
    dataset: str, config: str | None, split: str | None, revision: str | None, options: Mapping[str, Any]
) -> DatasetDict:
    """All splits, or the requested ones, by name."""
    from crucible_datasets import DatasetDict, load_dataset

    dataset, options = _source(dataset, options)
    if _is_saved(dataset):
        return _saved_splits(dataset, split)
    with _with_suggestions(dataset):
        loaded = load_dataset(dataset, config, split=split, revision=revision, **options)
    return loaded if isinstance(loaded, DatasetDict) else DatasetDict({str(loaded.split or "train"): loaded})


def one_split(
    dataset: str, config: str | None, split: str | None, revision: str | None, options: Mapping[str, Any]
) -> Dataset:
    """The split that is asked for, or the only one there is."""
    found = splits(dataset, config, split, revision, options)
    if len(found) > 1:
        raise ArgumentError("split", None, f"choose one of {', '.join(map(str, found))}.")
    return next(iter(found.values()))


def stream(
    dataset: str, config: str | None, split: str | None, revision: str | None, options: Mapping[str, Any]
) -> Dataset | IterableDataset:
    """The requested split, or the first, as a stream."""
    from crucible_datasets import load_dataset

    dataset, options = _source(dataset, options)
    if _is_saved(dataset):
        return next(iter(_saved_splits(dataset, split).values()))
    if split is not None and "[" in split:
        # Percentages need the number of rows, which a stream does not know.
        return next(iter(splits(dataset, config, split, revision, options).values()))
    with _with_suggestions(dataset):
        flows = load_dataset(dataset, config, split=split, revision=revision, streaming=True, **options)
    return flows if split is not None else next(iter(flows.values()))


def open_store(path: str | None) -> ResultStore:
    """The result store in a folder, which need not exist yet, or the configured one."""
    from crucible_datasets.evaluation.results.store import ResultStore

    return ResultStore(path)


def existing_store(path: str | None) -> ResultStore:
    """The result store in a folder, which must exist, or the configured one."""
    store = open_store(path)
    if problem := missing_store(path, store):
        raise FileNotFoundDatasetsError(store.path, problem)
    return store


def missing_store(path: str | None, store: ResultStore) -> str:
    """A sentence if the folder that was named does not exist: a misspelt one must not look like an empty store."""
    return "" if path is None or os.path.isdir(store.path) else f"there is no such folder.{_near(store.path)}"


def run_named(store: ResultStore, asked: str) -> str:
    """The run with this id, or the newest one of this model; else the one whose id begins or ends so."""
    runs = [] if asked in store or not asked else runs_of(store, asked)
    if runs or asked in store:
        return runs[0].info.run_id if runs else asked
    everything = [*store.list(), *store.unfinished()]
    names = [run.info.run_id for run in everything]
    if any(is_part_of_name(asked, name) for name in names):
        return asked
    error, models = RunNotFoundError(asked, store.path, names), sorted({run.info.model for run in everything})
    if models:
        error.add_note(f"Nor is it a model.{closest(asked, models)} Models: {listed(models, 10)}.")
    raise error


def runs_of(store: ResultStore, model: str) -> list[StoredRun]:
    """The runs of a model, newest first; unfinished ones if there are no others."""
    return store.query(model) or [run for run in store.unfinished() if run.info.model == model]


@contextmanager
def explained_run_names(store: ResultStore, asked: Sequence[str]) -> Iterator[None]:
    """If runs cannot be compared, add to the error which runs the names of models referred to, and alternatives."""
    try:
        yield
    except IncomparableRunsError as error:
        for model in dict.fromkeys(asked):
            newest, *others = [run.info.run_id for run in runs_of(store, model)] or [model]
            if others:
                listed = ", ".join(others[:_LISTED]) + (" …" if len(others) > _LISTED else "")
                error.add_note(f"{model} means its newest run, {newest}. Write the name of another instead: {listed}")
        raise


def undecoded(rows: Any) -> Any:
    """The rows with undecoded media."""
    from crucible_datasets import Audio, Image

    for name, feature in (rows.features or {}).items():
        if isinstance(feature, (Image, Audio)):
            rows = rows.cast_column(name, type(feature)(decode=False))
    return rows


def _source(dataset: str, options: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The name of what is loaded, and how: of standard input, a file that it was written to."""
    if dataset == STANDARD_INPUT:
        path, beside = spooled()
        return path, {**beside, **options}
    require_file(dataset)
    return dataset, options


def require_file(name: str) -> None:
    """Raise for the name of a missing file, instead of searching the Hub for a dataset of that name."""
    from crucible_datasets.reading.format_choice import is_missing_file, names_beside

    if is_missing_file(name):
        raise FileNotFoundDatasetsError(name, "there is no such file.", names_beside(name))


@contextmanager
def _with_suggestions(name: str) -> Iterator[None]:
    """Add suggestions to the error for a name that was not found on the Hub."""
    try:
        yield
    except (DatasetNotFoundError, DownloadError, OfflineError) as error:
        from crucible_datasets.benchmarks.catalog.registry import list_benchmarks

        if name in list_benchmarks():
            error.add_note(f"{name} is a benchmark: `crucible benchmarks head {name}` shows its samples.")
        elif "://" not in name:
            missing = (
                "" if "There is no file or folder" in str(error) else f"There is no file or folder {name!r} either."
            )
            if note := f"{missing}{_near(name)}".strip():
                error.add_note(note)
        raise


def _near(path: str) -> str:
    """A sentence with files of a similar name."""
    from crucible_datasets.reading.format_choice import names_beside

    return closest(os.path.basename(path), names_beside(path))


def _is_saved(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for name in ("dataset_dict.json", "state.json"))


def _saved_splits(folder: str, split: str | None) -> DatasetDict:
    from crucible_datasets import DatasetDict, load_from_disk

    loaded = load_from_disk(folder)
    found = loaded if isinstance(loaded, DatasetDict) else DatasetDict({str(loaded.split or "train"): loaded})
    if split is None:
        return found
    if split not in found:
        raise SplitNotFoundError(split, list(found))
    return DatasetDict({split: found[split]})
