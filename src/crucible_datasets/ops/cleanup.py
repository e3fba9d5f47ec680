"""`cleanup_cache_files`: what is kept of calls on the same data, and not part of this dataset, goes."""

from __future__ import annotations

import os
from collections.abc import Iterable

from crucible_datasets.cache import default_cache
from crucible_datasets.cache.manifest import Entry
from crucible_datasets.tables.view import View


def clean_up(view: View) -> int:
    """Remove the kept results that come from the same files as a view and are not in it; how many files went."""
    cache, held = default_cache(), set(view.table.files)
    results = [entry for entry in cache.entries() if entry.facts.get("inputs")]
    unused = [entry for entry in _related(results, held) if not held & _files(entry)]
    return sum(len(entry.files) for entry in unused if cache.remove(entry.key))


def _related(entries: Iterable[Entry], files: set[str]) -> list[Entry]:
    """The results that were made of these files, or that these were made of, or of those in turn."""
    known, found, rest = set(files), [], list(entries)
    while near := [entry for entry in rest if known & (_files(entry) | set(entry.facts["inputs"]))]:
        found += near
        rest = [entry for entry in rest if entry not in near]
        known |= {file for entry in near for file in (*_files(entry), *entry.facts["inputs"])}
    return found


def _files(entry: Entry) -> set[str]:
    return {os.path.join(entry.folder, name) for name in entry.files}
