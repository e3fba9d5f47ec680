"""`batch`: rows that hold the values of several rows each, in lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import pyarrow as pa

from crucible_datasets.exceptions import ColumnNotFoundError
from crucible_datasets.features import Features, List
from crucible_datasets.features.storage import one_array
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position, Step, Unpacked, forwarded
from crucible_datasets.streams.batch import Batch, joined
from crucible_datasets.streams.cursor import Cursor

_ROWS_AT_ONCE = 2048
_BYTES_AT_ONCE = 4 << 20


@dataclass(frozen=True)
class Grouped(Unpacked, Step):
    """`batch_size` rows to a list. A position is a place below."""

    batch_size: int
    drop_last_batch: bool = False

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        cursor, lists = Cursor(self.source, at), 1
        while cursor.ready():
            place = cursor.place
            batch = cursor.batch(self.batch_size * lists)
            if batch is None:
                return
            made = self._lists(batch)
            if made is not None:
                yield place, made
            most = batch.rows_in(_BYTES_AT_ONCE, _ROWS_AT_ONCE)
            lists = min(lists * 2, max(most // max(self.batch_size, 1), 1))

    def _lists(self, batch: Batch) -> Batch | None:
        size = self.batch_size if self.batch_size > 0 else len(batch)
        whole, rest = divmod(len(batch), size)
        lengths = [size] * whole + [rest] * (rest > 0 and not self.drop_last_batch)
        return listed(batch, lengths) if lengths else None

    @property
    def rows_each(self) -> int | None:
        return self.batch_size if self.batch_size > 0 else None

    def place_below(self, place: Position) -> Position:
        position, used = place or (None, 0)
        below, earlier = position or (None, 0)
        return [below, earlier + used * self.batch_size]

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        if self.batch_size <= 0:
            return at, num_rows
        place, left = forwarded(self.source, at, num_rows * self.batch_size)
        return (at, num_rows) if left else (place, 0)  # a batch is dropped as a whole


@dataclass(frozen=True)
class Runs(Unpacked, Step):
    """Consecutive rows with equal values in some columns. A position is a place below."""

    names: tuple[str, ...]
    drop_last_batch: bool = False

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        cursor = Cursor(self.source, at)
        held: list[Batch] = []
        start, key = None, None
        unseen = set(self.names) if at is None else set()
        while cursor.ready():
            position, used = cursor.place
            batch = cursor.next()
            if batch is None:
                break
            unseen -= set(batch.names) if unseen else unseen
            keys = list(zip(*(batch.column(name) for name in self.names), strict=True))
            begins = [place for place, (old, new) in enumerate(zip([key, *keys], keys, strict=False)) if old != new]
            if not held:
                start, begins = [position, used], begins[1:]
            if begins:
                held.append(batch.slice(0, begins[-1]))
                earlier = sum(map(len, held[:-1]))
                whole = joined([piece for piece in held if len(piece)])
                yield start, listed(whole, _between([0, *(earlier + place for place in begins)]))
                held, start = [batch.slice(begins[-1])], [position, used + begins[-1]]
            else:
                held.append(batch)
            key = keys[-1]
        if held and unseen:
            raise ColumnNotFoundError(min(unseen), held[0].names)
        if held and not self.drop_last_batch:
            last = joined(held)
            yield start, listed(last, [len(last)])


def _between(marks: Sequence[int]) -> list[int]:
    return [stop - start for start, stop in pairwise(marks)]


def listed(batch: Batch, lengths: Sequence[int]) -> Batch:
    """Consecutive runs of rows of these lengths, each as one row of lists."""
    marks = [0, *accumulate(lengths)]
    if batch.made is None and batch.table is not None and batch.features is not None:
        offsets = pa.array(marks, pa.int32())
        table = batch.table.slice(0, marks[-1])
        columns = {name: pa.ListArray.from_arrays(offsets, one_array(table.column(name))) for name in batch.features}
        return Batch(pa.table(columns), Features({name: List(kind) for name, kind in batch.features.items()}))
    runs = [batch.slice(start, length) for start, length in zip(marks, lengths, strict=False)]
    return Batch.of_rows([{name: run.column(name) for name in run.names} for run in runs])
