"""`repeat`: all rows several times, or endlessly."""

from __future__ import annotations

from collections.abc import Iterator

from crucible_datasets.records import dataclass
from crucible_datasets.streams.base import Position, Step
from crucible_datasets.streams.batch import Batch


@dataclass(frozen=True)
class Repeated(Step):
    """The rows `times` times, or endlessly. A position is `[rounds done, position below]`."""

    looks_at_columns = False
    times: int | None

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        done, below = at or (0, None)
        while self.times is None or done < self.times:
            empty = below is None
            for position, batch in self.source.batches(below):
                empty = False
                yield [done, position], batch
            if empty:
                return  # an empty stream stays empty
            done, below = done + 1, None

    def forward(self, at: Position, num_rows: int) -> tuple[Position, int]:
        done, below = at or (0, None)
        if self.times is not None and done >= self.times:
            return at, num_rows
        position, left = self.source.forward(below, num_rows)
        return [done, position], left
