"""A run in progress: samples go to journals, which become the file of the run when it is finished.

    mkdir open/<id>      claims the id: only one process succeeds
    info.json            the info of the run
    <writer>.jsonl       journals, one per process
    sealed.json          finished: no sample is acknowledged from here on
    runs/<id>.parquet    the run; the folder is removed

A finished run in which answers failed can be resumed: new answers go to journals again, and the file is replaced.
A process may die between any two of these steps. The next process that opens the store completes sealed runs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from crucible_datasets.atomic import atomic_file, storage_errors
from crucible_datasets.atomic.files import make_durable, make_folders, remove_tree
from crucible_datasets.atomic.owners import is_abandoned, me, unfinished_name
from crucible_datasets.evaluation.results.encoding import encode, text, value
from crucible_datasets.evaluation.results.journal import Journal, journals_in, lines_in
from crucible_datasets.evaluation.results.places import Places
from crucible_datasets.evaluation.results.runfile import StoredRun, read_footer
from crucible_datasets.evaluation.runs.record import EvaluationResult, MetricSummary, RunInfo, SampleResult
from crucible_datasets.exceptions import ArgumentError, FileFormatError, RunExistsError, RunFinishedError
from crucible_datasets.exceptions.base import listed
from crucible_datasets.exceptions.evaluation import shown_hash
from crucible_datasets.logging import INFO, WARNING, get_logger

if TYPE_CHECKING:
    from types import TracebackType

_logger = get_logger(__name__)
T = TypeVar("T")
_INFO, _SEALED = "info.json", "sealed.json"
_OF_ONE_KIND = (
    "model",
    "dataset",
    "config",
    "split",
    "dataset_hash",
    "rules",
    "metrics",
    "missing",
    "cluster_by",
    "options",
)


class _Place(msgspec.Struct, frozen=True):
    """The sample id and repetition of a line."""

    id: str
    epoch: int = 0


_sample, _place = msgspec.json.Decoder(SampleResult), msgspec.json.Decoder(_Place)


class Seal(msgspec.Struct, frozen=True):
    """The end of a run: its summary, the process that writes its file, and whether an earlier file is completed."""

    run: StoredRun
    owner: str
    completes_file: bool = False


class OpenRun:
    """A run to which samples are appended durably."""

    def __init__(self, places: Places, info: RunInfo) -> None:
        self.info, self._places = info, places
        self.folder = places.journals(info.run_id)
        self._file = places.run(info.run_id)  # exists if the run was finished before
        self._journal = Journal(self.folder)

    def __enter__(self) -> OpenRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def run_id(self) -> str:
        """The name of the run."""
        return self.info.run_id

    def append(self, *samples: SampleResult) -> None:
        """Append samples; on return they are on disk."""
        self.extend(samples)

    def extend(self, samples: Iterable[SampleResult]) -> None:
        """Append many samples with one fsync."""
        try:
            self._journal.append([encode(sample) for sample in samples])
        except FileNotFoundError:
            raise RunFinishedError(self.run_id) from None
        # Journals are read after the run is sealed, so samples that were synced before the seal are in the run.
        if os.path.exists(os.path.join(self.folder, _SEALED)) or not os.path.isdir(self.folder):
            raise RunFinishedError(self.run_id)

    def done(self) -> dict[str, int]:
        """How often each sample has been stored already, by all writers; those that failed do not count.

        If samples have several answers, those of the last one may be incomplete, so it does not count.
        """
        counts: dict[str, int] = {}
        for samples in (finished_samples(self._file), samples_in(self.folder)):
            several, last = False, None
            for sample in samples:
                counts[sample.id] = max(counts.get(sample.id, 0), sample.epoch + 1)
                several, last = several or sample.epoch > 0, sample.id
        if several and last is not None:
            del counts[last]
        for sample_id in self._failed():
            counts.pop(sample_id, None)
        return counts

    def unjudged(self) -> dict[str, list[Any]]:
        """The answers to samples of which only verdicts are missing, since a metric failed and not the model."""
        failed = self._failed()
        answers: dict[str, dict[int, Any]] = {}
        for sample in self._stored():
            if sample.id in failed:
                answers.setdefault(sample.id, {})[sample.epoch] = sample.prediction
        # Answers that are scored together are stored as one list.
        texts = {name: _flat([given[epoch] for epoch in sorted(given)]) for name, given in answers.items()}
        return {name: given for name, given in texts.items() if all(isinstance(text, str) for text in given)}

    def _failed(self) -> set[str]:
        """The samples without a verdict for some answer."""
        failed: set[tuple[str, int]] = set()
        for sample in self._stored():
            (failed.add if has_failed(sample) else failed.discard)((sample.id, sample.epoch))
        return {name for name, _ in failed}

    def _stored(self) -> Iterator[SampleResult]:
        return chain(finished_samples(self._file), samples_in(self.folder))

    def finish(
        self, summary: Mapping[str, MetricSummary] | None = None, duration: float | None = None
    ) -> EvaluationResult:
        """Write the run as one file; summaries are computed unless given."""
        from crucible_datasets.evaluation.results.finishing import complete, load_run

        info = self.info if duration is None else msgspec.structs.replace(self.info, duration=duration)
        self._journal.close()
        with storage_errors(self.folder):
            seal = Seal(StoredRun(info, dict(summary or {})), me(), os.path.exists(self._file))
            _write_whole(os.path.join(self.folder, _SEALED), seal)
            complete(self._places, self.run_id)
        return load_run(self._places, self.run_id)

    def close(self) -> None:
        """Stop writing; the run stays open and can be resumed."""
        self._journal.close()


def begin(places: Places, info: RunInfo, resume: bool = False) -> OpenRun:
    """Claim the id of a run; with `resume`, join a run in progress if there is one."""
    with storage_errors(places.journals(info.run_id)):
        return _begun(places, info, resume)


def _begun(places: Places, info: RunInfo, resume: bool) -> OpenRun:
    folder = places.journals(info.run_id)
    make_folders(places.root, 0o700)
    make_folders(places.open)
    try:
        os.mkdir(folder)
        make_durable(places.open)
    except FileExistsError:
        if not resume:
            raise RunExistsError(info.run_id, places.root, "Pass resume=True to continue it.") from None
        return OpenRun(places, _joined(folder, info))
    if os.path.exists(file := places.run(info.run_id)):
        if not resume or not any(map(has_failed, finished_samples(file))):
            os.rmdir(folder)
            raise RunExistsError(info.run_id, places.root, "It is finished: choose another run_id.")
        try:
            info = _same_run(read_footer(file).info, info)
        except BaseException:
            os.rmdir(folder)
            raise
        _write_whole(os.path.join(folder, _INFO), StoredRun(info, finished=False))
        return OpenRun(places, info)
    _write_whole(os.path.join(folder, _INFO), StoredRun(info, finished=False))
    if resume:
        _say_new(places, info)
    return OpenRun(places, info)


def _say_new(places: Places, info: RunInfo) -> None:
    """Log that there was nothing to resume: a warning if another unfinished run may have been meant."""
    others = [run_id for run_id in sorted(os.listdir(places.open)) if _is_alike(places, run_id, info)]
    meant = f" Unfinished runs of {info.model} on {info.dataset}: {listed(others, 10)}." if others else ""
    level = WARNING if others else INFO
    _logger.log(level, "There is no run %r in %s to resume: a new run starts.%s", info.run_id, places.root, meant)


def _is_alike(places: Places, run_id: str, info: RunInfo) -> bool:
    """Whether another unfinished run is of the same model on the same data."""
    with suppress(ArgumentError, FileFormatError, OSError):  # not a run, or a damaged one
        kept = stored_info(places.journals(run_id)) if run_id != info.run_id else None
        return kept is not None and (kept.model, kept.dataset) == (info.model, info.dataset)
    return False


def _joined(folder: str, info: RunInfo) -> RunInfo:
    if seal_of(folder) is not None:
        raise RunFinishedError(info.run_id)
    kept = stored_info(folder)
    if kept is None:  # the process that claimed the id died before it wrote the info
        _write_whole(os.path.join(folder, _INFO), StoredRun(info, finished=False))
        return info
    return _same_run(kept, info)


def _same_run(stored: RunInfo, info: RunInfo) -> RunInfo:
    refuse_other(stored, info)
    return stored


def refuse_other(kept: RunInfo, info: RunInfo) -> None:
    """Raise if a resumed run differs from the one that was begun."""
    for field in _OF_ONE_KIND:
        before, now = (value(text(getattr(run, field))) for run in (kept, info))
        if before != now:
            if field == "dataset_hash":
                before, now = shown_hash(before, kept.num_samples), shown_hash(now, info.num_samples)
            differ = f"it was begun with {field}={before!r}, and now has {now!r}."
            raise ArgumentError("run_id", info.run_id, differ)


def has_failed(sample: SampleResult) -> bool:
    """Whether a sample has no verdict because the model or a metric failed."""
    return any(outcome.failed for outcome in sample.outcomes.values())


def _flat(predictions: list[Any]) -> list[Any]:
    return predictions[0] if isinstance(predictions[0], list) else predictions


def finished_samples(file: str) -> Iterator[SampleResult]:
    """The samples in the file of a run; none if there is no file."""
    from crucible_datasets.evaluation.results.stored import StoredSamples

    if os.path.exists(file):
        yield from StoredSamples(file, read_footer(file).info.metrics)


def samples_in(folder: str) -> Iterator[SampleResult]:
    """Every stored sample of a run in progress, including those appended twice."""
    with storage_errors(folder):
        yield from map(_sample.decode, lines_in(folder))


def count_in(folder: str) -> int:
    """The number of distinct samples of a run in progress."""
    with storage_errors(folder):
        return len({(place.id, place.epoch) for place in map(_place.decode, lines_in(folder))})


def stored_info(folder: str) -> RunInfo | None:
    """The info of a run in progress; None before it was written."""
    path = os.path.join(folder, _INFO)
    run = _read(path, StoredRun)
    if run is not None and run.info.run_id != os.path.basename(folder):
        raise FileFormatError(path, f"it is damaged: it names the run {run.info.run_id!r}.")
    return None if run is None else run.info


def seal_of(folder: str) -> Seal | None:
    """The seal of a run; None if it is not finished."""
    return _read(os.path.join(folder, _SEALED), Seal)


def is_left(folder: str) -> bool:
    """Whether a run was sealed by a process that has ended."""
    seal = seal_of(folder)
    with suppress(FileNotFoundError):
        silent_for = time.time() - os.stat(os.path.join(folder, _SEALED)).st_mtime
        return seal is not None and is_abandoned(seal.owner, silent_for)
    return False


def drop_if_empty(run: OpenRun) -> None:
    """Remove a run without any samples."""
    run.close()
    if os.path.isdir(run.folder) and seal_of(run.folder) is None and not journals_in(run.folder):
        remove_folder(run.folder)


def remove_folder(folder: str) -> None:
    """Remove the folder of a run in progress atomically."""
    parent, name = os.path.split(folder)
    aside = os.path.join(parent, unfinished_name(f".{name}", ".old"))
    with suppress(FileNotFoundError):
        os.rename(folder, aside)
        make_durable(parent)
    remove_tree(aside)


def _read(path: str, kind: type[T]) -> T | None:
    with suppress(FileNotFoundError), open(path, "rb") as file:
        try:
            return msgspec.json.decode(file.read(), type=kind)
        except (ValueError, RecursionError) as error:
            raise FileFormatError(path, f"it is damaged: {error}") from error
    return None


def _write_whole(path: str, run: StoredRun | Seal) -> None:
    with atomic_file(path) as temporary, open(temporary, "wb") as file:
        file.write(encode(run))
