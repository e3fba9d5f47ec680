"""`push_to_hub` of streams: files are written and uploaded while rows are read.

By default, each shard becomes one file, or several of a limited size. If the types are unknown, or the number of files
is given, rows are written to temporary files first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import chain, groupby
from typing import Any

import pyarrow as pa

from crucible_datasets import config
from crucible_datasets.features import Features
from crucible_datasets.features.embed import embedded
from crucible_datasets.features.storage import no_rows
from crucible_datasets.formats.parquet import byte_count
from crucible_datasets.ops.push import Tables, Where, push, push_views
from crucible_datasets.ops.shards import Shards
from crucible_datasets.streams import materialize
from crucible_datasets.streams.base import EachBatch, Stage
from crucible_datasets.streams.concatenated import Concatenated
from crucible_datasets.streams.decoded import Decoded
from crucible_datasets.streams.filtered import Filtered
from crucible_datasets.streams.fitting import has_nulls
from crucible_datasets.streams.mapped import Mapped
from crucible_datasets.streams.prefetched import Prefetched
from crucible_datasets.streams.source import Source
from crucible_datasets.tables.view import View

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
    known = {
        split: features for split, (_, features) in flowing.items() if not (features is None or has_nulls(features))
    }
    if len(known) < len(flowing) or num_shards is not None:
        with ExitStack() as stack:
            views = {split: stack.enter_context(materialize.on_disk(*rows)) for split, rows in flowing.items()}
            if max_shard_size is None and num_shards is None:
                num_shards = {split: _at_least(len(_parts(flowing[split][0])), view) for split, view in views.items()}
            return push_views(views, where, max_shard_size, num_shards, num_proc, embed_external_files)
    most = byte_count(max_shard_size or config.MAX_SHARD_SIZE)
    parts = {split: [stage] if max_shard_size else _parts(stage) for split, (stage, _) in flowing.items()}
    shards = {
        split: chain.from_iterable(_files(part, known[split], most, embed_external_files) for part in several)
        for split, several in parts.items()
    }
    return push(shards, known, where)


def _at_least(count: int, view: View) -> int:
    return max(count, Shards.wanted(view, None, None, None).count)


def _parts(stage: Stage) -> list[Stage]:
    """A stage for each shard, or the whole where the rows of one shard depend on those of others."""
    count = stage.num_shards
    return [stage.shard(count, index) for index in range(count)] if count > 1 and _is_by_row(stage) else [stage]


def _is_by_row(stage: Stage) -> bool:
    if isinstance(stage, (Mapped, Filtered)):
        return not stage.call.with_indices and _is_by_row(stage.source)
    return isinstance(stage, (Source, Concatenated, EachBatch, Decoded, Prefetched)) and all(
        map(_is_by_row, stage.below())
    )


def _pieces(table: pa.Table, most: int) -> Iterator[pa.Table]:
    """A table in pieces of at most `most` bytes, or of one row."""
    rows = max(1, len(table) * most // max(table.nbytes, 1))
    for start in range(0, max(len(table), 1), rows):
        yield table.slice(start, rows)


def _files(stage: Stage, features: Features, most: int, embed_external_files: bool) -> Iterator[Tables]:
    """The tables of each file, of about `most` bytes; a larger table is divided."""
    before = 0

    def number(table: pa.Table) -> int:
        nonlocal before
        file, before = before // most, before + table.nbytes
        return file

    tables = (batch.table for batch in materialize.typed_batches(stage, features))
    whole = (embedded(table, features) for table in tables) if embed_external_files else tables
    for _, several in groupby(chain.from_iterable(_pieces(table, most) for table in whole), number):
        yield several
    if not before:
        yield [no_rows(features.arrow_schema)]
