"""`push_to_hub` of streams: files are written and uploaded while rows are read.

If the types are unknown, or the number of files is given, rows are written to temporary files first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import groupby
from typing import Any

import pyarrow as pa

from crucible_datasets import config
from crucible_datasets.features import Features
from crucible_datasets.features.embed import embedded
from crucible_datasets.formats.parquet import byte_count
from crucible_datasets.ops.push import Tables, Where, push, push_views
from crucible_datasets.streams import materialize
from crucible_datasets.streams.base import Stage

Flowing = Mapping[str, tuple[Stage, Features | None]]


def push_streams(
    flowing: Flowing,
    where: Where,
    max_shard_size: str | int | None = None,
    num_shards: int | Mapping[str, int | None] | None = None,
    num_proc: int | None = None,
    embed_external_files: bool = True,
) -> Any:
    """Push one or several splits; the commit."""
    known = {split: features for split, (_, features) in flowing.items() if features is not None}
    if len(known) < len(flowing) or num_shards is not None:
        with ExitStack() as stack:
            views = {split: stack.enter_context(materialize.on_disk(*rows)) for split, rows in flowing.items()}
            return push_views(views, where, max_shard_size, num_shards, num_proc, embed_external_files)
    most = byte_count(max_shard_size or config.MAX_SHARD_SIZE)
    shards = {split: _files(stage, known[split], most, embed_external_files) for split, (stage, _) in flowing.items()}
    return push(shards, known, where)


def _files(stage: Stage, features: Features, most: int, embed_external_files: bool) -> Iterator[Tables]:
    """The tables of each file, of about `most` bytes."""
    before = 0

    def number(table: pa.Table) -> int:
        nonlocal before
        file, before = before // most, before + table.nbytes
        return file

    tables = (batch.table for batch in materialize.typed_batches(stage, features))
    whole = (embedded(table, features) for table in tables) if embed_external_files else tables
    for _, several in groupby(whole, number):
        yield several
    if not before:
        yield [features.arrow_schema.empty_table()]
