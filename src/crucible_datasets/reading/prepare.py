"""Stage 3 of 6: the files of one split → a view.

Parquet, Arrow and plain tar archives are read in place. Other formats are converted to Arrow once, in a cache folder
whose key covers everything the result depends on, so a changed file has another key. In memory, or with caching
disabled, nothing is written.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import ColumnNotFoundError, FileColumnsError
from crucible_datasets.features import Features
from crucible_datasets.features.types import is_identical
from crucible_datasets.fingerprint import Fingerprint, is_caching_enabled
from crucible_datasets.formats.arrow import features_in
from crucible_datasets.formats.base import columns_of, fitting
from crucible_datasets.formats.faults import warn_of
from crucible_datasets.formats.filters import expression_of, identity_of, is_written_out
from crucible_datasets.ops import build, columns
from crucible_datasets.reading import convert
from crucible_datasets.reading.files import DataFile
from crucible_datasets.reading.kept_footers import parquet_part
from crucible_datasets.reading.missing_columns import missing_column
from crucible_datasets.reading.request import Request
from crucible_datasets.reading.undamaged import good_rows
from crucible_datasets.splits import NamedSplit
from crucible_datasets.tables import files as arrow_files
from crucible_datasets.tables import writing
from crucible_datasets.tables.table import ArrowTable
from crucible_datasets.tables.view import View

# Part of every key: incremented when the conversion of the same files changes.
CONVERSION = 4


def split_view(
    files: Sequence[DataFile],
    request: Request,
    split: str | None = None,
    keep_in_memory: bool = False,
    num_proc: int | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    fresh: bool = False,
) -> View:
    """The requested rows and columns of the files; of files that are read in place, `loaded` keeps rows in memory."""
    view = _in_place(files, request, cache_dir, fresh) if _lie_ready(files, request) else None
    if view is None and request.format.name == "webdataset":
        view = _of_tars(files, request, num_proc, cache_dir, fresh)
    if view is None:
        view = _converted(files, request, keep_in_memory, num_proc, cache_dir, fresh)
    return replace(view, split=None if split is None else NamedSplit(split))


def key_of(files: Sequence[DataFile], request: Request) -> str | None:
    """The cache key of the result; None if an option cannot be hashed."""
    from crucible_datasets.hashing import Hasher, UnhashableError

    try:
        return Hasher.hash(_facts(files, request))
    except UnhashableError:
        return None


def _facts(files: Sequence[DataFile], request: Request) -> tuple[Any, ...]:
    """What the result depends on."""
    return (
        CONVERSION,
        request.format.name,
        sorted((name, value) for name, value in request.options.items() if name != "download"),
        sorted(request.implied.items()),
        [file.identity for file in files],
        request.features,
        request.described,
        request.columns,
        identity_of(request.filters),
        request.on_bad_files,
    )


def _lie_ready(files: Sequence[DataFile], request: Request) -> bool:
    extensions = request.format.extensions
    return request.format.in_place and all(
        file.inner is None and _is_read_there(file, request) and file.path.endswith(extensions) for file in files
    )


def _is_read_there(file: DataFile, request: Request) -> bool:
    return file.elsewhere is None or file.pending is not None or not request.is_downloaded


def _converted(
    files: Sequence[DataFile],
    request: Request,
    keep_in_memory: bool,
    num_proc: int | None,
    cache_dir: str | os.PathLike[str] | None,
    fresh: bool,
) -> View:
    key = key_of(files, request)
    if keep_in_memory or key is None or not is_caching_enabled():
        table, features, faults = convert.in_memory(files, request)
        warn_of(faults, request.on_bad_files)
        return build.view_of(table, features)
    from crucible_datasets.cache import default_cache

    cache = default_cache(cache_dir)
    if fresh:
        cache.remove(key)
    make = partial(convert.into_folder, files=files, request=request, num_proc=num_proc)
    facts = {"format": request.format.name, "files": [file.name for file in files]}
    folder = cache.made(key, make, facts)
    warn_of(cache.facts(folder).get("faults", ()), request.on_bad_files)
    paths = tuple(sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".arrow")))
    tables = [arrow_files.open_table(path, trusted=True) for path in paths]
    features = Features.from_arrow_schema(tables[0].schema)
    return build.view_of(pa.concat_tables(tables), features, files=paths, fingerprint=Fingerprint.fixed(key))


def _in_place(
    files: Sequence[DataFile], request: Request, cache_dir: str | os.PathLike[str] | None, fresh: bool
) -> View | None:
    """A view of the files in place, or None if they must be converted first."""
    fingerprint = Fingerprint.fixed("files").derive("read", facts=_facts(files, request))
    faults: list[str] = []
    if not request.raises:
        key = key_of(files, request)
        if key is None or not is_caching_enabled():
            return None
        files, faults = good_rows(files, request, cache_dir, f"good-rows-{key}", fresh)
    view: View | None
    if not files:
        view = build.view_of(pa.table({}), Features(), fingerprint=fingerprint)
    elif request.format.name == "parquet":
        view = _of_parquet(files, request, fingerprint)
    else:
        view = _of_arrow(tuple(file.path for file in files), request, fingerprint)
    if view is not None:  # if not, converting the files warns of them
        warn_of(faults, request.on_bad_files)
    return view


def _of_parquet(files: Sequence[DataFile], request: Request, fingerprint: Fingerprint) -> View:
    from crucible_datasets.tables.parquet import ParquetTable

    paths = tuple(file.path for file in files)
    late = {file.path: partial(parquet_part, file) for file in files if file.elsewhere is not None}
    table = ParquetTable.open(paths, request.columns, request.final, late)
    if request.filters is not None and not is_written_out(request.filters):
        _require_columns(table.source.features, request.filters)
    rows = range(table.num_rows) if request.filters is None else table.matching_rows(request.filters)
    return View(table, rows, table.features, fingerprint)


def _require_columns(features: Features, filters: Any) -> None:
    if (missing := missing_column(features, None, filters)) is not None:
        raise ColumnNotFoundError(missing, features)


def _of_arrow(paths: tuple[str, ...], request: Request, fingerprint: Fingerprint) -> View | None:
    tables = [arrow_files.open_table(path) for path in paths]
    kinds = [features_in(path, table.schema) for path, table in zip(paths, tables, strict=True)]
    segments = [writing.Segment(path, kind, path) for path, kind in zip(paths, kinds, strict=True)]
    together = writing.united_all(segments, keys="null")
    if not all(is_identical(dict(kind), dict(together)) for kind in kinds):
        return None
    stated = request.features or request.described
    if stated is not None and set(stated) != set(together):
        raise FileColumnsError(stated, together)
    view = build.view_of(pa.concat_tables(ArrowTable.of(table).table for table in tables), together, files=paths)
    view = replace(view, fingerprint=fingerprint)
    view = _filtered(view, request.filters)
    if stated is not None and list(stated.items()) != list(together.items()):
        view = columns.select(columns.cast(view, stated), list(stated))
    return view if request.columns is None else columns.select(view, request.columns)


def _of_tars(
    files: Sequence[DataFile],
    request: Request,
    num_proc: int | None,
    cache_dir: str | os.PathLike[str] | None,
    fresh: bool,
) -> View | None:
    from crucible_datasets.reading.tar_views import can_be_indexed, view_of_tars

    if not can_be_indexed(files, request):
        return None
    view = view_of_tars(files, request, key_of(files, request), num_proc, cache_dir, fresh)
    if not len(view) and not request.raises:
        return columns.select(view, list(request.only(view.features)))  # the columns of damaged files are unknown
    view = _filtered(view, request.filters)
    return view if request.columns is None else columns.select(view, request.columns)


def _filtered(view: View, filters: Any) -> View:
    expression = expression_of(filters)
    if expression is None:
        return view
    looked_at = columns_of(expression, view.column_names) or view.column_names[:1]
    numbered = view.read(columns=looked_at).append_column("", pa.array(np.arange(len(view))))
    with fitting(expression, view.column_names):
        return view.moved(numbered.filter(expression).column("").to_numpy(), "filter")


def loaded(view: View) -> View:
    """The same rows, in memory."""
    held = build.view_of(view.read(), view.features, fingerprint=view.fingerprint)
    return replace(view, table=held.table, rows=held.rows)
