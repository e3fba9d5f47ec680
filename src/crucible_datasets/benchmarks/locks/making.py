"""`lock_datasets` and `check_lock`: writing the current state of datasets to a lock, and comparing it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from crucible_datasets.benchmarks.catalog.registry import get_benchmark
from crucible_datasets.benchmarks.loading.load import load_benchmark, loaded
from crucible_datasets.benchmarks.loading.naming import Named, named, split_names
from crucible_datasets.benchmarks.locks.file import FILE, Lock, LockedDataset, Move
from crucible_datasets.benchmarks.locks.guard import found_now
from crucible_datasets.benchmarks.samples.provenance import Provenance
from crucible_datasets.exceptions import NotLockedError

Path = str | os.PathLike[str]


def lock_datasets(
    *names: str, path: Path = FILE, update: bool = False, synthetic: bool = False, on_bad_rows: Any = "error"
) -> Lock:
    """Write the current state of datasets to a lock file; the lock.

    A name is that of a benchmark, a repository or a file, with `:config:split` if needed. Existing entries are
    unchanged unless `update` is true; then all of them are updated if no names are given.
    """
    lock = Lock.read(path) if os.path.exists(path) else Lock(path=path)
    everything = [(entry.title, entry.synthetic) for entry in lock if update]
    made: list[LockedDataset] = []
    for name, small in [(name, synthetic) for name in names] or everything:
        made += _new(lock, name, update, small, on_bad_rows)
    lock = lock.replaced(made)
    lock.write()
    return lock


def check_lock(*names: str, path: Path = FILE, latest: bool = False) -> list[tuple[LockedDataset, list[Move]]]:
    """Load the datasets of a lock, and list the changes of each: at the locked commits, or at the latest ones."""
    lock = Lock.read(path)
    return [(entry, entry.moved(_now(lock, entry, latest))) for entry in chosen(lock, names)]


def chosen(lock: Lock, names: Iterable[str]) -> list[LockedDataset]:
    """The entries with these names, or all."""
    return [entry for name in names for entry in _locked(lock, name)] if names else list(lock)


def _locked(lock: Lock, name: str) -> list[LockedDataset]:
    asked = named(name)
    wanted = lock.name_of(asked.name)
    found = [
        entry
        for entry in lock
        if entry.name == wanted and asked.config in (None, entry.config) and asked.split in (None, entry.split)
    ]
    if not found:
        raise NotLockedError(name, lock.path, [entry.title for entry in lock])
    return found


def _now(lock: Lock, entry: LockedDataset, latest: bool) -> Provenance:
    if entry.kind == "dataset":
        found = found_now(lock.place_of(entry.name), entry, {"revision": None if latest else entry.revision})
        return found.replace(source=entry.source)
    stated = get_benchmark(entry.name).of(entry.config)
    where = {
        "synthetic": entry.synthetic,
        "source": None,
        "token": None,
        "folders": None,
        "lock": None if latest else lock,
    }
    # Invalid rows were reported and skipped when the data was locked; the remaining rows must be the same.
    revision = None if entry.synthetic else "latest" if latest else entry.revision
    samples = loaded(stated, where, "skip", str(entry.split), revision, None, False)
    return samples.provenance


def _new(lock: Lock, name: str, update: bool, synthetic: bool, on_bad_rows: Any) -> Iterator[LockedDataset]:
    asked = named(name)
    if asked.is_benchmark:
        yield from _benchmark(lock, asked, update, synthetic, on_bad_rows)
        return
    place, options = lock.place_of(asked.name), {} if asked.config is None else {"name": asked.config}
    for split in [asked.split] if asked.split else split_names(place, options):
        entry = LockedDataset(
            kind="dataset", name=lock.name_of(place), config=asked.config, split=split, source=place, rows=0, sha256=""
        )
        if update or not lock.named(entry.name, entry.config, split, "dataset", False):
            yield _with(entry, found_now(place, entry, options), entry.name if os.path.exists(place) else place)


def _benchmark(lock: Lock, asked: Named, update: bool, synthetic: bool, on_bad_rows: Any) -> Iterator[LockedDataset]:
    if not update and asked.split and lock.named(asked.name, asked.config, asked.split, "benchmark", synthetic):
        return
    options = {"synthetic": synthetic, "on_bad_rows": on_bad_rows, "lock": False}
    made = load_benchmark(asked.name, asked.split, config=asked.config, **options)
    found = made.provenance
    entry = LockedDataset(
        name=made.name, config=found.config, split=found.split, synthetic=synthetic, rows=0, sha256=""
    )
    if update or not lock.named(entry.name, entry.config or "", entry.split, "benchmark", synthetic):
        yield _with(entry, found, found.source)
    if made.entry.exclude:
        # The content of a benchmark depends on the one it excludes.
        yield from _benchmark(lock, Named(made.entry.exclude), update, synthetic, on_bad_rows)


def _with(entry: LockedDataset, found: Provenance, source: str | None) -> LockedDataset:
    return entry.replace(
        source=source,
        config=found.config,
        split=found.split,
        revision=found.revision,
        rules=found.rules,
        rows=found.num_rows,
        sha256=found.content_hash,
    )
