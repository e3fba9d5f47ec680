"""Cached metadata of the Hub.

<hub cache>/datasets--org--name/refs/<branch>            the last known commit of a branch
<datasets cache>/hub/org--name/<commit>.json             the files of a commit, which never change
<datasets cache>/hub/verified/<hash>                     the local identity of a file when its hash was last verified

All of it can be deleted; it is requested or computed again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress

from crucible_datasets.atomic import atomic_file
from crucible_datasets.atomic.private import make_private, open_own
from crucible_datasets.cache.manifest import identity_of
from crucible_datasets.records import dataclass
from crucible_datasets.sources.hub.files import COMMIT, HubFile


@dataclass(frozen=True)
class HubMetadata:
    """The metadata of one repository: its folder in the Hub's cache, and one in ours."""

    cache: str
    own: str

    def commit(self, revision: str) -> str | None:
        """The last known commit of a revision."""
        try:
            with open_own(self._ref(revision), encoding="utf-8") as file:
                found = file.read().strip()
        except (OSError, ValueError):
            return None
        return found if COMMIT.fullmatch(found) else None

    def newest_snapshot(self) -> str | None:
        """The commit of which a file was downloaded last."""
        try:
            with os.scandir(os.path.join(self.cache, "snapshots")) as entries:
                times = {one.name: one.stat().st_mtime_ns for one in entries if COMMIT.fullmatch(one.name)}
        except OSError:
            return None
        return max(times, key=times.__getitem__, default=None)

    def keep_commit(self, revision: str, commit: str) -> None:
        _write(self._ref(revision), commit)

    def files(self, commit: str) -> list[HubFile] | None:
        """The files of a commit, if it was listed before."""
        try:
            with open_own(self._listing(commit), encoding="utf-8") as file:
                return [HubFile(*facts) for facts in json.load(file)]
        except (OSError, ValueError, TypeError):
            return None

    def keep_files(self, commit: str, files: Sequence[HubFile]) -> None:
        _write(self._listing(commit), json.dumps([[one.path, one.size, one.hash, one.is_large] for one in files]))

    def is_verified(self, file: HubFile, path: str) -> bool:
        """Whether a file has been verified and not changed since."""
        try:
            with open_own(self._verified(file), encoding="utf-8") as note:
                return bool(json.load(note) == identity_of(path))
        except (OSError, ValueError):
            return False

    def mark_verified(self, file: HubFile, path: str) -> None:
        _write(self._verified(file), json.dumps(identity_of(path)))

    def _ref(self, revision: str) -> str:
        # Parts like `..` would lead out of the folder; no branch has them.
        return os.path.join(
            self.cache, "refs", *(part if part.strip(".") else f"_{part}" for part in revision.split("/"))
        )

    def _listing(self, commit: str) -> str:
        return os.path.join(self.own, f"{commit}.json")

    def _verified(self, file: HubFile) -> str:
        return os.path.join(os.path.dirname(self.own), "verified", file.hash)


def _write(path: str, text: str) -> None:
    with suppress(OSError):  # a read-only cache
        make_private(os.path.dirname(path))
        with atomic_file(path, is_lasting=False) as temporary, open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
