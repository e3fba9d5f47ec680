"""The table of a split → a view of it, or a stream."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.cache import default_cache
from crucible_datasets.features.media import Media
from crucible_datasets.features.types import any_leaf
from crucible_datasets.fingerprint import Fingerprint, Hasher, is_caching_enabled, version_of
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops import columns
from crucible_datasets.ops.blocks import growing
from crucible_datasets.ops.build import view_of
from crucible_datasets.reading.archivenames import chain_of
from crucible_datasets.reading.folders.filling import Filling, paths_in
from crucible_datasets.reading.folders.rows import FolderRows
from crucible_datasets.reading.request import Request
from crucible_datasets.reading.resolved import Resolved
from crucible_datasets.sources.base import Elsewhere
from crucible_datasets.splits import NamedSplit
from crucible_datasets.streams.base import Position
from crucible_datasets.streams.batch import Batch
from crucible_datasets.streams.from_view import ViewShard
from crucible_datasets.streams.source import Shard, Source
from crucible_datasets.streams.stream import Stream
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.rows import shared_out
from crucible_datasets.tables.view import View
from crucible_datasets.tables.writing import TypedWriter, settle

_MANY_ROOTS = 8


@dataclass(eq=False)
class FolderReader:
    """The splits of a media folder."""

    resolved: Resolved
    request: Request
    rows: FolderRows = field(init=False)

    def __post_init__(self) -> None:
        self.rows = FolderRows(self.resolved.files, self.request, self.resolved.download)

    def view(self, split: str, in_memory: bool = False, cache_dir: Any = None, fresh: bool = False) -> View:
        """The rows of a split; remote files are downloaded."""
        table = self.rows.table(split)
        self.rows.require_rows(split, table)
        paths = self._paths(table)
        self.resolved.download([path for path in paths if self._place(path) is not None])
        view = self._view(split, table, paths)
        filling = Filling()
        if not any(map(filling.is_needed, paths)):
            return view
        if in_memory or not is_caching_enabled():
            return replace(view_of(filling.of(table, view.features), view.features), media_roots=view.media_roots)
        return _kept(view, filling, cache_dir, fresh)

    def stream(self, split: str, info: DatasetInfo) -> Stream:
        """The rows of a split as a stream; remote files are read with their row."""
        table = self.rows.table(split)
        if not self.rows.features:  # all metadata files are empty
            self.rows.require_rows(split, table)
        paths = self._paths(table)
        view = self._view(split, table, paths)
        filling = Filling(dict(self._remote(paths)))
        needed = filling if any(map(filling.is_needed, paths)) else None
        source = Source((FolderShard(view, needed),), view.features, media_roots=view.media_roots)
        known = replace(info, features=view.features)
        return Stream(source, view.readable, known, view.split, view.format, media_roots=view.media_roots)

    def _view(self, split: str, table: pa.Table, paths: Sequence[str]) -> View:
        identity = OfFiles(self.request.format.name, table, self._on_disk(paths))
        view = view_of(table, self.rows.features, split=NamedSplit(split), fingerprint=identity)
        return replace(view, media_roots=self._roots(split, paths))

    def _paths(self, table: pa.Table) -> list[str]:
        found = [path for paths in paths_in(table, self.rows.features) for path in paths.to_pylist() if path]
        return list(dict.fromkeys(found))

    def _place(self, path: str) -> Any:
        return next((place for place in self.resolved.places if place.holds(path)), None)

    def _remote(self, paths: Sequence[str]) -> Iterator[tuple[str, Elsewhere]]:
        for path in paths if self.resolved.places else ():
            place = self._place(path)
            there = place.remote_file(path) if place is not None else None
            if there is not None and there.elsewhere is not None:
                yield path, there.elsewhere

    def _on_disk(self, paths: Sequence[str]) -> list[str]:
        """The files of the media: archives instead of their members."""
        return list(dict.fromkeys(chain_of(path)[0] if "::" in path else path for path in paths))

    def _roots(self, split: str, paths: Sequence[str]) -> tuple[str, ...]:
        """The folders of the media, merged to a small number, since they are checked for every file."""
        files = self._on_disk(paths)
        folders = sorted({path.rpartition("/")[0] for path in (*files, *self.rows.contents[split].metadata)})
        tops: list[str] = []
        for folder in folders:
            if folder.startswith("/") and not (tops and f"{folder}/".startswith(f"{tops[-1]}/")):
                tops.append(folder)
        whole = os.path.commonpath(tops) if len(tops) > _MANY_ROOTS else "/"
        links = {os.path.dirname(os.path.realpath(path)) for path in files} if self.resolved.places else set()
        return (*(tops if whole == "/" else [whole]), *sorted(links))


class OfFiles(Fingerprint):
    """The fingerprint of rows that refer to files, computed from the files when needed."""

    __slots__ = ()

    def __init__(self, format: str, table: pa.Table, paths: Sequence[str]) -> None:
        super().__init__(None, content=(format, table, paths))

    def _settle(self, parent: str | None) -> str:
        if self._text is None:
            format, table, paths = self._content
            self._content = (format, table, paths, _facts(paths))
        return super()._settle(parent)


def _facts(paths: Sequence[str]) -> Any:
    """The versions of files, zeros for missing ones."""
    facts = np.zeros((len(paths), 3), np.int64)
    for row, path in enumerate(paths):
        try:
            found = os.stat(path)
        except OSError:
            continue
        facts[row] = version_of(found)
    return facts.tobytes()


def _kept(view: View, filling: Filling, cache_dir: Any, fresh: bool) -> View:
    """The view with the bytes of media in its rows, as Arrow files in the cache."""
    key = Hasher.hash(("filled folder", str(view.fingerprint)))
    cache = default_cache(cache_dir)
    if fresh:
        cache.remove(key)
    folder = cache.made(key, partial(_fill, view=view, filling=filling), {"format": "folder", "files": []})
    paths = tuple(sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".arrow")))
    table = pa.concat_tables([open_table(path, trusted=True) for path in paths])
    made = view_of(table, view.features, files=paths, fingerprint=Fingerprint.fixed(key))
    return replace(made, split=view.split, media_roots=view.media_roots)


def _fill(folder: str, view: View, filling: Filling) -> None:
    writer = TypedWriter(os.path.join(folder, "part-0"))
    for _, table in growing(len(view), lambda rows: filling.of(view.read(rows), view.features)):
        writer.write(table, view.features)
    settle(folder, writer.close(), view.features)


@dataclass(frozen=True, eq=False)
class FolderShard(ViewShard):
    """The rows of a media folder as a shard. A position is the number of the next row."""

    hands_tables = False
    filling: Filling | None = None

    def batches(self, at: Position = None) -> Iterator[tuple[Position, Batch]]:
        filling, features = self.filling, self.view.readable
        if filling is None:
            yield from super().batches(at)
            return
        for start, table in growing(len(self.view), lambda rows: filling.of(self.view.read(rows), features), at or 0):
            yield start, Batch.of_table(table, features)

    def only(self, names: Sequence[str]) -> Shard:
        view = columns.select(self.view, list(names))
        has_media = any_leaf(dict(view.features), (Media,))
        return replace(self, view=view, filling=self.filling if has_media else None)

    def cut(self, parts: int) -> Sequence[Shard]:
        parts = max(1, min(parts, len(self.view)))
        runs = (shared_out(len(self.view), parts, index) for index in range(parts))
        return [replace(self, view=self.view.moved(run, "shard")) for run in runs]
