"""Bytes that are appended to a file of a dataset: behind those of the commit that theirs follows, or not at all.

When somebody else was faster, they are put behind what is there by then. When the answer to a commit is lost, the file
tells whether it was made.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from crucible_datasets.sources.backoff import PassingError
from crucible_datasets.sources.base import Elsewhere
from crucible_datasets.sources.continued import continued
from crucible_datasets.sources.hub.repo import HubRepo
from crucible_datasets.sources.hub.writing import Trials, Writer


@dataclass(frozen=True)
class Append:
    """What is to stand behind a file of a dataset as it is at a commit, and `end` which that should end with."""

    repo: HubRepo
    name: str
    end: bytes

    def begin(self, stream: BinaryIO) -> int:
        """Write what is there to a stream; how many bytes stand before the new ones."""
        if (file := self._file) is not None:
            with file.open() as before:
                continued(before, stream, self.end)
        return stream.tell()

    def commit(self, hub: Writer, path: str, start: int) -> None:
        """Show the file at `path`, whose bytes from `start` on are new, in place of the one that is there."""
        at, trials = self, Trials(hub)
        while True:
            try:
                hub.send(path, at._uploaded, is_once=True)
                return
            except PassingError as accident:
                trials.failed(accident)
            at = replace(at, repo=at.repo.anew())
            if trials.is_in_doubt and at._begins_with(path):
                return
            start = at._moved(path, start)

    def _uploaded(self, api: Any, content: Any) -> None:
        repo = {"repo_id": self.repo.id, "repo_type": "dataset", "revision": self.repo.revision}
        api.upload_file(
            path_or_fileobj=content,
            path_in_repo=self.name,
            commit_message=f"Write {self.name}",
            parent_commit=self.repo.commit,
            **repo,
        )

    def _moved(self, path: str, start: int) -> int:
        """Put the new bytes at `path` behind what is there by now; where they begin."""
        with open(path, "rb") as old, open(f"{path}~", "wb") as stream:
            begin = self.begin(stream)
            old.seek(start)
            shutil.copyfileobj(old, stream)
        os.replace(f"{path}~", path)
        return begin

    def _begins_with(self, path: str) -> bool:
        if (file := self._file) is None:
            return False
        with file.open() as there, open(path, "rb") as here:
            while block := here.read(1 << 20):
                if there.read(len(block)) != block:
                    return False
        return True

    @property
    def _file(self) -> Elsewhere | None:
        return self.repo.elsewhere(self.name) if self.name in self.repo.files else None
