"""`Parts`: the finished parts of an entry that is still being made. They survive the process that made them.

    words-0003.arrow      a file of part words-0003; the maker chooses its name
    words-0003.part.json  written last: the sizes and hashes of the part's files, and facts of the maker
    plan.json             what is being made here

The rules are those of a manifest: a part is valid as long as its files keep their identity; after a reboot their
content is verified first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from crucible_datasets.atomic import atomic_file
from crucible_datasets.atomic.files import make_durable, paths_in
from crucible_datasets.atomic.owners import unfinished_name
from crucible_datasets.cache.manifest import StoredFile, boot, checked, stored

PLAN = "plan.json"
_SUFFIX = ".part.json"


@dataclass(frozen=True)
class Part:
    """The record of a finished part."""

    facts: dict[str, Any]
    files: dict[str, StoredFile]


class Parts:
    """The parts in a folder; each has a name, files, and facts that JSON can hold."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)

    def found(self, name: str) -> dict[str, Any] | None:
        """The facts of a part that is finished and undamaged, or None."""
        part = self._whole(name)
        return None if part is None else part.facts

    def finish(self, name: str, files: Sequence[str], facts: Mapping[str, Any]) -> None:
        """Record that these files of the folder are complete and form a part; they must not change any more."""
        self._write(name, Part(dict(facts), {file: stored(self._file(file)) for file in files}))

    def known(self) -> dict[str, StoredFile]:
        """All files of finished parts, as they were when their part was finished."""
        parts = map(self._read, self._names())
        return {file: facts for part in parts if part for file, facts in part.files.items()}

    def all_found(self) -> list[dict[str, Any]]:
        """The facts of all parts that are finished and undamaged."""
        return [facts for name in list(self._names()) if (facts := self.found(name)) is not None]

    def last_finished(self) -> float | None:
        """When the newest part was finished; None if there is none."""
        times = []
        for name in self._names():
            with suppress(FileNotFoundError):
                times.append(os.stat(self._path(name)).st_mtime)
        return max(times, default=None)

    def keep_only(self, *names: str) -> None:
        """Remove all other parts, and files that belong to none."""
        parts = {name: self._read(name) for name in names}
        self._remove_but({name: part for name, part in parts.items() if part})

    def remove_unfinished(self, thorough: bool) -> bool:
        """Remove everything but finished parts; whether there are any.

        They are checked as `found` does, or, unless `thorough`, by the sizes of their files only.
        """
        check = self._whole if thorough else self._of_right_sizes
        parts = {name: part for name in self._names() if (part := check(name))}
        self._remove_but(parts)
        return bool(parts)

    def _remove_but(self, parts: Mapping[str, Part]) -> None:
        wanted = {PLAN, *(name + _SUFFIX for name in parts)}
        wanted |= {os.path.normpath(file) for part in parts.values() for file in part.files}
        for path in paths_in(self.folder, on_error=lambda error: None):
            if os.path.relpath(path, self.folder) not in wanted:
                with suppress(OSError):  # a folder that holds something wanted, or what others removed
                    (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)

    def _names(self) -> Iterator[str]:
        with suppress(FileNotFoundError):
            yield from (
                name.removesuffix(_SUFFIX) for name in sorted(os.listdir(self.folder)) if name.endswith(_SUFFIX)
            )

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name + _SUFFIX)

    def _file(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _whole(self, name: str) -> Part | None:
        part = self._read(name)
        if part is None:
            return None
        try:
            found = {name: checked(self._file(name), file, thorough=False) for name, file in part.files.items()}
        except OSError:  # it cannot be read, and is made again
            return None
        if any(reason for reason, _ in found.values()):
            return None
        seen = {name: file for name, (_, file) in found.items()}
        if seen != part.files:
            with suppress(OSError):  # bytes are read once more than needed
                self._write(name, Part(part.facts, seen))
        return part

    def _of_right_sizes(self, name: str) -> Part | None:
        part = self._read(name)
        with suppress(OSError):
            if part and all(os.stat(self._file(name)).st_size == file.size for name, file in part.files.items()):
                return part
        return None

    def _read(self, name: str) -> Part | None:
        try:
            with open(self._path(name), encoding="utf-8") as file:
                stated = json.load(file)
            return Part(dict(stated["facts"]), {name: StoredFile(**facts) for name, facts in stated["files"].items()})
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def _write(self, name: str, part: Part) -> None:
        text = json.dumps(asdict(part))
        if not boot():
            # A reboot would go unnoticed, so everything is synced now.
            for file in part.files:
                make_durable(self._file(file))
            with atomic_file(self._path(name)) as temporary, open(temporary, "w", encoding="utf-8") as target:
                target.write(text)
            return
        # Not synced: after a power failure the file may be invalid JSON, and then the part does not count.
        temporary = os.path.join(self.folder, unfinished_name(f".{name}"))
        with open(temporary, "w", encoding="utf-8") as target:
            target.write(text)
        os.replace(temporary, self._path(name))
