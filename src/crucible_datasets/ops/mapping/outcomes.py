"""`Outcome`: what a block of rows becomes; and how results are merged with the input, for rows and batches alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import is_
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import RowCountError
from crucible_datasets.features.encode import recast
from crucible_datasets.features.media import Media
from crucible_datasets.features.types import any_leaf
from crucible_datasets.ops.mapping.blocks import Block
from crucible_datasets.ops.mapping.change_detection import is_unchanged
from crucible_datasets.ops.mapping.equality import is_same
from crucible_datasets.ops.mapping.typing import TypedColumn, Typing

NOTHING: Mapping[str, Any] = {}


@dataclass
class Outcome:
    """The columns that were added or changed for a block of rows.

    `rows` are the input rows that the columns correspond to, one to one; None if the function returned another number
    of rows. Columns in `gone` are not in the result. A `silent` block changes nothing.
    """

    num_rows: int
    rows: np.ndarray | range | None
    columns: dict[str, TypedColumn] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    is_silent: bool = False
    is_replaced: bool = False  # whether the result has exactly these columns


@dataclass(frozen=True)
class Merge:
    """How results are merged with the input."""

    typing: Typing
    removed: frozenset[str] = frozenset()


class Merged:
    """The part that rows and batches share: which columns of the input are kept, changed or gone."""

    def __init__(self, merge: Merge, block: Block, rows: np.ndarray | range) -> None:
        self.merge, self.block, self.rows = merge, block, rows
        self.places = None if isinstance(rows, range) else (rows - block.rows.start).tolist()
        self.gone: set[str] = set()
        self.columns: dict[str, TypedColumn] = {}

    def values(self, name: str) -> list[Any]:
        """The input values of the rows that did not fail."""
        values = self.block.values(name)
        return values if self.places is None else [values[place] for place in self.places]

    def stored(self, name: str) -> pa.ChunkedArray:
        column = self.block.stored(name)
        return column if self.places is None else column.take(pa.array(self.places))

    def set(self, name: str, values: Any) -> None:
        """Set a column that the function returned, unless it equals the input."""
        kept = name in self.block.names and name not in self.merge.removed and self.block.source.merges
        if kept and self.is_as_before(name, values):
            return
        column, feature = self.merge.typing.column(values, name)
        if kept and feature == self.merge.typing.originals[name] and is_same(column, self.stored(name)):
            return
        self.columns[name] = column, feature

    def is_as_before(self, name: str, values: Any) -> bool:
        """Whether values are identical to those handed out, and unchanged."""
        block = self.block
        if name not in block.decoded or not isinstance(values, list) or self.is_media(name):
            return False
        if len(values) != len(self.rows) or not block.source.is_python:
            return False
        if name not in block.traces:
            return all(map(is_, values, self.values(name)))
        return self.places is None and is_unchanged(block.traces[name], values)

    def is_media(self, name: str) -> bool:
        """Whether a column holds media, which are too expensive to encode again just to detect changes."""
        return any_leaf(self.merge.typing.originals.get(name), (Media,))

    def finished(self, num_rows: int) -> Outcome:
        """The outcome, with columns that were not returned cast to the features that the user gave."""
        merge, aligned = self.merge, num_rows == len(self.rows)
        out = self.columns.keys() | self.gone | merge.removed
        untouched = [name for name in self.block.names if name not in out]
        if untouched and not aligned:
            raise RowCountError(next(iter(self.columns), untouched[0]), num_rows, len(self.rows), untouched)
        for name in untouched:
            wanted = (merge.typing.wanted or NOTHING).get(name, merge.typing.originals[name])
            if wanted != merge.typing.originals[name]:
                self.columns[name] = recast(self.stored(name), merge.typing.originals[name], wanted, name), wanted
        gone = frozenset(self.gone | merge.removed) - self.columns.keys()
        return Outcome(num_rows, self.rows if aligned else None, self.columns, gone)
