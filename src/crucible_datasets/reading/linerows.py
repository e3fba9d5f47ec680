"""Python rows straight from JSON Lines, without Arrow, for consumers that want Python rows.

Lines that have exactly the expected types are parsed directly; Arrow reads the rest of a block. Both give the same
values, so it does not matter which of the two a consumer uses, and when.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from crucible_datasets.features import List, Value
from crucible_datasets.formats.json.typed_lines import TypedLines
from crucible_datasets.ops.build import table_of
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.python_rows import ReadyRows

_PIECE = 1 << 18  # bytes; larger chunks leave the processor's cache and take twice the time


class LineRows:
    """One pass over a file: its blocks parsed to rows."""

    def __init__(self, lines: TypedLines) -> None:
        self.lines, self.expected = lines, lines.features
        self.is_arrow_wanted = False
        self.is_whole = False  # whether the last block was parsed to its end

    def batches(self, text: bytes) -> Iterator[ReadyRows | None]:
        """The rows of a block up to a line of other types. Yields None first if Arrow should read the block instead."""
        self.is_whole, start = False, 0
        while start < len(text):
            if self.is_arrow_wanted:
                yield None
            stop = text.find(b"\n", start + _PIECE) + 1 or len(text)
            piece, start = text[start:stop], stop
            rows = self.lines.rows(piece)
            if rows is None:
                self.is_arrow_wanted = True  # such lines are rarely isolated
                return
            if rows:
                yield ReadyRows(rows, self.expected, len(piece), partial(self._table, piece))
        self.is_whole = True

    def _table(self, piece: bytes) -> pa.Table:
        # The rows were handed out and may have been modified.
        self.is_arrow_wanted = True
        return table_of(list(self.lines.rows(piece) or ()), self.expected)[0]

    def fits(self, batch: Batch | None) -> bool:
        """Whether rows that Arrow read have the expected types, ignoring columns that are all null."""
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
