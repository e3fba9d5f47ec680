"""Operations that rewrite all rows, block by block: `batch`, `flatten_indices`, `cast`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import index
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError, FeaturesMismatchError
from crucible_datasets.features import Features, Json, List
from crucible_datasets.features.encode import recast
from crucible_datasets.features.storage import one_array
from crucible_datasets.features.types import any_leaf, is_identical
from crucible_datasets.fingerprint import Fingerprint
from crucible_datasets.ops import columns
from crucible_datasets.ops.blocks import blocks
from crucible_datasets.ops.codes import codes_of, key_column
from crucible_datasets.ops.expressions.results import kept
from crucible_datasets.ops.mapping.named_files import in_named_file
from crucible_datasets.ops.mapping.result_cache import ResultCache
from crucible_datasets.ops.mapping.running import bounds, workers_for
from crucible_datasets.tables.rows import as_arrow, is_whole
from crucible_datasets.tables.table import ArrowTable, side_by_side
from crucible_datasets.tables.view import View

_ROWS_AT_ONCE = 1 << 13


def batch(
    view: View,
    batch_size: int | None,
    by_column: str | Sequence[str] | None,
    drop_last_batch: bool,
    num_proc: int | None,
    fingerprint: str | None,
) -> View:
    """Rows of lists: of `batch_size` rows each, or of consecutive rows with equal values."""
    if batch_size is None and by_column is None:
        raise ArgumentError("batch_size", None, "give batch_size or by_column.")
    if not len(view):
        return view
    if by_column is not None:
        bounds_of_lists = _runs(view, [by_column] if isinstance(by_column, str) else list(by_column))
    else:
        batch_size = None if batch_size is None else index(batch_size)
        bounds_of_lists = _sizes(len(view), batch_size, drop_last_batch, workers_for(num_proc, len(view)) or 1)
    facts = {"size": batch_size, "by": by_column, "drop": drop_last_batch, "num_proc": num_proc}
    after = Fingerprint.fixed(fingerprint) if fingerprint else view.fingerprint.derive("batch", **facts)
    features = Features({name: List(kind) for name, kind in view.features.items()})
    found = kept(partial(_lists, view, bounds_of_lists), features, after, view.table.files, False, False)
    return replace(found, info=view.info, split=view.split, format=view.format)


def _sizes(num_rows: int, size: int | None, drop_last: bool, shards: int) -> list[np.ndarray]:
    """For each shard, where its lists begin, and where the last one ends."""
    found = []
    for rows in bounds(num_rows, shards):
        step = size if size and size > 0 else len(rows)
        ends = np.arange(rows.start, rows.stop, step)
        whole = len(rows) % step == 0
        found.append(ends if drop_last and not whole else np.append(ends, rows.stop))
    return found


def _runs(view: View, names: list[str]) -> list[np.ndarray]:
    changes = np.zeros(len(view) - 1, dtype=bool)
    for name in names:
        codes, _ = codes_of(key_column(view, name))
        changes |= np.diff(codes) != 0
    return [np.concatenate([[0], np.flatnonzero(changes) + 1, [len(view)]])]


def _lists(view: View, bounds_of_lists: Sequence[np.ndarray]) -> Iterator[pa.Table]:
    yield _in_lists(view, np.zeros(1, dtype=np.int64))
    for ends in bounds_of_lists:
        at = 0
        while at < len(ends) - 1:
            # As many lists as make a block, but at least one.
            stop = max(int(np.searchsorted(ends, ends[at] + _ROWS_AT_ONCE, side="right")) - 1, at + 1)
            yield _in_lists(view, ends[at : stop + 1])
            at = stop


def _in_lists(view: View, ends: np.ndarray) -> pa.Table:
    table = view.read(range(int(ends[0]), int(ends[-1])))
    offsets = as_arrow(ends - ends[0]).cast(pa.int32())
    return pa.table(
        {
            name: pa.ListArray.from_arrays(offsets, one_array(column))
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )


def flatten(
    view: View,
    keep_in_memory: bool,
    cache_file_name: str | None,
    features: Mapping[str, Any] | None,
    fingerprint: str | None,
) -> View:
    """The same rows copied to a table in their order, without row indices."""
    view = columns.cast(view, features) if features is not None else view
    after = Fingerprint.fixed(fingerprint) if fingerprint else view.fingerprint.derive("flatten_indices")
    if cache_file_name is not None:
        return in_named_file(cache_file_name, ResultCache("flatten", after, False), lambda _: (view, None))[0]
    lies_flat = isinstance(view.table, ArrowTable) and is_whole(view.rows, view.table.num_rows)
    if lies_flat or not view.features:
        return replace(view, fingerprint=after)
    found = kept(partial(blocks, view), view.features, after, view.table.files, keep_in_memory, False)
    return replace(found, info=view.info, split=view.split, format=view.format)


def cast(
    view: View,
    features: Mapping[str, Any],
    keep_in_memory: bool = False,
    load_from_cache_file: bool | None = None,
    cache_file_name: str | None = None,
) -> View:
    """Every column cast to its type in `features`; data on disk is cast in blocks, into the cache."""
    wanted = Features(features)
    if set(wanted) != set(view.features):
        raise FeaturesMismatchError(wanted, view.features, "A cast needs exactly the columns of the dataset")
    changed = Features({name: kind for name, kind in wanted.items() if not is_identical(kind, view.features[name])})
    # Whether text is JSON is decided for the whole column.
    if keep_in_memory or not view.table.files or any(any_leaf(kind, (Json,)) for kind in changed.values()):
        result = columns.cast(view, features)
    else:
        result = _cast_in_blocks(view, wanted, changed, load_from_cache_file is False)
    if cache_file_name is None:
        return result
    result_cache = ResultCache("cast", result.fingerprint, False, keep_in_memory, load_from_cache_file is False)
    return in_named_file(cache_file_name, result_cache, lambda _: (result, None))[0]


def _cast_in_blocks(view: View, wanted: Features, changed: Features, fresh: bool) -> View:
    after = view.fingerprint.derive("cast", features=wanted.metadata())
    if not changed:
        return replace(columns.select(view, list(wanted)), fingerprint=after)
    made = kept(partial(_cast_blocks, view, changed), changed, after, view.table.files, False, fresh)
    stay = [name for name in view.column_names if name not in changed]
    table = side_by_side((*view.parts(stay), (made.table, range(len(view)))), tuple(wanted))
    return replace(view, table=table, rows=range(len(view)), features=wanted, fingerprint=after)


def _cast_blocks(view: View, changed: Features) -> Iterator[pa.Table]:
    only = columns.select(view, list(changed))
    for table in blocks(only):
        yield pa.table({name: recast(table[name], view.features[name], kind, name) for name, kind in changed.items()})
