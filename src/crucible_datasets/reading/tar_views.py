"""Stage 3 of 6: plain tar archives of samples → a view that reads them in place, by an index of their members."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from crucible_datasets import progress
from crucible_datasets.cache import Cache, default_cache
from crucible_datasets.exceptions import ArgumentError, FileColumnsError, FileFormatError
from crucible_datasets.executors.base import Advance, Task, run_all
from crucible_datasets.features import Features
from crucible_datasets.fingerprint import Fingerprint, is_caching_enabled
from crucible_datasets.formats.faults import pass_over
from crucible_datasets.formats.webdataset.index import Index
from crucible_datasets.formats.webdataset.members import Wanted
from crucible_datasets.formats.webdataset.rows import wanted_of
from crucible_datasets.reading.files import DataFile, is_compressed, opened
from crucible_datasets.reading.request import Request
from crucible_datasets.tables import tarindex
from crucible_datasets.tables.rowgroups import Identity, identity_of
from crucible_datasets.tables.stack import stacked
from crucible_datasets.tables.tar import TarTable, features_of
from crucible_datasets.tables.tarfiles import Archive, LocalArchive, RemoteArchive
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import Segment, united_all

# Options that do not affect the index.
_HARMLESS = {"scattered": "error", "on_mixed_types": tarindex.MIXED_TYPES}


def can_be_indexed(files: Sequence[DataFile], request: Request) -> bool:
    """Whether these are plain archives, read with options that an index supports."""
    if request.format.name != "webdataset" or not files:
        return False
    if any(value != _HARMLESS.get(name, value) for name, value in request.options.items()):
        return False
    return all(file.inner is None and not is_compressed(file) for file in files)


def view_of_tars(
    files: Sequence[DataFile],
    request: Request,
    key: str | None,
    num_proc: int | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    fresh: bool = False,
) -> View:
    """All rows and columns of the archives, read on access."""
    identities = [file.identity if file.elsewhere is not None else identity_of(file.path) for file in files]
    indices = _indices(files, request, default_cache(cache_dir), num_proc, fresh)
    archives = list(zip(files, indices, strict=True))
    # A damaged archive without good rows says nothing of the columns, nor of their order.
    telling = [pair for pair in archives if pair[1].num_rows or pair[1].is_complete] or archives
    kinds = [Segment("", features_of(index), file.name) for file, index in telling]
    features = _stated(united_all(kinds, tarindex.MIXED_TYPES), request)
    facts = zip(files, identities, indices, strict=True)
    tables = [TarTable.of(_archive(file, identity, index), index, features) for file, identity, index in facts]
    filled = [table for table in tables if table.num_rows]
    table = stacked(filled) if len(filled) > 1 else (filled or tables)[0]
    fingerprint = Fingerprint.fixed(key) if key else Fingerprint(None, content=("tar", [*map(str, identities)]))
    return View(table, range(table.num_rows), features, fingerprint)


def _stated(found: Features, request: Request) -> Features:
    """The requested features; raises if they are not of these columns."""
    stated = request.features or request.described
    if stated is None:
        return found
    if set(stated) != set(found):
        raise FileColumnsError(stated, found)
    return Features(stated)


def _archive(file: DataFile, identity: Identity, index: Index) -> Archive:
    if file.elsewhere is not None:
        return RemoteArchive(file.elsewhere.open, file.name, file.elsewhere.require_same)
    return LocalArchive(file.path, identity, file.name, index.end)


def _indices(
    files: Sequence[DataFile], request: Request, cache: Cache, num_proc: int | None, fresh: bool
) -> list[Index]:
    """The index of each archive: from the cache, or built now by up to `num_proc` processes."""
    if not is_caching_enabled():
        return [_usable(_looked_at(file, request), request) for file in files]
    # Contents are looked at when rows are read. If damage is no error, it must be known before.
    keys = [tarindex.key_of(file.identity, is_checked=not request.raises) for file in files]
    for key in keys if fresh else ():
        cache.remove(key)
    new = [(file, key) for file, key in zip(files, keys, strict=True) if cache.find(key) is None]
    tasks: list[Task[dict[str, tuple[Index, FileFormatError | None]]]] = [
        Task(partial(_keep, several, cache.root, request), range(0)) for several in _shares(new, num_proc or 1)
    ]
    kept: dict[str, tuple[Index, FileFormatError | None]] = {}
    with progress.bar(total=sum(file.size for file, _ in new), unit="B", unit_scale=True, desc="Indexing") as bar:
        for several in run_all(tasks, bar.update):
            kept |= several
    return [_usable(kept[key], request) if key in kept else tarindex.stored_in(_folder(cache, key)) for key in keys]


def _shares(files: Sequence[tuple[DataFile, str]], count: int) -> list[Sequence[tuple[DataFile, str]]]:
    if count < 1:
        raise ArgumentError("num_proc", count, "at least one process is needed.")
    return [files[start::count] for start in range(min(count, len(files)))]


def _folder(cache: Cache, key: str) -> str:
    folder = cache.find(key)
    if folder is None:
        raise FileFormatError(cache.root, "the index of an archive was removed from the cache while it was made.")
    return folder


def _keep(
    files: Sequence[tuple[DataFile, str]], root: str, request: Request, _rank: int | None, advance: Advance
) -> dict[str, tuple[Index, FileFormatError | None]]:
    """Put indices into the cache. Those of damaged archives are not cached, but returned with what is wrong."""
    cache, damaged = Cache(root), dict[str, tuple[Index, FileFormatError | None]]()
    for file, key in files:
        index, fault = found = _indexed(file, None, not request.raises)
        if fault is None:
            cache.made(key, partial(tarindex.store, index=index), {"format": "webdataset", "files": [file.name]})
        else:
            damaged[key] = found if request.columns is None else _looked_at(file, request)
            _usable(damaged[key], request.quiet)
        advance(file.size)
    return damaged


def _usable(found: tuple[Index, FileFormatError | None], request: Request) -> Index:
    """The index, unless the archive is damaged and that is an error."""
    index, fault = found
    if fault is not None:
        pass_over(fault, request.on_bad_files)
    return index


def _looked_at(file: DataFile, request: Request) -> tuple[Index, FileFormatError | None]:
    """The index of the samples whose requested columns are good."""
    return _indexed(file, wanted_of(request.columns, request.filters, request.features), not request.raises)


def _indexed(file: DataFile, wanted: Wanted | None, is_checked: bool) -> tuple[Index, FileFormatError | None]:
    with opened(file, compression=None) as stream:
        found = tarindex.index_of(stream, file.name, wanted, is_checked)
    if file.elsewhere is not None:
        file.elsewhere.require_same()
    return found
