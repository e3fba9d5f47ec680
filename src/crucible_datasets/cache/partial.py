"""Entries that are made in parts, and how finished parts survive when their maker stops before the end.

    root/.work/<name>~<owner>.parts  being made in parts
    root/.work/<name>~<owner>.left   abandoned by a maker that died or failed: finished parts and nothing else
        …/plan.json                  the entry that was being made

The next maker takes over an abandoned folder by renaming it: only one process can succeed, and nothing remains at the
old path for a process that might still write there.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from crucible_datasets.atomic.files import remove_tree
from crucible_datasets.atomic.owners import is_abandoned, unfinished_in, unfinished_name
from crucible_datasets.atomic.private import is_own, open_own
from crucible_datasets.cache.manifest import Entry
from crucible_datasets.cache.parts import PLAN, Parts

MADE_IN_PARTS, LEFT = ".parts", ".left"


@contextmanager
def resumed(work: str, folder: str, key: str, facts: Mapping[str, Any]) -> Iterator[None]:
    """Move finished parts of `key`, if any, into the empty `folder`; if the block fails, keep them for another try."""
    salvage_abandoned(work, os.path.basename(folder))
    candidates = [entry for entry in partial_entries(work) if entry.key == key]
    try:
        if any(_taken_over(entry.folder, folder) for entry in sorted(candidates, key=lambda entry: -entry.size)):
            Parts(folder).remove_unfinished(thorough=True)
        else:
            _write_plan(folder, key, facts)
        yield
    except BaseException:
        abandon(folder)
        raise


def abandon(folder: str) -> None:
    """Give up a folder in which an entry was being made; its finished parts stay for the next maker."""
    what = os.path.basename(folder).partition("~")[0]
    left = os.path.join(os.path.dirname(folder), unfinished_name(what, LEFT))
    with suppress(OSError):
        os.rename(folder, left)
        _keep_finished_parts(left)


def salvage_abandoned(work: str, name: str | None = None) -> None:
    """Reduce what dead makers left to its finished parts, for one entry or for all."""
    what = None if name is None else name.partition("~")[0]
    for path, parts in list(unfinished_in(work, what)):
        with suppress(FileNotFoundError):
            silent_for = time.time() - os.stat(path).st_mtime
            if not is_own(path):
                continue
            if parts.suffix == LEFT:
                _keep_finished_parts(path)
            elif parts.suffix == MADE_IN_PARTS and is_abandoned(parts.owner, silent_for):
                abandon(path)


def partial_entries(work: str) -> Iterator[Entry]:
    """The abandoned entries, with the parts that are finished."""
    for path, parts in unfinished_in(work):
        plan = _plan(path) if parts.suffix == LEFT and is_own(path) else None
        finished = Parts(path)
        last = finished.last_finished() if plan else None
        if plan and last is not None:
            key, facts, created = plan
            yield Entry(key, path, facts, created, last, finished.known(), is_whole=False)


def remove_partial(work: str, key: str) -> bool:
    """Remove the finished parts of an entry; whether there were any."""
    folders = [entry.folder for entry in partial_entries(work) if entry.key == key]
    for folder in folders:
        remove_tree(folder)
    return bool(folders)


def _taken_over(left: str, folder: str) -> bool:
    with suppress(OSError):  # another process was first
        # A stale folder would not count as a claim.
        os.utime(left)
        os.rename(left, folder)
        return True
    return False


def _keep_finished_parts(left: str) -> None:
    if not Parts(left).remove_unfinished(thorough=False) or _plan(left) is None:
        remove_tree(left)


def _write_plan(folder: str, key: str, facts: Mapping[str, Any]) -> None:
    with open(os.path.join(folder, PLAN), "w", encoding="utf-8") as file:
        json.dump({"key": key, "facts": dict(facts), "created": time.time()}, file)


def _plan(folder: str) -> tuple[str, dict[str, Any], float] | None:
    """The plan in a folder: its key, its facts and when it was made; None if there is none."""
    try:
        with open_own(os.path.join(folder, PLAN), encoding="utf-8") as file:
            stated = json.load(file)
        return str(stated["key"]), dict(stated["facts"]), float(stated["created"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
