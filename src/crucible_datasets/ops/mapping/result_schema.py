"""All runs of a map → the columns of the result, with their types and files.

A column that no run wrote is shared with the input. A column that only some runs wrote is added to the others, with the
values of the input or with nulls. Most maps write the same columns in every run, and then nothing is left to do.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import CastError, FeaturesMismatchError
from crucible_datasets.features import Features, Value
from crucible_datasets.features.storage import chunked
from crucible_datasets.features.types import is_identical
from crucible_datasets.ops.mapping.outcomes import Merge
from crucible_datasets.ops.mapping.runs import Run
from crucible_datasets.ops.mapping.typing import cast_exactly, may_become
from crucible_datasets.outputs.arrow import ArrowFormatter
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import Segment, as_features, common_features

_ROWS_AT_ONCE = 1 << 13


@dataclass(frozen=True)
class ResultSchema:
    """The schema of a result: its columns in order, those shared with the input, and the types of the others."""

    columns: list[str]
    shared: list[str]
    written: Features


def schema_of(view: View, runs: Sequence[Run], merge: Merge, folder: str) -> ResultSchema:
    """The schema that results from runs, at least one of which is not silent."""
    loud = [run for run in runs if not run.is_silent]
    kinds = {run.file: _features(folder, run) for run in runs if run.file}
    written = dict.fromkeys(name for run in loud for name in run.columns)
    replaced = any(run.is_replaced for run in loud)
    kept = [] if replaced else [name for name in view.features if any(_keeps(run, name) for run in loud)]
    shared = [name for name in kept if name not in written and all(_keeps(run, name) for run in loud)]
    new = [name for name in written if name not in view.features]
    there = [name for name in view.features if name in written or name in kept]
    whole = [name for run in loud if run.is_replaced for name in run.columns]
    order = list(dict.fromkeys([*whole, *written])) if replaced else [*there, *new]
    features = {name: _type(view, runs, kinds, merge, name, folder) for name in order if name not in shared}
    return ResultSchema(*_as_wanted(order, shared, Features(features), merge.typing.wanted))


def _keeps(run: Run, name: str) -> bool:
    """Whether a run leaves a column of the input as it is."""
    return name not in run.columns and name not in run.gone and not run.is_replaced


def _as_wanted(
    order: list[str], shared: list[str], features: Features, wanted: Features | None
) -> tuple[list[str], list[str], Features]:
    if wanted is None:
        return order, shared, features
    if missing := [name for name in order if name not in wanted]:
        raise FeaturesMismatchError(wanted, order, f"The features lack {', '.join(missing)}")
    return list(wanted), shared, Features({name: kind for name, kind in wanted.items() if name not in shared})


def _features(folder: str, run: Run) -> Features:
    with pa.OSFile(os.path.join(folder, str(run.file))) as source, pa.ipc.open_stream(source) as reader:
        return Features.from_arrow_schema(reader.schema)


def _type(view: View, runs: Sequence[Run], kinds: Mapping[Any, Features], merge: Merge, name: str, folder: str) -> Any:
    """The common type of a column in all runs: the input's type, if all values fit it."""
    original = view.features.get(name)
    holding = [run for run in runs if run.file and name in run.columns]
    segments = [
        Segment(os.path.join(folder, str(run.file)), Features({name: kinds[run.file][name]}), f"map, {run}")
        for run in holding
    ]
    if original is not None and any(run.is_silent or _keeps(run, name) for run in runs):
        segments.append(Segment("", Features({name: original}), "the input of map"))
    found = [segment.features[name] for segment in segments]
    if all(is_identical(kind, found[0]) for kind in found[1:]) and (original is None or found[0] == original):
        return found[0]
    # Tables may have floats in one block for integers in another, because of nulls.
    as_before = not any(run.is_replaced for run in runs) or original in found
    may_stay = merge.typing.keeps_types and original is not None and as_before
    if may_stay and all(may_become(kind, original) for kind in found) and _all_fit(segments, name, original):
        return original
    return common_features(segments, merge.typing.on_mixed_types).get(name, Value("null"))


def _all_fit(segments: Sequence[Segment], name: str, original: Any) -> bool:
    """Whether the input's type gives back the values of all runs."""
    try:
        for segment in segments:
            if segment.path and segment.features[name] != original:
                for batch in open_table(segment.path, trusted=True).select([name]).to_batches():
                    cast_exactly(chunked(batch.column(0)), segment.features[name], original, name)
    except CastError:
        return False
    return True


def completed(view: View, runs: Sequence[Run], shape: ResultSchema, merge: Merge, folder: str) -> list[str]:
    """The files of a result, in order, all with the same columns."""
    # In united types text stays text; text for a Json feature that the caller gave is parsed as JSON.
    on_mixed_types = merge.typing.on_mixed_types if merge.typing.wanted is None else None
    if not shape.written:
        return []
    files: list[str] = []
    schema = shape.written.arrow_schema
    for run in runs:
        if run.file is None or not is_identical(_features(folder, run), shape.written):
            if run.num_rows:
                target = f"completed-{len(files)}.run"
                with pa.ipc.new_stream(os.path.join(folder, target), schema) as writer:
                    _rewrite(writer, view, run, shape.written, folder, on_mixed_types)
                files.append(target)
        else:
            files.append(run.file)
    if not files:
        files.append("nothing.run")
        with pa.ipc.new_stream(os.path.join(folder, files[0]), schema):
            pass
    return files


def _rewrite(writer: Any, view: View, run: Run, final: Features, folder: str, on_mixed_types: str | None) -> None:
    """Rewrite the file of a run that lacks columns or has other types."""
    formatter = ArrowFormatter()
    for table, features in _complete_tables(view, run, final, folder):
        writer.write_table(formatter.batch(as_features(table, features, final, on_mixed_types), final))


def _complete_tables(view: View, run: Run, final: Features, folder: str) -> Any:
    from_input = [name for name in final if name in view.features and (run.is_silent or _keeps(run, name))]
    source = open_table(os.path.join(folder, run.file), trusted=True) if run.file else None
    features = _features(folder, run) if run.file else Features()
    rows = run.rows()
    for start in range(0, run.num_rows, _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, run.num_rows)
        columns: dict[str, Any] = {}
        if source is not None:
            piece = source.slice(start, stop - start)
            columns |= zip(piece.column_names, piece.columns, strict=True)
        if from_input:
            read = view.read(rows[start:stop], from_input)
            columns |= zip(from_input, read.columns, strict=True)
        kinds = Features({**features, **{name: view.features[name] for name in from_input}})
        yield _of_length(columns, stop - start), kinds


def _of_length(columns: Mapping[str, Any], length: int) -> pa.Table:
    # A table without columns has no rows, so this one has a column of nulls.
    return pa.table(dict(columns)) if columns else pa.table({"": pa.nulls(length)})


def rows_kept(runs: Sequence[Run], num_rows: int) -> np.ndarray | None:
    """The input rows that the result shows, or None if it shows all of them or new rows."""
    rows = [run.rows() for run in runs]
    if not all(run.is_aligned for run in runs) or sum(map(len, rows)) == num_rows:
        return None
    return np.concatenate([np.asarray(kept, dtype=np.int64) for kept in rows] or [np.zeros(0, dtype=np.int64)])
