"""The results of a function for a block → the columns that it added or changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from crucible_datasets.ops.mapping.batchwise import Batch
from crucible_datasets.ops.mapping.blocks import Block
from crucible_datasets.ops.mapping.calls import Returned
from crucible_datasets.ops.mapping.equality import is_same
from crucible_datasets.ops.mapping.outcomes import Merge, Outcome
from crucible_datasets.ops.mapping.rowwise import Rows
from crucible_datasets.ops.mapping.tables import as_table, is_frame_type
from crucible_datasets.ops.mapping.typing import TypedColumn
from crucible_datasets.tables.writing import as_feature


def outcome_of(merge: Merge, block: Block, returned: Returned, batched: bool) -> Outcome:
    """The outcome of a block."""
    rows = _rows_left(block, returned)
    if not returned.values:
        return Outcome(0, rows, is_silent=True)
    kinds = set(map(type, returned.values))
    if kinds != {dict} and any(map(is_frame_type, kinds)):
        return _of_frames(merge, block, rows, returned.values, batched)
    if kinds == {type(None)}:
        return Outcome(len(rows), rows, is_silent=True)
    made = Batch(merge, block, rows) if batched else Rows(merge, block, rows)
    if not block.source.merges:
        made.gone.update(block.names)
    outcome = made.outcome(returned)
    outcome.is_replaced = not block.source.merges
    return outcome


def _of_frames(merge: Merge, block: Block, rows: np.ndarray | range, values: list[Any], batched: bool) -> Outcome:
    """The outcome of returned tables: the result has exactly their columns."""
    table, features = as_table(values, batched, merge.typing)
    originals, columns = merge.typing.originals, {}
    for name, feature in features.items():
        column = table[name]
        if merge.typing.wanted is not None:
            before, feature = feature, merge.typing.wanted.get(name, feature)
            column = as_feature(column, before, feature, name, is_united=True)
        elif name in originals and block.stored_type(name) == column.type:
            feature = originals[name]
        columns[name] = column, feature
    if len(table) != len(rows):
        return Outcome(len(table), None, columns, is_replaced=True)
    if not _may_share(merge, block, columns) or not isinstance(rows, range):
        return Outcome(len(table), rows, columns, is_replaced=True)
    changed = {name: made for name, made in columns.items() if not _is_as_before(block, name, made)}
    return Outcome(len(table), rows, changed, frozenset(block.names) - columns.keys())


def _may_share(merge: Merge, block: Block, columns: dict[str, TypedColumn]) -> bool:
    """Whether a table is the input with columns removed, changed or appended, but no type changed."""
    originals = merge.typing.originals
    there = [name for name in block.names if name in columns]
    in_place = list(columns)[: len(there)] == there
    return in_place and not merge.removed and all(columns[name][1] == originals[name] for name in there)


def _is_as_before(block: Block, name: str, made: TypedColumn) -> bool:
    return name in block.names and is_same(made[0], block.stored(name))


def _rows_left(block: Block, returned: Returned) -> np.ndarray | range:
    if not returned.failed:
        return block.rows
    kept = np.ones(len(block), dtype=bool)
    for failure in returned.failed:
        kept[failure.rows.start - block.rows.start : failure.rows.stop - block.rows.start] = False
    return np.flatnonzero(kept) + block.rows.start
