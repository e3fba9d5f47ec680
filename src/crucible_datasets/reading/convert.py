"""Stage 3 of 6: the files of a split → Arrow with one schema: in memory, or as files in a folder.

Files are read one after another, or distributed over processes. Each column gets the common type of all files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from glob import escape, glob
from itertools import chain
from typing import Any, BinaryIO, TypeVar

import pyarrow as pa

from crucible_datasets import progress
from crucible_datasets.exceptions import (
    ArgumentError,
    CastError,
    ColumnNotFoundError,
    DatasetGenerationCastError,
    FileColumnsError,
    FileFormatError,
    SchemaConflictError,
)
from crucible_datasets.executors.base import Advance, Task, run_all
from crucible_datasets.features import Features
from crucible_datasets.features.types import is_identical
from crucible_datasets.features.unite import agreed_dates
from crucible_datasets.formats.prefetch import ahead
from crucible_datasets.logging import get_logger
from crucible_datasets.reading.files import DataFile, opened
from crucible_datasets.reading.missing_columns import known_columns, looked_at
from crucible_datasets.reading.request import Request
from crucible_datasets.tables.table import ArrowTable
from crucible_datasets.tables.writing import Segment, TypedWriter, as_features, common_features, naming_origin, settle

logger = get_logger(__name__)

Batch = tuple[pa.Table, Features, str]
Made = TypeVar("Made")
_PART = "part-"  # prefix of files that are written before the final types are known


def in_memory(files: Sequence[DataFile], request: Request) -> tuple[pa.Table, Features, list[str]]:
    """All rows as one table in memory, and what is wrong with damaged files."""
    return _tried(lambda wanted: _in_memory(files, wanted), files, request)


def into_folder(
    folder: str, files: Sequence[DataFile], request: Request, num_proc: int | None = None
) -> dict[str, list[str]]:
    """All rows as Arrow files of one schema in an existing folder; what is wrong with damaged files."""
    return {"faults": _tried(lambda wanted: _into_folder(folder, files, wanted, num_proc), files, request)}


def _tried(read: Callable[[Request], Made], files: Sequence[DataFile], request: Request) -> Made:
    """Read with the request; if files differ in columns or in types of text, again with what holds for all of them."""
    try:
        return read(request)
    except ColumnNotFoundError as error:
        if len(files) < 2 or request.known is not None:
            raise
        looks = [partial(looked_at, file, request) for file in files]
        known = known_columns(looks, request.columns, request.filters)
        if error.column not in known:
            raise
        request = replace(request, known=known)
    except (CastError, SchemaConflictError, DatasetGenerationCastError):
        infer = request.format.common_types
        if infer is None or request.final is not None or request.types is not None:
            raise
        request = replace(request, types=infer(_streams(files, request)))
    return _tried(read, files, request)


def _streams(files: Sequence[DataFile], request: Request) -> Iterator[tuple[BinaryIO, dict[str, Any]]]:
    """The readable files, with their options."""
    for file in files:
        with suppress(FileFormatError), opened(file) as stream:
            yield stream, request.all_options(file)


def _in_memory(files: Sequence[DataFile], request: Request) -> tuple[pa.Table, Features, list[str]]:
    faults: list[str] = []
    with _bar(files, request) as bar:
        batches = list(_batches(files, request, bar.update, faults))
    segments = [Segment("", kinds, origin, table.num_rows, table) for table, kinds, origin in batches]
    if (expected := _with_dates_as_text(segments, request)) is not None:
        return _in_memory(files, replace(request, expected=expected))
    features = _agreed(segments, request)
    empty = as_features(pa.table({}), Features(), features)
    united = [empty]
    for table, kinds, origin in batches:
        with naming_origin(origin):
            united.append(as_features(table, kinds, features, _united_as(request)))
    return pa.concat_tables(united), features, faults


def _into_folder(folder: str, files: Sequence[DataFile], request: Request, num_proc: int | None) -> list[str]:
    for pattern in (f"{_PART}*", "data-*-of-*.arrow"):  # from a previous attempt
        for path in glob(os.path.join(escape(folder), pattern)):
            os.remove(path)
    parts = shared_out(files, num_proc or 1)
    tasks = [
        Task(partial(_write, os.path.join(folder, f"{_PART}{number}"), part, request), range(0), _title(part))
        for number, part in enumerate(parts)
    ]
    with _bar(files, request) as bar:
        written, faults = zip(*run_all(tasks, bar.update), strict=True)
    segments = list(chain.from_iterable(written))
    if (expected := _with_dates_as_text(segments, request)) is not None:
        return _into_folder(folder, files, replace(request, expected=expected), num_proc)
    settle(folder, segments, _agreed(segments, request), _united_as(request))
    return list(chain.from_iterable(faults))


def _title(files: Sequence[DataFile]) -> str:
    names = list(dict.fromkeys(file.name for file in (*files[:1], *files[-1:])))
    return f"the reader of {' to '.join(names)}"


def shared_out(files: Sequence[DataFile], parts: int) -> list[list[DataFile]]:
    """At most `parts` runs of consecutive files, of about equal size in bytes."""
    if parts < 1:
        raise ArgumentError("num_proc", parts, "at least one process is needed.")
    share = sum(file.size for file in files) / min(parts, len(files)) if files else 0
    runs: list[list[DataFile]] = [[]]
    taken = 0.0
    for index, file in enumerate(files):
        left = len(files) - index
        if runs[-1] and len(runs) < parts and (taken + file.size / 2 > share * len(runs) or left < parts - len(runs)):
            runs.append([])
        runs[-1].append(file)
        taken += file.size
    return runs


def _write(
    prefix: str, files: Sequence[DataFile], request: Request, _rank: int | None, advance: Advance
) -> tuple[list[Segment], list[str]]:
    writer = TypedWriter(prefix, _on_mixed_types(request))
    faults: list[str] = []
    with closing(ahead(_batches(files, request, advance, faults))) as batches:
        for table, kinds, origin in batches:
            writer.write(table, kinds, origin)
    return writer.close(), faults


def _on_mixed_types(request: Request) -> str | None:
    default = request.format.options().get("on_mixed_types")
    return request.options.get("on_mixed_types", default)


def _united_as(request: Request) -> str | None:
    """How types were united; None if the features were given, since then text for a Json column is parsed as JSON."""
    return "use_json" if request.final is None else None


def _bar(files: Sequence[DataFile], request: Request) -> Any:
    total = sum(file.size for file in files)
    return progress.bar(total=total, unit="B", unit_scale=True, leave=False, desc=f"Reading {request.format.name}")


def _batches(files: Sequence[DataFile], request: Request, advance: Advance, faults: list[str]) -> Iterator[Batch]:
    """The rows of the files, batch by batch; `advance` is called with the number of bytes read.

    What is wrong with a damaged file is an error, or is added to `faults`.
    """
    seen: list[Features] = []
    for file in files:
        done, rows = 0, 0
        try:
            with naming_origin(file.name):
                for table, position in request.tables(file):
                    advance(max(position - done, 0))
                    done = max(position, done)
                    types = Features.from_arrow_schema(table.schema)
                    if table.num_rows and types not in seen:
                        seen.append(types)
                        _require_types_of_all_rows(seen, request)
                    if table.num_columns:  # a table without columns would lose the number of its rows
                        table = ArrowTable.of(table).table
                    if request.final is not None:
                        table, types = _declared(table, types, request.final, rows)
                    rows += len(table)
                    yield table, types, file.name
        except FileFormatError as error:
            if request.raises:
                raise
            faults.append(str(error))
        advance(file.size - done)


def _with_dates_as_text(segments: Sequence[Segment], request: Request) -> Features | None:
    """The types to read all files with again, if what looks like a date in some is other text in others."""
    if not request.format.infers_dates or request.final is not None or request.expected is not None:
        return None
    try:
        expected = agreed_dates([segment.features for segment in segments], _on_mixed_types(request))
    except CastError:
        return None  # the error that follows names both files
    return None if expected is None else Features(expected)


def _declared(table: pa.Table, types: Features, declared: Features, rows_before: int) -> tuple[pa.Table, Features]:
    """The columns of a table that are declared, as the declared types; the others as they are."""
    target = Features({name: declared.get(name, feature) for name, feature in types.items()})
    if is_identical(types, target):
        return table, types
    try:
        return as_features(table, types, target), target
    except CastError as error:
        row = None if error.row is None else error.row + rows_before
        raise CastError(error.column, error.source, error.target, error.reason, row) from error


def _require_types_of_all_rows(files: Sequence[Features], request: Request) -> None:
    """Refuse types of single files where the rows of all have others: integers are floats beside missing values."""
    if request.format.common_types is None or request.types is not None or request.final is not None:
        return
    for name in dict.fromkeys(name for features in files for name in features):
        types = {str(getattr(features.get(name), "dtype", "")) for features in files}
        if "null" in types and types & {"int64", "uint64"}:
            raise CastError(name, "null", "int64", "files are read one by one.")


def _agreed(segments: Sequence[Segment], request: Request) -> Features:
    """The features of the result: the given ones, if they match the files' columns, or the common types of all rows."""
    if request.final is None:
        _require_types_of_all_rows([segment.features for segment in segments if segment.num_rows], request)
        # In a file with a schema, a field that the schema lacks is null; elsewhere objects have the keys they have.
        return common_features(segments, _on_mixed_types(request), "null" if request.format.in_place else "json")
    found = dict.fromkeys(name for segment in segments for name in segment.features)
    lacks_stated = request.needs_stated and request.final.keys() - found.keys()
    if segments and (found.keys() - request.final.keys() or not found.keys() & request.final.keys() or lacks_stated):
        raise FileColumnsError(request.final, found)
    return request.final
