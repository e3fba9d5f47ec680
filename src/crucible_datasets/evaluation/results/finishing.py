"""Writing the file of a run from its journals, and loading a run from either."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain

import msgspec
import numpy as np
import xxhash

from crucible_datasets.atomic import atomic_file, storage_errors
from crucible_datasets.atomic.files import make_folders, remove_abandoned
from crucible_datasets.evaluation.results.index import runs_in
from crucible_datasets.evaluation.results.openrun import (
    finished_samples,
    is_left,
    remove_folder,
    samples_in,
    seal_of,
    stored_info,
)
from crucible_datasets.evaluation.results.places import Places
from crucible_datasets.evaluation.results.runfile import RunFile, StoredRun, batches, read_footer
from crucible_datasets.evaluation.results.stored import StoredSamples
from crucible_datasets.evaluation.runs.counting import Counting
from crucible_datasets.evaluation.runs.record import (
    EvaluationResult,
    SampleList,
    SampleResult,
)
from crucible_datasets.exceptions import FileFormatError, RunNotFoundError


def complete(places: Places, run_id: str) -> None:
    """Write the file of a sealed run; idempotent, and safe to call concurrently."""
    folder, path = places.journals(run_id), places.run(run_id)
    seal = seal_of(folder)
    if seal is None:
        return
    if seal.completes_file or not os.path.exists(path):
        make_folders(places.root, 0o700)
        make_folders(places.runs)
        with suppress(FileNotFoundError):  # another process was faster and has removed the journals
            _write(path, folder, seal.run)
    if os.path.exists(path):
        with storage_errors(folder):
            remove_folder(folder)


def complete_left(places: Places) -> None:
    """Complete the sealed runs of ended processes, and remove their temporary files."""
    for folder in (places.open, places.runs):
        remove_abandoned(folder, suffix=None)
    for run_id in under_way(places):
        with suppress(OSError, FileFormatError):  # a read-only store; a damaged seal
            if is_left(places.journals(run_id)):
                complete(places, run_id)


def under_way(places: Places) -> list[str]:
    """The names of runs that have journals."""
    with suppress(FileNotFoundError):
        return sorted(name for name in os.listdir(places.open) if not name.startswith("."))
    return []


def load_run(places: Places, run_id: str) -> EvaluationResult:
    """A run as a result: lazily from its file, or from its journals so far."""
    path = places.run(run_id)
    # In a read-only store, or with a damaged seal, the journals have the same content. The file of a run that was
    # resumed is of before, until it is completed.
    with suppress(OSError, FileFormatError):
        complete(places, run_id)
    try:
        run = read_footer(path)
    except FileNotFoundError:
        return _unfinished(places, run_id)
    return EvaluationResult(run.info, StoredSamples(path, run.info.metrics), run.summary)


def _unfinished(places: Places, run_id: str) -> EvaluationResult:
    folder = places.journals(run_id)
    info = stored_info(folder) if os.path.isdir(folder) else None
    if info is None:
        raise RunNotFoundError(run_id, places.root, [*runs_in(places), *under_way(places)])
    latest = {(sample.id, sample.epoch): sample for sample in samples_in(folder)}
    samples, counted = SampleList(latest.values()), Counting(info)
    with _outcomes_of(folder):
        counted.add(samples)
    info = msgspec.structs.replace(info, num_samples=counted.num_samples)
    return EvaluationResult(info, samples, counted.summary())


@contextmanager
def _outcomes_of(folder: str) -> Iterator[None]:
    try:
        yield
    except KeyError as error:
        reason = f"the metric {error} is said to be measured, but a sample has no outcome under it."
        raise FileFormatError(folder, reason) from error


def _write(path: str, folder: str, seal: StoredRun) -> None:
    with atomic_file(path) as temporary:
        repeated = _write_samples(temporary, path, folder, seal, skipped=frozenset())
        if repeated:
            _write_samples(temporary, path, folder, seal, repeated)


def _write_samples(path: str, finished: str, folder: str, seal: StoredRun, skipped: frozenset[int]) -> frozenset[int]:
    """Write all samples except those in `skipped`; returns the positions of samples that were appended again later.

    The samples are those of a file that was finished before, if there is one, and those of the journals.
    """
    counting = Counting(seal.info)
    digests: list[np.ndarray] = []
    with RunFile(path, seal.info) as file:
        for batch in batches(_without(chain(finished_samples(finished), samples_in(folder)), skipped)):
            with _outcomes_of(folder):
                file.add(batch)
                counting.add(batch)
            digests.append(np.array([_digest(sample) for sample in batch], dtype=np.uint64))
        info = msgspec.structs.replace(seal.info, num_samples=counting.num_samples)
        file.describe(StoredRun(info, seal.summary or counting.summary()))
    return _earlier(np.concatenate(digests)) if digests else frozenset()


def _digest(sample: SampleResult) -> int:
    return xxhash.xxh3_64_intdigest(f"{sample.epoch} {sample.id}".encode("utf-8", "surrogatepass"))


def _earlier(digests: np.ndarray) -> frozenset[int]:
    """The positions whose digest occurs again later."""
    _, last = np.unique(digests[::-1], return_index=True)
    if len(last) == len(digests):
        return frozenset()
    kept = np.zeros(len(digests), dtype=bool)
    kept[len(digests) - 1 - last] = True
    return frozenset(np.flatnonzero(~kept).tolist())


def _without(samples: Iterator[SampleResult], skipped: frozenset[int]) -> Iterator[SampleResult]:
    return (sample for place, sample in enumerate(samples) if place not in skipped)
