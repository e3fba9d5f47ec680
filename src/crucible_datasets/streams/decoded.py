"""`decode(num_threads=…)`: images, sound and other media decoded by several threads, a few rows in advance."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from crucible_datasets.features.batch_decode import Located
from crucible_datasets.features.decode import decoder
from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position, Step, forwarded
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.cursor import Cursor
from crucible_datasets.streams.mapped import hidden

_ROWS_PER_THREAD = 4


@dataclass(frozen=True)
class Decoded(Step):
    """The rows with their media decoded. A position is a place below."""

    num_threads: int

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        cursor = Cursor(self.source, at)
        with ThreadPoolExecutor(self.num_threads) as pool:
            while cursor.ready():
                place = cursor.place
                batch = cursor.take(self.num_threads * _ROWS_PER_THREAD)
                if batch is not None:
                    yield place, _decoded(batch, pool)

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        return forwarded(self.source, at, num_rows)


def _decoded(batch: Batch, pool: ThreadPoolExecutor) -> Batch:
    if batch.table is None or batch.features is None or batch.made is not None:
        return batch
    decoders = {name: decode for name, kind in batch.features.items() if (decode := decoder(kind))}
    columns = []
    for name, decode in decoders.items():
        with Located(name, None):
            columns.append(list(pool.map(decode, batch.table.column(name).to_pylist())))
    made = [dict(zip(decoders, values, strict=True)) for values in zip(*columns, strict=True)]
    return hidden(Batch(batch.table, batch.features, made), list(decoders)) if decoders else batch
