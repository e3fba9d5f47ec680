"""Rows of JSON Lines without Arrow, as long as those who take them want them so.

Text whose rows are exactly of the expected types is these rows, and the rest of a block is what Arrow makes of it. Who
reads with Arrow and finds these types gets the same values. So it does not matter who asked for what, and when.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from crucible_datasets.features import List, Value
from crucible_datasets.formats.json_rows import TypedLines
from crucible_datasets.ops.build import table_of
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.ready import ReadyRows

_PIECE = 1 << 18  # bytes; rows of more take twice the time, since they leave the processor's cache


class LineRows:
    """One pass over a file: the rows of its blocks, made from their text."""

    def __init__(self, lines: TypedLines) -> None:
        self.lines, self.expected = lines, lines.features
        self.is_arrow_wanted = False
        self.is_whole = False  # whether the last block became rows to its end

    def batches(self, text: bytes) -> Iterator[ReadyRows | None]:
        """The rows of a block up to lines of other types. None comes before rows where Arrow is wanted instead."""
        self.is_whole, start = False, 0
        while start < len(text):
            if self.is_arrow_wanted:
                yield None
            stop = text.find(b"\n", start + _PIECE) + 1 or len(text)
            piece, start = text[start:stop], stop
            rows = self.lines.rows(piece)
            if rows is None:
                self.is_arrow_wanted = True  # such lines seldom come alone
                return
            if rows:
                yield ReadyRows(rows, self.expected, len(piece), partial(self._table, piece))
        self.is_whole = True

    def _table(self, piece: bytes) -> pa.Table:
        # The rows were given away and may have changed since.
        self.is_arrow_wanted = True
        return table_of(list(self.lines.rows(piece) or ()), self.expected)[0]

    def fits(self, batch: Batch | None) -> bool:
        """Whether rows that Arrow read have the values that are expected, whatever is null in all of them."""
        if batch is None or batch.features is None:
            return False
        expected = self.expected
        return all(name in expected and _is_within(kind, expected[name]) for name, kind in batch.features.items())


def _is_within(found: object, expected: object) -> bool:
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(_is_within(found[name], expected[name]) for name in found)
    if isinstance(found, List) and isinstance(expected, List):
        return _is_within(found.feature, expected.feature)
    return found == expected or found == Value("null")
