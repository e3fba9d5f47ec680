"""`cleanup_cache_files`: removes cached results of calls on the same data that this dataset does not use."""

from __future__ import annotations

import os
from collections.abc import Iterable

from crucible_datasets.cache import default_cache
from crucible_datasets.cache.manifest import Entry
from crucible_datasets.tables.view import View


def clean_up(view: View) -> int:
    """Remove cached results that come from the same files as a view and are not part of it; the number of files."""
    cache, held = default_cache(), set(view.table.files)
    results = [entry for entry in cache.entries() if entry.facts.get("inputs")]
    unused = [entry for entry in _related(results, held) if not held & _files(entry)]
    return sum(len(entry.files) for entry in unused if cache.remove(entry.key))


def _related(entries: Iterable[Entry], files: set[str]) -> list[Entry]:
    """The results derived from these files, directly or indirectly, and those that these files were derived from."""
    known, found, rest = set(files), [], list(entries)
    while near := [entry for entry in rest if known & (_files(entry) | set(entry.facts["inputs"]))]:
        found += near
        rest = [entry for entry in rest if entry not in near]
        known |= {file for entry in near for file in (*_files(entry), *entry.facts["inputs"])}
    return found


def _files(entry: Entry) -> set[str]:
    return {os.path.join(entry.folder, name) for name in entry.files}
