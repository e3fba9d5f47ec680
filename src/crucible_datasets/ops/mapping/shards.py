"""One shard of a map or filter: its rows block by block, in parts that survive a killed run."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.cache.parts import Parts
from crucible_datasets.exceptions import ColumnLengthError
from crucible_datasets.executors.base import Advance
from crucible_datasets.features import Features
from crucible_datasets.features.batch_decode import is_media
from crucible_datasets.ops.mapping.blocks import Block, Source
from crucible_datasets.ops.mapping.calls import Call, Failure
from crucible_datasets.ops.mapping.lazy import let_go
from crucible_datasets.ops.mapping.merging import outcome_of
from crucible_datasets.ops.mapping.outcomes import Merge
from crucible_datasets.ops.mapping.runs import Run, RunWriter, files_of
from crucible_datasets.outputs.python import collecting_rarely
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.view import View

# A killed run loses at most one part per worker.
_PART_SECONDS = 2.0
_PART_ROWS = 1 << 16

_BLOCK_ROWS = 512
_MEDIA_ROWS = 64  # decoded media are kept until the end of a block
_GATHERED_ROWS = 4096  # scattered rows are read in larger blocks
ERRORS = pa.schema({"index": pa.int64(), "exception": pa.string(), "traceback": pa.string()})


@dataclass(frozen=True, eq=False)
class Shard(ABC):
    """A range of rows, the call to apply, and the folder for the results."""

    view: View
    rows: range
    call: Call
    folder: str
    batch_size: int | None = 1000
    drop_last_batch: bool = False
    part_rows: int = field(default_factory=lambda: _PART_ROWS)
    first: int = 0  # the number of the first row that the view has
    is_alone: bool = False  # whether it is the only shard, which has no rank

    def __call__(self, rank: int | None, advance: Advance) -> list[dict[str, Any]]:
        """The facts of all parts."""
        rank = None if self.is_alone else rank
        parts, found, at = Parts(self.folder), [], self.rows.start
        source = Source(self.view, first=self.first, kept=self.kept)
        while at < self.rows.stop:
            facts = parts.found(f"rows-{at}")
            if facts is None or not self._may_use(facts):
                with collecting_rarely():
                    facts = self._part(at, source, rank, advance)
                parts.finish(f"rows-{at}", facts["files"], facts)
            else:
                advance(facts["stop"] - at)
            found.append(facts)
            at = facts["stop"]
        return found

    def finished(self) -> list[dict[str, Any]]:
        """The facts of the parts at the start that an earlier run has finished."""
        parts, found, at = Parts(self.folder), [], self.rows.start
        while at < self.rows.stop:
            facts = parts.found(f"rows-{at}")
            if facts is None or not self._may_use(facts):
                break
            found.append(facts)
            at = facts["stop"]
        return found

    def _part(self, start: int, source: Source, rank: int | None, advance: Advance) -> dict[str, Any]:
        began, at, failures = time.monotonic(), start, []
        writing = self.writing(start)
        for block in self._blocks(start, source):
            if not self._is_dropped(block):
                failures += writing.add(block, rank)
                let_go(block)
            at = block.rows.stop
            advance(len(block))
            if time.monotonic() - began > _PART_SECONDS or at - start >= self.part_rows:
                break
        facts = writing.close()
        if failures and self.call.on_error == "collect":
            facts["errors"] = f"errors-{start}.arrow"
            facts["files"].append(facts["errors"])
            _write_errors(os.path.join(self.folder, facts["errors"]), failures)
        return {"start": start, "stop": at, **facts}

    def _may_use(self, facts: Mapping[str, Any]) -> bool:
        """Whether a finished part of an earlier run lies in this shard, with the same batch boundaries."""
        ends_a_batch = (facts["stop"] - self.rows.start) % self.block_rows == 0 or facts["stop"] == self.rows.stop
        return bool(facts["stop"] <= self.rows.stop and (ends_a_batch or not self.call.batched))

    def _blocks(self, start: int, source: Source) -> Iterator[Block]:
        size = self.block_rows
        for at in range(start, self.rows.stop, size):
            yield Block(source, range(at, min(at + size, self.rows.stop)))

    @property
    def block_rows(self) -> int:
        """How many rows are read together: the batch size, if the function is batched."""
        if self.call.batched:
            return self.batch_size if self.batch_size and self.batch_size > 0 else max(len(self.rows), 1)
        if any(map(is_media, self.view.features.values())):
            return _MEDIA_ROWS
        return _BLOCK_ROWS if isinstance(self.view.rows, range) else _GATHERED_ROWS

    def _is_dropped(self, block: Block) -> bool:
        return self.drop_last_batch and self.call.batched and len(block) < self.block_rows

    @property
    def kept(self) -> frozenset[str]:
        """The columns of the result in which the function's changes are to be seen."""
        return frozenset()

    @abstractmethod
    def writing(self, start: int) -> Any:
        """A writer for the results of blocks from row `start`, which must be closed."""


