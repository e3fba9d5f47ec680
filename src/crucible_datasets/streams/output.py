"""The end of a stream: rows and batches in its format, and the position of the next one."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import partial
from operator import methodcaller
from typing import Any

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features import Features
from crucible_datasets.features.batch_decode import Located
from crucible_datasets.formats.prefetch import closed_at_exit
from crucible_datasets.outputs.base import Format, Formatter
from crucible_datasets.outputs.tensors import TensorFormatter
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position, Stage
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.cursor import Cursor
from crucible_datasets.streams.fitting import adopting
from crucible_datasets.streams.inputs import Shown

# Few rows become Python at a time: the first come early, and they stay in the processor's cache.
_FIRST_ROWS, _MOST_ROWS = 8, 256
_MOST_BYTES = 4 << 20


@dataclass
class Progress:
    """Where a reader is: the position before a batch, and how many of the following rows were read."""

    position: Position = None
    used: int = 0

    @property
    def place(self) -> list[Position]:
        return [self.position, self.used]


def rows(stage: Stage, format: Format, features: Features | None, progress: Progress) -> Iterator[Any]:
    """Every row from `progress` onwards, which is advanced before each row is yielded."""
    return closed_at_exit(_rows(stage, format, features, progress))


def _rows(stage: Stage, format: Format, features: Features | None, progress: Progress) -> Generator[Any]:
    show = _row_shower(Shown(format), features)
    to_drop, size = progress.used, _FIRST_ROWS
    for position, batch in stage.batches(progress.position):
        if to_drop >= len(batch):
            to_drop -= len(batch)
            continue
        progress.position, progress.used = position, to_drop
        start, to_drop = to_drop, 0
        most = batch.rows_in(_MOST_BYTES, _MOST_ROWS)
        while start < len(batch):
            with Located(None, None):
                for row in show(batch.slice(start, min(size, most))):
                    start += 1
                    progress.used = start
                    yield row
            size = min(size * 4, _MOST_ROWS)


def batches(
    stage: Stage,
    format: Format,
    features: Features | None,
    progress: Progress,
    batch_size: int,
    drop_last_batch: bool = False,
) -> Iterator[Any]:
    """Every row in batches of `batch_size`, shown as columns."""
    if batch_size < 1:
        raise ArgumentError("batch_size", batch_size, "expected at least 1.")
    return closed_at_exit(_batches(stage, format, features, progress, batch_size, drop_last_batch))


def _batches(
    stage: Stage,
    format: Format,
    features: Features | None,
    progress: Progress,
    batch_size: int,
    drop_last_batch: bool,
) -> Generator[Any]:
    show = batch_shower(Shown(format), features)
    cursor = Cursor(stage, progress.place)
    while (batch := cursor.take(batch_size)) is not None:
        if drop_last_batch and len(batch) < batch_size:
            return
        progress.position, progress.used = cursor.place
        with Located(None, None):
            shown = show(batch)
        yield shown


def _row_shower(shown: Shown, features: Features | None) -> Callable[[Batch], Any]:
    formatter = shown.formatter
    if shown.is_python:
        return methodcaller("in_turn")
    if shown.is_frame:
        return partial(_frames, features, formatter)

    def tensors(batch: Batch) -> Any:
        if batch.made is None:
            return formatter.rows(batch.table, batch.features)  # type: ignore[arg-type]
        return ({name: shown.value(value) for name, value in row.items()} for row in batch.rows())

    return tensors


def _frames(features: Features | None, formatter: Formatter, batch: Batch) -> Iterator[Any]:
    """Each row as a table. If types are unknown, they are inferred for each row on its own."""
    if features is not None or batch.made is None:
        yield from _typed(batch, features, formatter.rows)
        return
    for place in range(len(batch)):
        yield from _typed(batch.slice(place, 1), None, formatter.rows)


def batch_shower(shown: Shown, features: Features | None) -> Callable[[Batch], Any]:
    """A function that formats a batch."""
    formatter = shown.formatter
    if shown.is_python:
        return lambda batch: {name: batch.column(name) for name in batch.names}
    if shown.is_frame:
        return lambda batch: _typed(batch, features, formatter.batch)

    def tensors(batch: Batch) -> Any:
        if batch.made is None or not isinstance(formatter, TensorFormatter):
            return _typed(batch, features, formatter.batch)
        return {name: shown.column(batch.column(name)) for name in batch.names}

    return tensors


def _typed(batch: Batch, features: Features | None, show: Callable[..., Any]) -> Any:
    fits = features is not None and (batch.made is not None or set(batch.features or ()) == set(features))
    typed = batch.typed(adopting(features, batch) if fits else None)  # type: ignore[arg-type]
    return show(typed.table, typed.features)
