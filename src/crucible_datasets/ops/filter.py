"""`filter`: the rows for which a function is true. Only their row indices are computed and cached."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from crucible_datasets.executors.base import Executor
from crucible_datasets.fingerprint import Fingerprint
from crucible_datasets.ops import expressions, rows
from crucible_datasets.ops.map import Result, call_facts, called, listed
from crucible_datasets.ops.mapping import running
from crucible_datasets.ops.mapping.calls import Call
from crucible_datasets.ops.mapping.result_cache import ResultCache, identity
from crucible_datasets.ops.mapping.results import KEPT, assembled, result_in, write_result
from crucible_datasets.ops.mapping.shards import FilterShard, errors_in
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.rows import compose, tightest
from crucible_datasets.tables.view import View


def filtered(
    view: View,
    function: Any = None,
    with_indices: bool = False,
    with_rank: bool = False,
    input_columns: str | Sequence[str] | None = None,
    batched: bool = False,
    batch_size: int | None = 1000,
    keep_in_memory: bool = False,
    load_from_cache_file: bool | None = None,
    cache_file_name: str | None = None,
    fn_kwargs: Mapping[str, Any] | None = None,
    num_proc: int | None = None,
    new_fingerprint: str | None = None,
    desc: str | None = None,
    on_error: str = "raise",
    cache_key: str | None = None,
    executor: str | Executor | None = None,
) -> Result:
    """The rows for which a function is true, and the rows that it failed on, if errors are collected."""
    if expressions.is_expression(function):
        return expressions.filtered(**locals()), None
    taken = listed(input_columns)
    view.require(taken)
    if function is None:
        return (replace(view, fingerprint=Fingerprint.fixed(new_fingerprint)) if new_fingerprint else view), None
    call = called(function, batched, with_indices, with_rank, input_columns, fn_kwargs, on_error, rows_as_dicts=True)
    workers = running.workers_for(num_proc, len(view), with_rank, executor)
    if not len(view):
        return view, errors_in("", [], on_error)
    size = batch_size if batched else None
    job = Job(call, size, workers, desc or "Filter", executor)
    facts = call_facts(call, view, size, workers, executor)
    after, lasting = identity(view.fingerprint, "filter", function, facts, new_fingerprint, cache_key)
    result_cache = ResultCache(
        "filter", after, lasting, keep_in_memory, load_from_cache_file is False, view.table.files
    )
    if cache_file_name is not None:
        return _in_named_file(view, cache_file_name, replace(result_cache, is_lasting=False), job)
    return job.result(view, result_cache)


@dataclass(frozen=True)
class Job:
    """One call of `filter`, apart from its input."""

    call: Call
    batch_size: int | None
    workers: int | None
    title: str
    executor: str | Executor | None = None

    def result(self, view: View, result_cache: ResultCache) -> Result:
        """The rows that are kept, computed or from the cache."""
        folder = result_cache.folder(partial(assembled, partial(self._make, view)))
        errors = errors_in(folder, result_in(folder)["errors"], self.call.on_error)
        kept = tightest(np.load(os.path.join(folder, KEPT), mmap_mode="r"))
        kept = kept if isinstance(kept, range) else np.array(kept)
        result_cache.release(folder)
        return replace(view, rows=compose(view.rows, kept), fingerprint=result_cache.fingerprint), errors

    def _make(self, view: View, folder: str) -> None:
        def shard(part: range) -> FilterShard:
            return FilterShard(view, part, self.call, folder, self.batch_size)

        parts = running.run(shard, len(view), self.workers, self.title, self.call, self.executor)
        num_rows = _join([os.path.join(folder, part["kept"]) for part in parts], os.path.join(folder, KEPT))
        errors = [part["errors"] for part in parts if "errors" in part]
        write_result(folder, {"num_rows": num_rows, "errors": errors}, [KEPT, *errors])


def _join(paths: Sequence[str], target: str) -> int:
    """Join files of row numbers into one, in bounded memory; how many numbers there are."""
    every = [np.load(path, mmap_mode="r") for path in paths]
    count = sum(map(len, every))
    with open(target, "wb") as file:
        header = {"descr": np.dtype(np.int64).str, "fortran_order": False, "shape": (count,)}
        np.lib.format.write_array_header_1_0(file, header)
        for numbers in every:
            numbers.tofile(file)
    return count


def _in_named_file(view: View, path: str, result_cache: ResultCache, job: Job) -> Result:
    """The rows whose numbers are in a file that the user names, written now unless it exists and may be reused."""
    if not result_cache.is_fresh and os.path.exists(path):
        return replace(rows.select(view, open_table(path).column(0)), fingerprint=result_cache.fingerprint), None
    result, errors = job.result(replace(view, rows=range(len(view))), result_cache)
    rows.write_indices(result, path, None, False)
    return replace(result, rows=compose(view.rows, result.rows)), errors
