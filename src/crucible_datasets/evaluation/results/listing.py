"""Saving, finding and deleting the runs of a store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from crucible_datasets.atomic.files import make_durable, make_folders, storage_errors
from crucible_datasets.evaluation.results.filters import Condition, condition, moment_of
from crucible_datasets.evaluation.results.finishing import complete_left, under_way
from crucible_datasets.evaluation.results.index import runs_in
from crucible_datasets.evaluation.results.openrun import count_in, remove_folder, stored_info
from crucible_datasets.evaluation.results.places import Places, new_run_id, now
from crucible_datasets.evaluation.results.runfile import StoredRun, write_run
from crucible_datasets.evaluation.runs.record import EvaluationResult, RunInfo, SampleResult
from crucible_datasets.exceptions import ArgumentError, FileFormatError, RunExistsError, RunNotFoundError
from crucible_datasets.exceptions.evaluation import is_part_of_name
from crucible_datasets.logging import get_logger
from crucible_datasets.progress import bar

__all__ = ["chosen", "condition", "delete", "described", "named", "save", "unfinished"]

_logger = get_logger(__name__)


def described(info: RunInfo | None, facts: dict[str, Any], resume: bool = False) -> RunInfo:
    """The info of a run, completed by a run id, the time and the version of the library."""
    if info is not None:
        return msgspec.structs.replace(info, **facts)
    if resume and facts.get("run_id") is None:
        raise ArgumentError("resume", True, "pass run_id= too, the name of the run; unfinished() lists such runs.")
    from crucible_datasets import __version__

    model, dataset = facts.get("model", "unknown"), facts.get("dataset", "unknown")
    made = {"run_id": new_run_id(model, dataset), "created_at": now(), "library_version": __version__}
    facts["created_at"] = moment_of(facts.get("created_at")) or made["created_at"]
    return RunInfo(**{**made, "model": model, "dataset": dataset, **facts})


def save(places: Places, result: EvaluationResult) -> str:
    """Save a complete run atomically."""
    path = places.run(result.info.run_id)
    if os.path.exists(path) or os.path.isdir(places.journals(result.info.run_id)):
        raise RunExistsError(result.info.run_id, places.root, "Runs are never changed: give this one another run_id.")
    with storage_errors(path):
        make_folders(places.root, 0o700)
        make_folders(places.runs)
    with bar(total=len(result), desc="Saving", unit=" samples") as progress:
        write_run(path, result.info, result.summary, counted(result.samples, progress.update))
    return result.info.run_id


def counted(samples: Iterable[SampleResult], update: Callable[[int], None]) -> Iterator[SampleResult]:
    """The same samples, reported to a progress bar."""
    for sample in samples:
        yield sample
        update(1)


def chosen(places: Places, asked: Condition, limit: int | None) -> list[StoredRun]:
    """The finished runs that match, newest first."""
    complete_left(places)
    runs = list(runs_in(places).values())
    asked.refuse_unknown_metrics({key for run in runs for key in run.summary})
    return newest([run.kept_in(places.root) for run in runs if asked.holds(run)], limit)


def newest(runs: list[StoredRun], limit: int | None) -> list[StoredRun]:
    """Runs, newest first, as stores and databases return them."""
    return sorted(runs, key=lambda run: (run.info.created_at, run.info.run_id), reverse=True)[:limit]


def unfinished(places: Places) -> list[StoredRun]:
    """The unfinished runs, with the number of samples of each so far."""
    complete_left(places)
    infos = [_info_of(places.journals(run_id)) for run_id in under_way(places)]
    found = [StoredRun(info, finished=False).kept_in(places.root) for info in infos if info is not None]
    return newest(found, None)


def _info_of(folder: str) -> RunInfo | None:
    try:
        info = stored_info(folder)
        return info and msgspec.structs.replace(info, num_samples=count_in(folder))
    except FileNotFoundError:  # finished or removed meanwhile
        return None
    except FileFormatError as error:
        _logger.warning("%s is left out.", error)
        return None


def named(places: Places, asked: str) -> str:
    """The run with this id, or with a unique beginning or end of its id."""
    if isinstance(asked, str) and asked and (os.sep not in asked and not asked.startswith(".")):
        with suppress(ValueError):
            if os.path.exists(places.run(asked)) or os.path.isdir(places.journals(asked)):
                return asked
    known = list(dict.fromkeys([*runs_in(places), *under_way(places)]))
    fitting = [run_id for run_id in known if is_part_of_name(asked, run_id)]
    if len(fitting) != 1:
        raise RunNotFoundError(asked, places.root, fitting or known)
    return fitting[0]


def delete(places: Places, run_id: str) -> bool:
    """Remove a run; the journals first, since the file could be written from them again."""
    folder, path = places.journals(run_id), places.run(run_id)
    there = os.path.isdir(folder) or os.path.exists(path)
    remove_folder(folder)
    with suppress(FileNotFoundError):
        os.unlink(path)
        make_durable(places.runs)
    return there
