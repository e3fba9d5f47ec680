"""Shards that are worked on where the files of this machine are not.

Rows go out as Arrow, those at a source as the address of their files; what was made of them comes back as files.
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
from crucible_datasets.ops.carrying import carried
from crucible_datasets.ops.mapping.calls import Call
from crucible_datasets.ops.mapping.shards import Shard
from crucible_datasets.tables.table import Table

Facts = list[dict[str, Any]]
Files = dict[str, pa.Buffer]


_tables_kept: deque[Table] = deque(maxlen=1)  # What a worker has decoded of a source, the next shard may need too.


@dataclass(frozen=True, eq=False)
class AwayShard:
    """A shard whose rows are read when it is sent, or where it is worked on, and not before."""

    shard: Shard
    call: Once[Call]
    sees_files: bool = False  # whether it is worked on where the files of this machine are found

    def __getstate__(self) -> dict[str, Any]:
        """What travels: rows as Arrow, or where they are, and the shard without function and folder."""
        shard = self.shard
        view = carried(
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


def away_task(shard: Shard, call: Once[Call], sees_files: bool) -> Task[tuple[Facts, Files]] | Facts:
    """What is left to do of a shard; the facts of its parts if that is nothing."""
    found = shard.finished()
    left = range(found[-1]["stop"], shard.rows.stop) if found else shard.rows
    if not left:
        return found
    sent = AwayShard(replace(shard, rows=left), call, sees_files)
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
