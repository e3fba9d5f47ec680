"""Operations on rows: select, shuffle, sort, shard. They change only the row indices of a view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.atomic import atomic_file
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError
from crucible_datasets.features import Json
from crucible_datasets.tables.rows import as_array, chosen, is_whole, shared_out, tightest
from crucible_datasets.tables.table import ArrowTable, Table
from crucible_datasets.tables.view import View

_NULL_PLACEMENTS = {"at_start": "at_start", "first": "at_start", "at_end": "at_end", "last": "at_end"}


def select(view: View, indices: Iterable[Any], fingerprint: str | None = None) -> View:
    """The rows at `indices`, in that order."""
    return view.moved(chosen(indices, len(view)), "select", fingerprint)


def take(view: View, n: int) -> View:
    """The first `n` rows."""
    return view.moved(range(min(max(n, 0), len(view))), "select")


def skip(view: View, n: int) -> View:
    """All rows but the first `n`."""
    return view.moved(range(min(max(n, 0), len(view)), len(view)), "select")


def repeat(view: View, num_times: int) -> View:
    """All rows, `num_times` times."""
    if num_times is None:
        raise ArgumentError(
            "num_times", num_times, "a dataset in memory can only be repeated a finite number of times."
        )
    return view.moved(tightest(np.tile(np.arange(len(view), dtype=np.int64), max(num_times, 0))), "repeat")


def shard(view: View, num_shards: int, index: int, contiguous: bool = True) -> View:
    """One of `num_shards` parts: contiguous rows, or every `num_shards`-th row."""
    if not 0 <= index < num_shards:
        raise ArgumentError("index", index, f"expected 0 to {num_shards - 1}, for num_shards={num_shards}.")
    return view.moved(chosen(shared_out(len(view), num_shards, index, contiguous), len(view)), "shard")


def random_generator(seed: int | None, generator: np.random.Generator | None) -> np.random.Generator:
    """The generator a call draws from: the given one, or one made from the seed."""
    if seed is not None and generator is not None:
        raise ArgumentError("seed", seed, "give either seed or generator, not both.")
    if generator is not None and not isinstance(generator, np.random.Generator):
        raise ArgumentError("generator", generator, "expected a numpy.random.Generator.")
    if generator is not None:
        return generator
    if seed is None:
        # `np.random.seed(k)` must make later calls repeatable, and each call must differ from the last.
        state: Any = np.random.get_state()
        words, position = state[1], state[2]
        seed = int(words[position] if position < len(words) else words[0])
        np.random.random()
    return np.random.default_rng(seed)


def shuffle(
    view: View, seed: int | None, generator: np.random.Generator | None, fingerprint: str | None = None
) -> View:
    """The rows in random order, determined by the seed."""
    permutation = random_generator(seed, generator).permutation(len(view))
    return view.moved(tightest(permutation), "shuffle", fingerprint)


def sort(
    view: View,
    column_names: str | Sequence[str],
    reverse: bool | Sequence[bool] = False,
    null_placement: str = "at_end",
    fingerprint: str | None = None,
) -> View:
    """The rows in the order of one or several columns."""
    names = [column_names] if isinstance(column_names, str) else list(column_names)
    directions = [reverse] * len(names) if isinstance(reverse, bool) else list(reverse)
    if len(directions) != len(names):
        raise ArgumentError("reverse", reverse, f"expected one bool, or one for each of {len(names)} columns.")
    view.require(names)
    if null_placement not in _NULL_PLACEMENTS:
        raise ArgumentError("null_placement", null_placement, "expected 'at_start' or 'at_end'.")
    orders: dict[str, str] = {}
    for name, down in zip(names, directions, strict=True):
        orders.setdefault(name, "descending" if down else "ascending")
    for name in orders:
        if isinstance(view.features[name], Json):  # stored as texts, where 10 is before 9
            raise _without_order(name, view)
    try:
        indices = _sorted(view.read(columns=list(orders)), orders.values(), _NULL_PLACEMENTS[null_placement])
    except (pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise _without_order(", ".join(orders), view) from error
    return view.moved(tightest(as_integers(indices)), "sort", fingerprint)


def _without_order(names: str, view: View) -> ArgumentTypeError:
    reason = f"values of {view.features.get(names, 'these types')} have no order: sort by numbers, texts or times."
    return ArgumentTypeError("column_names", names, reason)


def _sorted(table: pa.Table, orders: Iterable[str], nulls: str) -> pa.UInt64Array:
    # Arrow takes names such as "." for paths, and does not sort half floats.
    keys = {str(place): _sortable(column) for place, column in enumerate(table.columns)}
    table, named = pa.table(keys), zip(keys, orders, strict=True)
    # pyarrow 25 moved the placement of nulls into the keys.
    if int(pa.__version__.split(".")[0]) >= 25:
        return pc.sort_indices(table, sort_keys=[(name, order, nulls) for name, order in named])
    return pc.sort_indices(table, sort_keys=list(named), null_placement=nulls)


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column


def as_integers(indices: pa.UInt64Array) -> npt.NDArray[np.int64]:
    """Arrow's unsigned indices as the signed ones that views keep."""
    return indices.to_numpy().astype(np.int64)


def write_indices(view: View, path: str | None, batch_size: int | None, keep_in_memory: bool) -> None:
    """Write the row indices of a view to an Arrow file, for other programs to read."""
    if path is None:
        return
    if keep_in_memory:
        raise ArgumentError("indices_cache_file_name", path, "it contradicts keep_in_memory=True.")
    table = pa.table({"indices": pa.array(as_array(view.rows), pa.uint64())})
    with atomic_file(path) as temporary, pa.ipc.new_stream(temporary, table.schema) as writer:
        writer.write_table(table, max_chunksize=batch_size)


def indices_table(view: View) -> pa.Table | None:
    """The row indices as a table with one column, as Hugging Face keeps them; None if they are contiguous."""
    if isinstance(view.rows, range):
        return None
    return pa.table({"indices": pa.array(view.rows, pa.uint64())})


def data_under(view: View) -> Table:
    """The table that `indices_table` refers to: a slice of the whole if the rows are contiguous."""
    if not isinstance(view.rows, range) or is_whole(view.rows, view.table.num_rows):
        return view.table
    return ArrowTable(view.table.read(view.rows), view.table.files)
