"""Appending to a file of a dataset, atomically: each commit names its parent.

After a conflict, the bytes are appended to the file as it is now. If the response to a commit is lost, the content of
the file shows whether the commit was made.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from crucible_datasets.sources.append_copy import copy_before_append
from crucible_datasets.sources.backoff import TransientError
from crucible_datasets.sources.base import Elsewhere
from crucible_datasets.sources.hub.repo import HubRepo
from crucible_datasets.sources.hub.writer import Retries, Writer


@dataclass(frozen=True)
class Append:
    """An append to a file of a dataset as of a commit; `end` is added first if the file does not end with it."""

    repo: HubRepo
    name: str
    end: bytes

    def begin(self, stream: BinaryIO) -> int:
        """Write the old content to a stream; the offset at which new bytes start."""
        if (file := self._file) is not None:
            with file.open() as before:
                copy_before_append(before, stream, self.end)
        return stream.tell()

    def commit(self, hub: Writer, path: str, start: int) -> None:
        """Commit the local file at `path`, whose bytes from `start` on are new."""
        at, retries = self, Retries(hub)
        while True:
            try:
                hub.send(path, at._uploaded, is_once=True)
                return
            except TransientError as failure:
                retries.failed(failure)
            at = replace(at, repo=at.repo.refreshed())
            if retries.may_be_committed and at._begins_with(path):
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
        """Rewrite `path` as the current remote content and the new bytes; the offset at which these start."""
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