@dataclass(frozen=True, eq=False)
class MapShard(Shard):
    """A shard of `map`: results become columns."""

    merge: Merge | None = None

    @property
    def kept(self) -> frozenset[str]:
        assert self.merge is not None
        return frozenset(self.view.column_names) - self.merge.removed

    def writing(self, start: int) -> _Columns:
        assert self.merge is not None
        return _Columns(self, start, self.merge)


class _Columns:
    def __init__(self, shard: Shard, start: int, merge: Merge) -> None:
        self.shard, self.merge = shard, merge
        typing = merge.typing
        self.writer = RunWriter(shard.folder, f"rows-{start}", typing.on_mixed_types, typing.originals)

    def add(self, block: Block, rank: int | None) -> list[Failure]:
        returned = self.shard.call(block, rank)
        self.writer.add(block, outcome_of(self.merge, block, returned, self.shard.call.batched))
        return returned.failed

    def close(self) -> dict[str, Any]:
        runs = self.writer.close()
        return {"files": files_of(runs), "runs": [run.facts() for run in runs]}


@dataclass(frozen=True, eq=False)
class FilterShard(Shard):
    """A shard of `filter`: results say which rows are kept."""

    def writing(self, start: int) -> _Kept:
        return _Kept(self, start)


class _Kept:
    def __init__(self, shard: Shard, start: int) -> None:
        self.shard, self.file = shard, f"kept-{start}.npy"
        self.kept: list[np.ndarray] = []

    def add(self, block: Block, rank: int | None) -> list[Failure]:
        returned = self.shard.call(block, rank)
        if self.shard.call.batched:
            self.kept.extend(_chosen(block, mask) for mask in returned.values)
        else:
            failed = {failure.rows.start for failure in returned.failed}
            rows = [row for row in block.rows if row not in failed] if failed else block.rows
            self.kept.append(_true(rows, returned.values))
        return returned.failed

    def close(self) -> dict[str, Any]:
        kept = np.concatenate(self.kept) if self.kept else np.zeros(0, dtype=np.int64)
        np.save(os.path.join(self.shard.folder, self.file), kept)
        return {"files": [self.file], "kept": self.file}


def _chosen(block: Block, mask: Any) -> np.ndarray:
    wanted = mask.to_pylist() if hasattr(mask, "to_pylist") else list(mask)
    if len(wanted) != len(block.rows):
        raise ColumnLengthError("the mask of filter", len(wanted), len(block.rows))
    return _true(block.rows, wanted)


def _true(rows: range | list[int], wanted: list[Any]) -> np.ndarray:
    """The rows whose value is true."""
    places = np.flatnonzero(np.fromiter(map(bool, wanted), dtype=bool, count=len(wanted)))
    return places + rows.start if isinstance(rows, range) else np.asarray(rows, dtype=np.int64)[places]


def _write_errors(path: str, failures: list[Failure]) -> None:
    rows = [(row, failure.exception, failure.traceback) for failure in failures for row in failure.rows]
    columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), ERRORS, strict=True)]
    with pa.ipc.new_stream(path, ERRORS) as writer:
        writer.write_table(pa.Table.from_arrays(columns, schema=ERRORS))


def runs_of(parts: Sequence[Mapping[str, Any]]) -> list[Run]:
    """The runs of all parts, in the order of their rows."""
    return [Run.of(facts) for part in parts for facts in part["runs"]]


def errors_in(folder: str, files: Sequence[str], on_error: str) -> View | None:
    """The rows that a function failed on, with their errors, in order; None unless errors are collected."""
    if on_error != "collect":
        return None
    tables = [open_table(os.path.join(folder, file), in_memory=True, trusted=True) for file in files]
    return View.of(pa.concat_tables([ERRORS.empty_table(), *tables]), Features.from_arrow_schema(ERRORS))
