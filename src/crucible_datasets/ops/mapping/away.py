"""Shards that are worked on where the files of this machine are not.

Rows go out as Arrow, those at a source as the address of their files; what was made of them comes back as files.
"""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from crucible_datasets.cache.parts import Parts
from crucible_datasets.executors.base import Advance, Once, Task
from crucible_datasets.features import Features
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.decoding import is_media
from crucible_datasets.features.embed import embedded
from crucible_datasets.ops.mapping.calls import Call
from crucible_datasets.ops.mapping.shards import Shard
from crucible_datasets.tables.portable import Journey
from crucible_datasets.tables.rows import compose
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
        shard, view = self.shard, self.shard.view
        rows = range(shard.rows.start - shard.first, shard.rows.stop - shard.first)
        journey = Journey(self.sees_files, partial(with_files, features=view.readable))
        table, places = journey.of(view.table, compose(view.rows, rows))
        nothing: dict[str, Any] = {"call": None, "folder": ""}
        sent = replace(shard, view=replace(view, table=table, rows=places), first=shard.rows.start, **nothing)
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


def with_files(table: pa.Table, features: Features) -> pa.Table:
    """The table with the files that its media name, which other machines do not have."""
    for place, name in enumerate(table.column_names):
        feature = features[name]
        if is_media(feature) and decoder(feature):
            held = _holding_files(table.select([name]), Features({name: feature}))
            table = table.set_column(place, table.schema.field(name), held.column(0))
    return table


def _holding_files(table: pa.Table, features: Features) -> pa.Table:
    """A column with the files that can be read; whoever decodes the others finds out what is wrong with them."""
    try:
        return embedded(table, features)
    except Exception:  # noqa: BLE001  (whatever reading a file raises)
        half = table.num_rows // 2
        if not half:
            return table
        return pa.concat_tables([_holding_files(part, features) for part in (table.slice(0, half), table.slice(half))])


def _content(path: str) -> pa.Buffer:
    with pa.OSFile(path) as file:
        return file.read_buffer()
