"""A run under way: samples go to journals, and become the file of the run when it is finished.

    mkdir open/<id>      claims the name: only one of many can make it
    info.json            what is run
    <writer>.jsonl       journals, each of one process
    sealed.json          finished: no sample is acknowledged from here on
    runs/<id>.parquet    the run; the folder goes

A process may die between any two of these. Whoever looks next brings a sealed run to its end.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import msgspec

from crucible_datasets.atomic import atomic_file, storage_errors
from crucible_datasets.atomic.files import make_durable, make_folders, remove_tree
from crucible_datasets.atomic.owners import is_abandoned, me, unfinished_name
from crucible_datasets.evaluation.results.encoding import encode, text, value
from crucible_datasets.evaluation.results.journal import Journal, journals_in, lines_in
from crucible_datasets.evaluation.results.places import Places
from crucible_datasets.evaluation.results.runfile import StoredRun
from crucible_datasets.evaluation.runs.record import EvaluationResult, MetricSummary, RunInfo, SampleResult
from crucible_datasets.exceptions import ArgumentError, FileFormatError, RunExistsError, RunFinishedError

if TYPE_CHECKING:
    from types import TracebackType

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
    """Which sample of a run a line is about."""

    id: str
    epoch: int = 0


_sample, _place = msgspec.json.Decoder(SampleResult), msgspec.json.Decoder(_Place)


class Seal(msgspec.Struct, frozen=True):
    """The end of a run, and who is making its file."""

    run: StoredRun
    owner: str


class OpenRun:
    """Takes samples one by one or many at once, and keeps what it has taken, whatever happens."""

    def __init__(self, places: Places, info: RunInfo) -> None:
        self.info, self._places = info, places
        self.folder = places.journals(info.run_id)
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
        """Keep samples: once this returns they outlive the process and the power supply."""
        self.extend(samples)

    def extend(self, samples: Iterable[SampleResult]) -> None:
        """Keep many samples with one wait for the disk."""
        try:
            self._journal.append([encode(sample) for sample in samples])
        except FileNotFoundError:
            raise RunFinishedError(self.run_id) from None
        # Whoever seals the run reads the journals afterwards: what was there before the seal is in the run.
        if os.path.exists(os.path.join(self.folder, _SEALED)) or not os.path.isdir(self.folder):
            raise RunFinishedError(self.run_id)

    def done(self) -> dict[str, int]:
        """How often each sample is kept already, by this writer and all others.

        The last sample of a run whose samples have several answers may have lost some of them: it is not done.
        """
        counts: dict[str, int] = {}
        several, last = False, None
        for sample in samples_in(self.folder):
            counts[sample.id] = max(counts.get(sample.id, 0), sample.epoch + 1)
            several, last = several or sample.epoch > 0, sample.id
        if several and last is not None:
            del counts[last]
        return counts

    def finish(
        self, summary: Mapping[str, MetricSummary] | None = None, duration: float | None = None
    ) -> EvaluationResult:
        """Make the run one immutable file; summaries are worked out unless they are given."""
        from crucible_datasets.evaluation.results.finishing import complete, load_run

        info = self.info if duration is None else msgspec.structs.replace(self.info, duration=duration)
        self._journal.close()
        with storage_errors(self.folder):
            _write_whole(os.path.join(self.folder, _SEALED), Seal(StoredRun(info, dict(summary or {})), me()))
            complete(self._places, self.run_id)
        return load_run(self._places, self.run_id)

    def close(self) -> None:
        """Stop here; the run stays open and can be continued."""
        self._journal.close()


def begin(places: Places, info: RunInfo, resume: bool = False) -> OpenRun:
    """Claim the name of a run; with `resume`, join one that is under way."""
    with storage_errors(places.journals(info.run_id)):
        return _begun(places, info, resume)


def _begun(places: Places, info: RunInfo, resume: bool) -> OpenRun:
    folder = places.journals(info.run_id)
    make_folders(places.open)
    try:
        os.mkdir(folder)
        make_durable(places.open)
    except FileExistsError:
        if not resume:
            raise RunExistsError(info.run_id, places.root, "Pass resume=True to continue it.") from None
        return OpenRun(places, _joined(folder, info))
    if os.path.exists(places.run(info.run_id)):
        os.rmdir(folder)
        raise RunExistsError(info.run_id, places.root, "Finished runs are never changed: choose another run_id.")
    _write_whole(os.path.join(folder, _INFO), StoredRun(info, finished=False))
    return OpenRun(places, info)


def _joined(folder: str, info: RunInfo) -> RunInfo:
    if seal_of(folder) is not None:
        raise RunFinishedError(info.run_id)
    kept = stored_info(folder)
    if kept is None:  # who claimed the name died before saying what for
        _write_whole(os.path.join(folder, _INFO), StoredRun(info, finished=False))
        return info
    refuse_other(kept, info)
    return kept


def refuse_other(kept: RunInfo, info: RunInfo) -> None:
    """An error unless a run is what it was begun as: else its samples would not be of one kind."""
    for field in _OF_ONE_KIND:
        before, now = (value(text(getattr(run, field))) for run in (kept, info))
        if before != now:
            differ = f"it was begun with {field}={before!r}, and now has {now!r}."
            raise ArgumentError("run_id", info.run_id, differ)


def samples_in(folder: str) -> Iterator[SampleResult]:
    """Every sample that was kept in a run under way; what was appended twice comes twice."""
    with storage_errors(folder):
        yield from map(_sample.decode, lines_in(folder))


def count_in(folder: str) -> int:
    """How many samples were kept in a run under way; what was appended twice counts once."""
    with storage_errors(folder):
        return len({(place.id, place.epoch) for place in map(_place.decode, lines_in(folder))})


def stored_info(folder: str) -> RunInfo | None:
    """The info of a run under way; None before it was written."""
    path = os.path.join(folder, _INFO)
    run = _read(path, StoredRun)
    if run is not None and run.info.run_id != os.path.basename(folder):
        raise FileFormatError(path, f"it is damaged: it names the run {run.info.run_id!r}.")
    return None if run is None else run.info


def seal_of(folder: str) -> Seal | None:
    """The seal of a run, when it was finished."""
    return _read(os.path.join(folder, _SEALED), Seal)


def is_left(folder: str) -> bool:
    """Whether a run was sealed by somebody who is gone."""
    seal = seal_of(folder)
    with suppress(FileNotFoundError):
        silent_for = time.time() - os.stat(os.path.join(folder, _SEALED)).st_mtime
        return seal is not None and is_abandoned(seal.owner, silent_for)
    return False


def drop_if_empty(run: OpenRun) -> None:
    """Remove a run of which nobody has kept a sample: there is nothing to continue."""
    run.close()
    if os.path.isdir(run.folder) and seal_of(run.folder) is None and not journals_in(run.folder):
        remove_folder(run.folder)


def remove_folder(folder: str) -> None:
    """Remove a run under way in one step."""
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
        except ValueError as error:
            raise FileFormatError(path, f"it is damaged: {error}") from error
    return None


def _write_whole(path: str, run: StoredRun | Seal) -> None:
    with atomic_file(path) as temporary, open(temporary, "wb") as file:
        file.write(encode(run))
