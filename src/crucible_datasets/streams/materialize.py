"""All rows of a stream as a view, in memory or in temporary files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from crucible_datasets.atomic.files import scratch_folder
from crucible_datasets.features import Features
from crucible_datasets.ops.build import view_of
from crucible_datasets.streams.base import Stage
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.cursor import Cursor
from crucible_datasets.streams.fitting import adopting, has_nulls
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import Segment, TypedWriter, as_features, settle, united_all

_BLOCK_ROWS = 4096


def typed_batches(stage: Stage, features: Features | None, batch_size: int | None = None) -> Iterator[Batch]:
    """The rows as Arrow: with the stream's features if known, else each batch with its own types."""
    cursor = Cursor(stage)
    while (batch := cursor.take(batch_size or _BLOCK_ROWS)) is not None:
        yield batch.typed(features if features is None else adopting(features, batch))


def in_memory(stage: Stage, features: Features | None) -> View:
    """All rows as one table."""
    batches = list(typed_batches(stage, features))
    kinds = features or Features()
    if features is None or has_nulls(features):
        kinds = united_all((Segment("", batch.features or Features()) for batch in batches), "use_json") or kinds
    empty = as_features(pa.table({}), Features(), kinds)
    tables = [as_features(batch.table, batch.features or Features(), kinds) for batch in batches]
    return view_of(pa.concat_tables([empty, *tables]), kinds)


@contextmanager
def on_disk(stage: Stage, features: Features | None) -> Iterator[View]:
    """A context with all rows in temporary files of one schema, inferred if unknown."""
    with scratch_folder("crucible-stream") as folder:
        writer = TypedWriter(os.path.join(folder, "rows"), "use_json")
        for batch in typed_batches(stage, features):
            writer.write(batch.table, batch.features or Features())
        files, kinds = settle(folder, writer.close(), None if features is None or has_nulls(features) else features)
        tables = [open_table(file, trusted=True).replace_schema_metadata(None) for file in files]
        yield view_of(pa.concat_tables(tables), kinds)
