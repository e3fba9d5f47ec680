"""`map`: a function applied to rows or batches. Columns that it does not change are shared with the input."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError, ColumnLengthError
from crucible_datasets.executors.base import Executor
from crucible_datasets.features import Features
from crucible_datasets.fingerprint import Fingerprint
from crucible_datasets.hashing import Arguments
from crucible_datasets.ops import columns, expressions
from crucible_datasets.ops.mapping import running
from crucible_datasets.ops.mapping.calls import ON_ERROR, Call
from crucible_datasets.ops.mapping.named_files import in_named_file
from crucible_datasets.ops.mapping.outcomes import Merge
from crucible_datasets.ops.mapping.result_cache import ResultCache, identity
from crucible_datasets.ops.mapping.result_schema import completed, rows_kept, schema_of
from crucible_datasets.ops.mapping.results import KEPT, assembled, result_in, write_result
from crucible_datasets.ops.mapping.shards import MapShard, errors_in, runs_of
from crucible_datasets.ops.mapping.typing import Typing
from crucible_datasets.outputs.base import Format
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.rows import compose
from crucible_datasets.tables.table import ArrowTable, identities, side_by_side
from crucible_datasets.tables.view import View

# Arguments of the facade that are accepted for compatibility and have no effect.
UNUSED = ("self", "writer_batch_size", "disable_nullable", "suffix_template")
Result = tuple[View, View | None]


def mapped(
    view: View,
    function: Any = None,
    with_indices: bool = False,
    with_rank: bool = False,
    input_columns: str | Sequence[str] | None = None,
    batched: bool = False,
    batch_size: int | None = 1000,
    drop_last_batch: bool = False,
    remove_columns: str | Sequence[str] | None = None,
    keep_in_memory: bool = False,
    load_from_cache_file: bool | None = None,
    cache_file_name: str | None = None,
    features: Mapping[str, Any] | None = None,
    fn_kwargs: Mapping[str, Any] | None = None,
    num_proc: int | None = None,
    new_fingerprint: str | None = None,
    desc: str | None = None,
    try_original_type: bool | None = True,
    on_mixed_types: str | None = "use_json",
    on_error: str = "raise",
    cache_key: str | None = None,
    executor: str | Executor | None = None,
    with_split: str | None = None,
) -> Result:
    """The rows with a function applied, and the rows that it failed on, if errors are collected."""
    if expressions.is_expression(function):
        return expressions.mapped(**locals()), None
    removed, taken = listed(remove_columns), listed(input_columns)
    view.require([*removed, *taken])
    if function is None:
        return _unchanged(view, removed, features, new_fingerprint), None
    call = called(function, batched, with_indices, with_rank, input_columns, fn_kwargs, on_error, split=with_split)
    workers = running.workers_for(num_proc, len(view), with_rank, executor)
    if not len(view):
        return _unchanged(view, removed, None, new_fingerprint), errors_in("", [], on_error)
    wanted = Features(features) if features is not None else None
    job = Job(
        call,
        Merge(Typing(dict(view.features), wanted, on_mixed_types, bool(try_original_type)), frozenset(removed)),
        batch_size if batched else None,
        drop_last_batch,
        workers,
        desc or "Map",
        executor,
    )
    after, lasting = identity(view.fingerprint, "map", function, job.facts(view), new_fingerprint, cache_key)
    result_cache = ResultCache("map", after, lasting, keep_in_memory, load_from_cache_file is False, view.table.files)
    if cache_file_name is not None:
        return in_named_file(cache_file_name, replace(result_cache, is_lasting=False), partial(job.result, view))
    return job.result(view, result_cache)


def called(
    function: Any,
    batched: bool,
    with_indices: bool,
    with_rank: bool,
    input_columns: str | Sequence[str] | None,
    fn_kwargs: Mapping[str, Any] | None,
    on_error: str,
    **more: Any,
) -> Call:
    """How to call a function, from the checked arguments."""
    if not callable(function):
        raise TypeError(f"Expected a function, not {type(function).__name__}: {function!r:.80}.")
    if on_error not in ON_ERROR:
        raise ArgumentError("on_error", on_error, f"expected one of {', '.join(ON_ERROR)}.")
    taken = None if input_columns is None else tuple(listed(input_columns))
    return Call(function, batched, with_indices, with_rank, taken, dict(fn_kwargs or {}), on_error, **more)


def listed(names: str | Sequence[str] | None) -> list[str]:
    """One name or several, as a list."""
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _unchanged(view: View, removed: list[str], features: Any, fingerprint: str | None) -> View:
    kept = columns.remove(view, removed) if removed else view
    kept = columns.cast(kept, features) if features is not None else kept
    return replace(kept, fingerprint=Fingerprint.fixed(fingerprint)) if fingerprint else kept


@dataclass(frozen=True)
class Job:
    """One call of `map`, apart from its input."""

    call: Call
    merge: Merge
    batch_size: int | None
    drop_last_batch: bool
    workers: int | None
    title: str
    executor: str | Executor | None = None

    def facts(self, view: View) -> dict[str, Any]:
        """Everything that the result depends on, except the function."""
        wanted = self.merge.typing.wanted
        return {
            **call_facts(self.call, view, self.batch_size, self.workers, self.executor),
            "drop_last_batch": self.drop_last_batch and self.call.batched,
            "removed": sorted(self.merge.removed),
            "features": wanted and wanted.metadata(),
            "on_mixed_types": self.merge.typing.on_mixed_types,
            "keeps_types": self.merge.typing.keeps_types,
        }

    def result(self, view: View, result_cache: ResultCache) -> Result:
        """The result, computed or from the cache."""
        folder = result_cache.folder(partial(assembled, partial(self._make, view)))
        made = _read(view, folder, result_cache)
        errors = errors_in(folder, result_in(folder)["errors"], self.call.on_error)
        result_cache.release(folder)
        return made, errors

    def _make(self, view: View, folder: str) -> None:
        def shard(rows: range) -> MapShard:
            return MapShard(view, rows, self.call, folder, self.batch_size, self.drop_last_batch, merge=self.merge)

        parts = running.run(shard, len(view), self.workers, self.title, self.call, self.executor)
        runs = runs_of(parts)
        errors = [part["errors"] for part in parts if "errors" in part]
        num_rows = sum(run.num_rows for run in runs)
        result: dict[str, Any] = {"num_rows": num_rows, "errors": errors, "columns": None, "kept": None}
        if not all(run.is_silent for run in runs):
            shape = schema_of(view, runs, self.merge, folder)
            result |= {"columns": shape.columns, "shared": shape.shared}
            result["files"] = completed(view, runs, shape, self.merge, folder)
        if (kept := rows_kept(runs, len(view))) is not None:
            result["kept"] = KEPT
            np.save(os.path.join(folder, KEPT), kept)
        files = [*result.get("files", []), *errors, *filter(None, [result["kept"]])]
        write_result(folder, {**result, "removed": sorted(self.merge.removed)}, files)


def call_facts(
    call: Call, view: View, batch_size: int | None, workers: int | None, executor: str | Executor | None
) -> dict[str, Any]:
    """What the result of any call depends on, besides the function."""
    return {
        "batched": call.batched,
        "batch_size": batch_size if call.batched else None,
        "shards": running.shards_that_show(len(view), workers, batch_size, executor) if call.batched else None,
        "with_indices": call.with_indices,
        "with_rank": call.with_rank and (workers or 0),
        "input_columns": call.input_columns,
        "fn_kwargs": Arguments.of(call.function, call.fn_kwargs),
        "on_error": call.on_error,
        "split": call.split,
        "format": (view.format.type, dict(view.format.kwargs)),
    }


def _read(view: View, folder: str, result_cache: ResultCache) -> View:
    facts = result_in(folder)
    if not facts["num_rows"] and facts["columns"] is None:
        kept = columns.remove(view, facts["removed"]) if facts["removed"] else view
        return replace(kept, rows=range(0), fingerprint=result_cache.fingerprint)
    rows = range(len(view)) if facts["kept"] is None else np.load(os.path.join(folder, facts["kept"]))
    if facts["columns"] is None:
        return replace(view, rows=compose(view.rows, rows), fingerprint=result_cache.fingerprint)
    return _assembled(view, rows, facts, folder, result_cache)


def _assembled(view: View, rows: Any, facts: Mapping[str, Any], folder: str, result_cache: ResultCache) -> View:
    shared, names = facts["shared"], facts["columns"]
    parts = tuple((table, compose(own, rows)) for table, own in view.parts(shared))
    features = {name: view.features[name] for name in shared}
    if facts["files"]:
        written, found = _opened([os.path.join(folder, file) for file in facts["files"]], result_cache.in_memory)
        if written.num_rows != facts["num_rows"]:
            raise ColumnLengthError(next(iter(found)), written.num_rows, facts["num_rows"])
        features |= found
        parts = (*parts, (written, range(facts["num_rows"])))
    if not names:
        return replace(columns.select(view, []), fingerprint=result_cache.fingerprint)
    return replace(
        view,
        table=side_by_side(parts, tuple(names)),
        rows=range(facts["num_rows"]),
        features=Features({name: features[name] for name in names}),
        format=shown_after(view.format, view.column_names, names),
        fingerprint=result_cache.fingerprint,
    )


def _opened(files: Sequence[str], in_memory: bool) -> tuple[ArrowTable, Features]:
    tables = [open_table(file, in_memory, trusted=True) for file in files]
    features = Features.from_arrow_schema(tables[0].schema)
    held = ArrowTable.of(pa.concat_tables([table.replace_schema_metadata(None) for table in tables]))
    if in_memory:
        return held, features
    names = tuple(held.table.column_names)
    return ArrowTable(held.table, tuple(files), names, identities(files)), features


def shown_after(format: Format, before: Sequence[str], after: Sequence[str]) -> Format:
    """The format of a result: columns that were hidden stay hidden."""
    if format.columns is None:
        return format
    hidden = [name for name in before if name not in format.columns]
    return replace(format, columns=tuple(name for name in after if name not in hidden))
