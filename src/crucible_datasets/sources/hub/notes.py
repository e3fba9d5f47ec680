"""What is remembered about the Hub on this disk, so that it need not be asked again.

<hub cache>/datasets--org--name/refs/<branch>            the commit a branch was last seen at
<datasets cache>/hub/org--name/<commit>.json             which files a commit has: never changes
<datasets cache>/hub/verified/<hash>                     the identity with which a content was last seen to be right

Nothing is lost with a note but time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress

from crucible_datasets.atomic import atomic_file
from crucible_datasets.cache.manifest import identity_of
from crucible_datasets.records import dataclass
from crucible_datasets.sources.hub.files import COMMIT, HubFile


@dataclass(frozen=True)
class Notes:
    """The notes about one repository: its folder in the Hub's cache, and one of our own."""

    cache: str
    own: str

    def commit(self, revision: str) -> str | None:
        """Where a revision stood when it was last seen."""
        try:
            with open(self._ref(revision), encoding="utf-8") as file:
                found = file.read().strip()
        except (OSError, ValueError):
            return None
        return found if COMMIT.fullmatch(found) else None

    def keep_commit(self, revision: str, commit: str) -> None:
        _write(self._ref(revision), commit)

    def files(self, commit: str) -> list[HubFile] | None:
        """The files of a commit, if it was listed before."""
        try:
            with open(self._listing(commit), encoding="utf-8") as file:
                return [HubFile(*facts) for facts in json.load(file)]
        except (OSError, ValueError, TypeError):
            return None

    def keep_files(self, commit: str, files: Sequence[HubFile]) -> None:
        _write(self._listing(commit), json.dumps([[one.path, one.size, one.hash, one.is_large] for one in files]))

    def is_right(self, file: HubFile, path: str) -> bool:
        """Whether a content was seen to be right and not been touched since."""
        try:
            with open(self._verified(file), encoding="utf-8") as note:
                return bool(json.load(note) == identity_of(path))
        except (OSError, ValueError):
            return False

    def keep_right(self, file: HubFile, path: str) -> None:
        _write(self._verified(file), json.dumps(identity_of(path)))

    def _ref(self, revision: str) -> str:
        # No branch has a part of dots alone, which would lead out of the folder.
        return os.path.join(
            self.cache, "refs", *(part if part.strip(".") else f"_{part}" for part in revision.split("/"))
        )

    def _listing(self, commit: str) -> str:
        return os.path.join(self.own, f"{commit}.json")

    def _verified(self, file: HubFile) -> str:
        return os.path.join(os.path.dirname(self.own), "verified", file.hash)


def _write(path: str, text: str) -> None:
    with suppress(OSError):  # a cache that only others may write to
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with atomic_file(path, is_lasting=False) as temporary, open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
