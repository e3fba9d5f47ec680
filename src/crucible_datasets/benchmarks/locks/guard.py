"""Loading with a lock: the locked commit is loaded, and its content compared with the lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from crucible_datasets import config as settings
from crucible_datasets.benchmarks.catalog.registry import BenchmarkEntry
from crucible_datasets.benchmarks.locks.file import FILE, Lock, LockedDataset, rows_hash
from crucible_datasets.benchmarks.owndata.sources import opened
from crucible_datasets.benchmarks.samples.provenance import Provenance
from crucible_datasets.exceptions import ArgumentError, LockMismatchError, NotLockedError

LockGiven = Lock | str | os.PathLike[str] | bool | None
# Arguments: split, commit, limit of rows, streaming.
Load = Callable[[str, str | None, int | None, bool], Any]


def lock_of(given: LockGiven) -> Lock | None:
    """The lock to use: the given one, else that of CRUCIBLE_LOCK, else None.

    A crucible.lock in the current folder is used only on request, by True; otherwise the loaded data would depend on
    the current folder of a program.
    """
    if given is None:
        given = settings.CRUCIBLE_LOCK or False
    if isinstance(given, bool):
        return Lock.read(FILE) if given else None
    return given if isinstance(given, Lock) else Lock.read(given)


def benchmark_under(
    lock: Lock, entry: BenchmarkEntry, split: str, load: Load, *, revision: str | None, **asked: Any
) -> Any:
    """The samples of a benchmark, checked against the lock."""
    locked = _locked_splits(lock, entry, split, asked["synthetic"])
    if not locked and asked["synthetic"]:
        return load(split, revision, asked["limit"], asked["streaming"])  # miniatures are part of this package
    at_home = not asked["synthetic"] and asked["source"] is None
    pinned = revision or (locked[0].revision if at_home else None)
    made = load(split, pinned, asked["limit"], asked["streaming"])
    for one in locked:
        if one.split == split and asked["limit"] is None and not asked["streaming"]:
            _compare(lock, one, made.provenance)
        elif asked["streaming"] and at_home and one.revision:
            _compare(lock, one, made.provenance, content=False)  # the content follows from the commit
        else:
            _compare(lock, one, load(str(one.split), pinned, None, False).provenance)
    return made


def _locked_splits(lock: Lock, entry: BenchmarkEntry, split: str, synthetic: bool) -> list[LockedDataset]:
    """The entry of the split, or the entries of the whole splits of which it names slices."""

    def found(name: str) -> list[LockedDataset]:
        return lock.named(entry.name, entry.config, name, "benchmark", synthetic)

    parts = dict.fromkeys(part.strip().partition("[")[0] for part in split.split("+"))
    several = [found(split)] if found(split) else [found(name) for name in parts]
    if not all(several) and not synthetic:
        asked = ":".join([entry.name, entry.config, split])
        raise NotLockedError(asked, lock.path, [one.title for one in lock])
    return [one for each in several for one in each]


def options_under(
    given: LockGiven, source: Any, split: str | None, streaming: bool, options: dict[str, Any]
) -> dict[str, Any]:
    """The options for loading a dataset, with the locked commit, after its rows were checked against the lock."""
    is_named = isinstance(source, (str, os.PathLike))
    if given and not is_named:
        raise ArgumentError("lock", given, "rows in memory have no name to find in a lock.")
    if options.get("revision") == "latest":
        return {name: value for name, value in options.items() if name != "revision"}
    lock = lock_of(given) if is_named else None
    return options if lock is None else _pinned(lock, os.fspath(source), split, streaming, options)


def _pinned(lock: Lock, place: str, split: str | None, streaming: bool, options: dict[str, Any]) -> dict[str, Any]:
    whole = split.partition("[")[0] if split else None
    locked = lock.named(lock.name_of(place), options.get("name"), whole, "dataset", False)
    if not locked:
        asked = ":".join([place, options.get("name") or "", split or ""]).rstrip(":")
        raise NotLockedError(asked, lock.path, [one.title for one in lock])
    pinned = {**options, "revision": options.get("revision") or locked[0].revision}
    for one in locked:
        only_commit = streaming and one.revision is not None
        found = found_now(place, one, pinned, content=not only_commit)
        _compare(lock, one, found.replace(source=one.source), content=not only_commit)
    return pinned


def found_now(place: str, entry: LockedDataset, options: dict[str, Any], content: bool = True) -> Provenance:
    """The current provenance of a dataset, read with the types of its files."""
    known = {name: value for name, value in options.items() if name in ("name", "revision", "token", "cache_dir")}
    if entry.config is not None:
        known["name"] = entry.config
    rows, provenance = opened(place, [], entry.split, not content, known)
    if not content:
        return provenance
    digest, count = rows_hash(rows)
    return provenance.replace(content_hash=digest, num_rows=count)


def _compare(lock: Lock, entry: LockedDataset, found: Provenance, content: bool = True) -> None:
    if moves := entry.moved(found, content):
        raise LockMismatchError(entry.title, lock.path, [(move.what, move.locked, move.found) for move in moves])
