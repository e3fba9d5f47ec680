"""The index of finished runs: `index.jsonl` caches the footers of all run files.

An entry is valid as long as size and modification time of its file are unchanged. The last writer wins: the index may
be incomplete, but never wrong.
"""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec

from crucible_datasets.atomic import atomic_file
from crucible_datasets.evaluation.results.encoding import encode
from crucible_datasets.evaluation.results.journal import framed, unframed
from crucible_datasets.evaluation.results.places import Places, run_id_of
from crucible_datasets.evaluation.results.runfile import StoredRun, read_footer
from crucible_datasets.exceptions import FileFormatError
from crucible_datasets.logging import get_logger

_logger = get_logger(__name__)


class _Entry(msgspec.Struct, frozen=True):
    file: str
    size: int
    changed: int
    run: StoredRun


def runs_in(places: Places) -> dict[str, StoredRun]:
    """The finished runs by id, in order."""
    known = _read(places.index)
    entries, new = [], 0
    for file, size, changed in _files(places.runs):
        entry = known.get(file)
        if entry is None or (entry.size, entry.changed) != (size, changed):
            entry = _opened(places, file, size, changed)
            new += 1
        if entry is not None:
            entries.append(entry)
    if new > 8 + len(known) // 10 or len(known) > 2 * len(entries) + 8:
        with suppress(OSError):  # a read-only store
            _write(places.index, entries)
    return {entry.run.info.run_id: entry.run for entry in entries}


def _files(folder: str) -> list[tuple[str, int, int]]:
    found = []
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if run_id_of(entry.name):
                with suppress(FileNotFoundError):
                    facts = entry.stat()
                    found.append((entry.name, facts.st_size, facts.st_mtime_ns))
    return sorted(found)


def _opened(places: Places, file: str, size: int, changed: int) -> _Entry | None:
    try:
        return _Entry(file, size, changed, read_footer(os.path.join(places.runs, file)))
    except FileNotFoundError:
        return None
    except (FileFormatError, OSError) as error:  # a damaged or unreadable file must not hide the others
        _logger.warning("%s is left out.", error)
        return None


def _read(path: str) -> dict[str, _Entry]:
    entries = {}
    with suppress(FileNotFoundError), open(path, "rb") as file:
        for line in file:
            with suppress(ValueError, RecursionError):
                entry = msgspec.json.decode(unframed(line) or b"", type=_Entry)
                entries[entry.file] = entry
    return entries


def _write(path: str, entries: list[_Entry]) -> None:
    with atomic_file(path) as temporary, open(temporary, "wb") as file:
        file.writelines(framed(encode(entry)) for entry in entries)
