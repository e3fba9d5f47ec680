"""Shards that are worked on where the files of this machine are not: rows go out as Arrow, files come back as bytes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
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
from crucible_datasets.tables.table import ArrowTable

Facts = list[dict[str, Any]]
Files = dict[str, pa.Buffer]


@dataclass(frozen=True, eq=False)
class AwayShard:
    """A shard whose rows are read when it is sent, and not before."""

    shard: Shard
    call: Once[Call]

    def __getstate__(self) -> dict[str, Any]:
        """What travels: the rows as one Arrow stream, and the shard without data, function and folder."""
        shard = self.shard
        rows = range(shard.rows.start - shard.first, shard.rows.stop - shard.first)
        nothing: dict[str, Any] = {"call": None, "folder": ""}
        bare = replace(shard.view, table=ArrowTable(shard.view.table.schema.empty_table()), rows=range(0))
        return {
            "shard": replace(shard, view=bare, first=shard.rows.start, **nothing),
            "call": self.call,
            "stream": _streamed(_with_files(shard.view.read(rows), shard.view.readable)),
        }

    def __call__(self, rank: int | None, advance: Advance) -> tuple[Facts, Files]:
        """The facts of all parts, and their files."""
        with tempfile.TemporaryDirectory(prefix="crucible-") as folder:
            facts = replace(self._here(), folder=folder)(rank, advance)
            names = [file for part in facts for file in part["files"]]
            return facts, {name: _content(os.path.join(folder, name)) for name in names}

    def _here(self) -> Shard:
        if "stream" not in vars(self):
            return self.shard
        table = ArrowTable(pa.ipc.open_stream(vars(self)["stream"]).read_all())
        view = replace(self.shard.view, table=table, rows=range(table.num_rows))
        return replace(self.shard, view=view, call=self.call.value)


def away_task(shard: Shard, call: Once[Call], name: str) -> Task[tuple[Facts, Files]] | Facts:
    """What is left to do of a shard; the facts of its parts if that is nothing."""
    found = shard.finished()
    if not found:
        return Task(AwayShard(shard, call), shard.rows, name, _arrival(shard.folder, []))
    left = range(found[-1]["stop"], shard.rows.stop)
    if not left:
        return found
    return Task(AwayShard(replace(shard, rows=left), call), left, name, _arrival(shard.folder, found))


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


def _with_files(table: pa.Table, features: Features) -> pa.Table:
    """The table with the files that its media name, which other machines do not have."""
    for place, (name, feature) in enumerate(features.items()):
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


def _streamed(table: pa.Table) -> pa.Buffer:
    """A table as an Arrow stream: of a slice, only what it shows."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _content(path: str) -> pa.Buffer:
    with pa.OSFile(path) as file:
        return file.read_buffer()
