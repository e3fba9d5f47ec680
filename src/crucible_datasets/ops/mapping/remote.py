"""Shards that are processed on other machines.

Rows are sent as Arrow, or as the URLs of remote files; results come back as the content of files.
"""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from crucible_datasets.cache.parts import Parts
from crucible_datasets.executors.base import Advance, Once, Task
from crucible_datasets.ops.mapping.calls import Call
from crucible_datasets.ops.mapping.shards import Shard
from crucible_datasets.ops.transport import portable
from crucible_datasets.tables.table import Table

Facts = list[dict[str, Any]]
Files = dict[str, pa.Buffer]


_tables_kept: deque[Table] = deque(maxlen=1)  # the next shard may need what this worker has decoded


@dataclass(frozen=True, eq=False)
class RemoteShard:
    """A shard whose rows are read when it is pickled, or by the worker."""

    shard: Shard
    call: Once[Call]
    sees_files: bool = False  # whether the worker shares our file system

    def __getstate__(self) -> dict[str, Any]:
        """The pickled state: rows as Arrow or URLs, and the shard without function and folder."""
        shard = self.shard
        view = portable(
            shard.view, range(shard.rows.start - shard.first, shard.rows.stop - shard.first), self.sees_files
        )
        nothing: dict[str, Any] = {"call": None, "folder": ""}
        sent = replace(shard, view=view, first=shard.rows.start, **nothing)
        return {"shard": sent, "call": self.call}

    def __call__(self, rank: int | None, advance: Advance) -> tuple[Facts, Files]:
        """The facts of all parts, and their files."""
        _tables_kept.append(self.shard.view.table)
        with tempfile.TemporaryDirectory(prefix="crucible-") as folder:
            facts = replace(self.shard, call=self.call.value, folder=folder)(rank, advance)
            names = [file for part in facts for file in part["files"]]
            return facts, {name: _content(os.path.join(folder, name)) for name in names}


def remote_task(shard: Shard, call: Once[Call], sees_files: bool) -> Task[tuple[Facts, Files]] | Facts:
    """A task for the unfinished rest of a shard; the facts of its parts if nothing is left."""
    found = shard.finished()
    left = range(found[-1]["stop"], shard.rows.stop) if found else shard.rows
    if not left:
        return found
    sent = RemoteShard(replace(shard, rows=left), call, sees_files)
    return Task(sent, left, call.value.name, _arrival(shard.folder, found))


def _arrival(folder: str, before: Facts) -> Callable[[tuple[Facts, Files]], Facts]:
    def arrived(result: tuple[Facts, Files]) -> Facts:
        facts, files = result
        parts = Parts(folder)
        for part in facts:
            for name in part["files"]:
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(files[name])
            parts.finish(f"rows-{part['start']}", part["files"], part)
        return [*before, *facts]

    return arrived


def _content(path: str) -> pa.Buffer:
    with pa.OSFile(path) as file:
        return file.read_buffer()
