"""Outcomes of blocks → Arrow files with the columns that were added or changed.

A run is a range of input rows whose outcomes have the same columns and types; its file holds one row for each row of
the result. A block with more columns, or with a type that the file cannot hold, starts another run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import ColumnLengthError
from crucible_datasets.features import Features
from crucible_datasets.ops.mapping.blocks import Block
from crucible_datasets.ops.mapping.outcomes import Outcome
from crucible_datasets.outputs.arrow import ArrowFormatter
from crucible_datasets.tables.writing import fitting

_ROWS_AT_ONCE = 1 << 13
_BYTES_AT_ONCE = 4 << 20
_SYSTEM = pa.system_memory_pool()


@dataclass
class Run:
    """A range of input rows and their outcome; serialisable as JSON."""

    start: int
    stop: int
    num_rows: int = 0
    file: str | None = None
    columns: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    is_aligned: bool = True
    is_silent: bool = False
    is_replaced: bool = False

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Run:
        return cls(**facts)

    def facts(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return f"rows {self.start} to {self.stop - 1}"

    def rows(self) -> np.ndarray | range:
        """The input rows that correspond to the rows of the file."""
        every = range(self.start, self.stop)
        return every if not self.dropped else np.setdiff1d(np.arange(self.start, self.stop), self.dropped)


class RunWriter:
    """Writes the runs of one part into a folder."""

    def __init__(self, folder: str, prefix: str, on_mixed_types: str | None, originals: Mapping[str, Any]) -> None:
        self.folder, self.prefix, self.on_mixed_types, self.originals = folder, prefix, on_mixed_types, originals
        self.runs: list[Run] = []
        self._features = Features()
        self._writer: Any = None
        self._formatter = ArrowFormatter()
        self._waiting: list[list[pa.ChunkedArray]] = []
        self._waiting_rows = self._waiting_bytes = 0

    def add(self, block: Block, outcome: Outcome) -> None:
        """Add the outcome of the next block."""
        run = self.runs[-1] if self.runs else None
        if run is None or not self._continues(run, outcome):
            run = self._opened(block, outcome, Features({name: kind for name, (_, kind) in outcome.columns.items()}))
        elif outcome.columns or run.columns:
            run = self._write(run, block, outcome)
        run.stop = block.rows.stop
        run.num_rows += outcome.num_rows
        if outcome.rows is not None and not isinstance(outcome.rows, range):
            run.dropped += np.setdiff1d(np.arange(block.rows.start, block.rows.stop), outcome.rows).tolist()

    def _continues(self, run: Run, outcome: Outcome) -> bool:
        if outcome.is_silent or run.is_silent:
            return outcome.is_silent and run.is_silent
        aligned = outcome.rows is not None
        same_shape = run.is_aligned == aligned and run.is_replaced == outcome.is_replaced
        return same_shape and set(run.gone) == outcome.gone and (aligned or set(run.columns) == outcome.columns.keys())

    def _opened(self, block: Block, outcome: Outcome, features: Features) -> Run:
        self._close()
        run = Run(block.rows.start, block.rows.stop, gone=sorted(outcome.gone), is_silent=outcome.is_silent)
        run.is_aligned, run.is_replaced = outcome.rows is not None, outcome.is_replaced
        run.columns, self._features = list(features), features
        self.runs.append(run)
        if features:
            run.file = f"{self.prefix}-{len(self.runs) - 1}.run"
            self._writer = pa.ipc.new_stream(os.path.join(self.folder, run.file), features.arrow_schema)
            self._put([column for column, _ in outcome.columns.values()], outcome.num_rows)
        return run

    def _write(self, run: Run, block: Block, outcome: Outcome) -> Run:
        # Once changed, a column is always written; otherwise every block might start a new run.
        for name in run.columns:
            if name not in outcome.columns and name in self.originals and not outcome.is_replaced:
                column = block.stored(name)
                rows = outcome.rows
                if rows is not None and not isinstance(rows, range):
                    column = column.take(pa.array(rows - block.rows.start))
                outcome.columns[name] = column, self.originals[name]
        features = {name: feature for name, (_, feature) in outcome.columns.items()}
        table = pa.table({name: column for name, (column, _) in outcome.columns.items()})
        fitted = fitting(table, features, self._features, outcome.num_rows, self.on_mixed_types)
        if fitted is None:
            return self._opened(block, outcome, Features(features))
        self._put(fitted.columns, outcome.num_rows)
        return run

    def _put(self, columns: list[pa.ChunkedArray], num_rows: int) -> None:
        for name, column in zip(self._features, columns, strict=True):
            if len(column) != num_rows:
                raise ColumnLengthError(name, len(column), num_rows)
        self._waiting.append(columns)
        self._waiting_rows += num_rows
        self._waiting_bytes += sum(column.nbytes for column in columns)
        if self._waiting_rows >= _ROWS_AT_ONCE or self._waiting_bytes >= _BYTES_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            columns = [_joined(parts) for parts in zip(*self._waiting, strict=True)]
            # The system allocator reuses memory for every flush, whereas Arrow's pools take fresh pages.
            together = pa.table(columns, names=list(self._features)).combine_chunks(memory_pool=_SYSTEM)
            self._writer.write_table(self._formatter.batch(together, self._features))
            self._waiting, self._waiting_rows, self._waiting_bytes = [], 0, 0

    def _close(self) -> None:
        if self._writer is not None:
            self._flush()
            self._writer.close()
            self._writer = None

    def close(self) -> list[Run]:
        """Finish the last file; all runs."""
        self._close()
        return self.runs


def _joined(parts: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)


def files_of(runs: Sequence[Run]) -> list[str]:
    """The files of runs."""
    return [run.file for run in runs if run.file]
