"""Streams of the rows of a view, split into shards of about equal length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from crucible_datasets.exceptions import ArgumentError, DatasetsError
from crucible_datasets.features.media import Media
from crucible_datasets.features.types import any_leaf
from crucible_datasets.hashing.files import sampled_content
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.source import Shard, Source
from crucible_datasets.tables.rows import shared_out
from crucible_datasets.tables.view import View

# Small at first, so that the first rows come early; then large, which is faster.
_FIRST_ROWS, _MOST_ROWS = 64, 4096
_SAMPLED_RUNS, _SAMPLED_ROWS, _SAMPLED_BYTES = 4, 256, 1 << 20


@dataclass(frozen=True, eq=False)
class ViewShard(Shard):
    """The rows of a view. A position is the number of its next row."""

    view: View

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        start, size = at or 0, _FIRST_ROWS
        while start < len(self.view):
            stop = min(start + size, len(self.view))
            yield start, Batch.of_table(self.view.read(range(start, stop)), self.view.readable)
            start, size = stop, min(size * 4, _MOST_ROWS)

    def rows_left(self, at: Position) -> int:
        return len(self.view) - (at or 0)

    def moved(self, at: Position, num_rows: int) -> Position:
        return (at or 0) + num_rows

    def identity(self) -> Any:
        rows = self.view.rows
        if not isinstance(rows, range) and len(rows) and bool((np.diff(rows) == 1).all()):
            rows = range(int(rows[0]), int(rows[-1]) + 1)
        return rows, self.view.features

    def sample(self) -> Any:
        with suppress(DatasetsError, OSError):  # of damaged rows, reading tells
            return self._sampled_rows()
        return None

    def _sampled_rows(self) -> list[Any]:
        """Runs of rows, evenly spread: all rows if they are few, at most about a megabyte each."""
        count = len(self.view)
        size = min(_SAMPLED_ROWS, _SAMPLED_BYTES // max(self.view.read(range(1)).nbytes, 1) + 1) if count else 0
        starts = {max(0, min(count - size, round(start))) for start in np.linspace(0, count - size, _SAMPLED_RUNS)}
        tables = [self.view.read(range(start, min(start + size, count))) for start in sorted(starts)]
        if not any_leaf(dict(self.view.features), (Media,)):
            return tables
        return [[_with_contents(row) for row in table.to_pylist()] for table in tables]

    def cut(self, parts: int) -> Sequence[Shard]:
        parts = max(1, min(parts, len(self.view)))
        runs = (shared_out(len(self.view), parts, index) for index in range(parts))
        return [ViewShard(self.view.moved(run, "shard")) for run in runs]


def _with_contents(value: Any) -> Any:
    """A value in which files that media refer to are told by their content, wherever they are."""
    if isinstance(value, list):
        return [_with_contents(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"bytes", "path"} and value["bytes"] is None and value["path"] is not None:
        with suppress(OSError, ValueError):
            return sampled_content(value["path"])
    return {name: _with_contents(item) for name, item in value.items()}


def source_of(view: View, num_shards: int | None = 1) -> Source:
    """The rows of a view in shards of about equal length."""
    wanted = num_shards or 1
    if wanted > max(1, len(view)):
        raise ArgumentError("num_shards", wanted, f"there are only {len(view)} rows to share out.")
    return Source(tuple(ViewShard(view).cut(wanted)))
