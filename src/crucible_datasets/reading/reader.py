"""Stage 3 of 6: the splits of a resolved dataset, each read on first use."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from crucible_datasets import config
from crucible_datasets.exceptions import CastError, SchemaConflictError
from crucible_datasets.features import Features
from crucible_datasets.forking import cached_property
from crucible_datasets.info import DatasetInfo
from crucible_datasets.ops import columns, combine
from crucible_datasets.reading.background_downloads import BackgroundDownloads
from crucible_datasets.reading.files import DataFile, folders_of
from crucible_datasets.reading.kept_footers import keep_footers
from crucible_datasets.reading.modes import VerificationMode
from crucible_datasets.reading.prepare import loaded, split_view
from crucible_datasets.reading.request import Request
from crucible_datasets.reading.resolved import ANY_FORMAT, Resolved
from crucible_datasets.reading.verify import require_described, require_sizes
from crucible_datasets.records import dataclass
from crucible_datasets.splits import NamedSplit, ReadInstruction, SplitBase, SplitDict, SplitInfo, names_in, pieces_of
from crucible_datasets.tables import writing
from crucible_datasets.tables.view import View

if TYPE_CHECKING:
    from crucible_datasets.reading.folders.views import FolderReader
    from crucible_datasets.streams.stream import Stream

AnySplit = str | SplitBase | ReadInstruction


@dataclass(frozen=True)
class How:
    """How a dataset is read: cache folder, number of processes, checks."""

    cache_dir: str | os.PathLike[str] | None = None
    keep_in_memory: bool | None = None
    num_proc: int | None = None
    fresh: bool = False
    verification: VerificationMode = VerificationMode.BASIC_CHECKS

    def in_memory(self, files: list[DataFile]) -> bool:
        """Whether these files should be loaded into memory."""
        if self.keep_in_memory is not None:
            return self.keep_in_memory
        return 0 < sum(file.size for file in files) <= config.IN_MEMORY_MAX_SIZE


@dataclass(eq=False)
class SplitReader:
    """The splits of one configuration."""

    resolved: Resolved
    features: Features | None = None
    how: How = field(default_factory=How)
    _views: dict[str, View] = field(default_factory=dict, init=False)
    _sizes: dict[str, int] = field(default_factory=dict, init=False)
    _held: set[str] = field(default_factory=set, init=False)  # splits whose rows are kept in memory
    _downloads: dict[str, BackgroundDownloads] = field(default_factory=dict, init=False)

    @property
    def names(self) -> list[str]:
        return list(self.resolved.files)

    @cached_property
    def info(self) -> DatasetInfo:
        """What is known before reading: the card's description, and names."""
        found, stated = self.resolved, self.resolved.info
        return replace(
            stated,
            features=self.features or found.features or stated.features,
            builder_name=found.format.name,
            dataset_name=found.name,
            config_name=found.config_name,
            version=stated.version or "0.0.0",
        )

    @cached_property
    def request(self) -> Request:
        """How to read the files of any split, and which columns and rows."""
        found = self.resolved
        wanted = {name: value for name, value in found.options.items() if name in ANY_FORMAT}
        return Request(
            found.format,
            {name: value for name, value in found.options.items() if name not in ANY_FORMAT},
            {} if found.is_format_given else found.format.by_extension,
            features=self.features or found.features,
            described=found.info.features,
            **wanted,
        )

    def _files(self, name: str) -> list[DataFile]:
        """The files of a split. Remote Parquet is read remotely if only some columns or row groups are needed."""
        request, found = self.request, self.resolved
        if not request.is_downloaded:
            return found.streamed_files(name)
        if found.format.name == "parquet" and (request.columns is not None or request.filters is not None):
            return found.streamed_files(name)
        return found.local_files(name)

    def split(self, name: str, begins: bool = True) -> View:
        """All rows of one split; `begins` if its first rows are needed, whose file then comes first."""
        if name not in self._views:
            described = self.resolved.info.splits
            if self.how.verification is not VerificationMode.NO_CHECKS:
                require_described(described, self.names)
            view = self._read(name, begins) if self._folder is None else self._read_folder(self._folder, name)
            if self._is_whole:
                require_sizes(described, {name: len(view)})
            self._views[name] = view
        return self._views[name]

    def _read(self, name: str, begins: bool) -> View:
        files, how = self._files(name), self.how
        in_memory = how.in_memory(files)
        if (downloads := next((file.pending.all for file in files if file.pending is not None), None)) is not None:
            self._downloads[name] = downloads
            if begins and files[0].pending is not None and not config.is_offline():
                downloads.start_first()
        view = split_view(files, self.request, name, in_memory, how.num_proc, how.cache_dir, how.fresh)
        self._sizes[name] = sum(file.size for file in files)
        if in_memory:
            self._held.add(name)
        return replace(view, media_roots=folders_of(files))

    def _download(self, name: str, paths: Sequence[str]) -> None:
        """Start to download files of a split, if any are missing; an error if there is no network."""
        if name in self._downloads and config.is_offline():
            self.resolved.download(paths)
        elif name in self._downloads:
            self._downloads[name].start(paths)

    def _read_folder(self, folder: FolderReader, name: str) -> View:
        return folder.view(name, bool(self.how.keep_in_memory), self.how.cache_dir, self.how.fresh)

    @cached_property
    def _folder(self) -> FolderReader | None:
        """The reader of a folder of media, which handles all files together; None for other formats."""
        if self.resolved.format.folder is None:
            return None
        from crucible_datasets.reading.folders.views import FolderReader

        return FolderReader(self.resolved, self.request)

    def folder_stream(self, split: str) -> Stream | None:
        """A split of a folder of media as a stream; None for other formats."""
        return None if self._folder is None else self._folder.stream(split, self.info)

    @property
    def _is_whole(self) -> bool:
        """Whether the number of rows should be compared with the card's."""
        wanted = self.request
        checked = self.how.verification is not VerificationMode.NO_CHECKS
        return checked and wanted.filters is None and wanted.on_bad_files == "error"

    @property
    def known(self) -> DatasetInfo:
        """As `info`, with the sizes of the splits read so far."""
        if not self._views:
            return self.info
        read = [(name, self._views[name]) for name in self.names if name in self._views]
        found = [SplitInfo(name, view.table.nbytes, len(view), dataset_name=self.resolved.name) for name, view in read]
        download, stored = sum(self._sizes.values()), sum(split.num_bytes for split in found)
        return replace(
            self.info,
            features=read[0][1].features,
            splits=SplitDict({split.name: split for split in found}, dataset_name=self.resolved.name),
            download_size=download,
            dataset_size=stored,
            size_in_bytes=download + stored,
        )

    def _with_info(self, view: View) -> View:
        return replace(view, info=replace(self.known, features=view.features))

    def rows(self, split: AnySplit) -> View:
        """The rows that a spec such as `train[:10%]+test` names; only the splits in it are read."""
        begun = names_in(split, self.names)
        names = list(begun)
        lengths = {name: len(self.split(name, begins)) for name, begins in begun.items()}
        label = NamedSplit("+".join(names) if str(split) == "all" else str(split))
        if not any(lengths.values()):
            return replace(self._with_info(self.split(names[0])), split=label)
        parts = [self._piece(*piece) for piece in pieces_of(split, lengths)]
        return replace(self._with_info(parts[0] if len(parts) == 1 else combine.concatenate(parts)), split=label)

    def _piece(self, name: str, start: int, stop: int) -> View:
        view = self.split(name)
        if stop - start == len(view):
            return self._whole(name)
        moved = view.moved(range(start, stop), "split")
        narrow = self._narrowed(name, moved) if name in self._downloads and len(moved) else moved
        return loaded(narrow) if name in self._held else narrow

    def _whole(self, name: str) -> View:
        """All rows of a split, whose files are downloaded."""
        self._download(name, self.split(name).table.files)
        if name in self._held:
            self._views[name] = loaded(self._views[name])
        return self._views[name]

    def _narrowed(self, name: str, view: View) -> View:
        """The same rows, as those of the files that they are in; no others are downloaded."""
        from crucible_datasets.tables.parquet import ParquetTable

        if not isinstance(view.table, ParquetTable) or not isinstance(view.rows, range):
            return view
        table, rows = view.table.spanning(view.rows)
        keep_footers(view.table.source.parts)
        self._download(name, table.files)
        return replace(view, table=table, rows=rows)

    def all(self) -> dict[str, View]:
        """Every split, with a common type for each column where there is one."""
        whole = {name: self.split(name) for name in self.names}
        views = agreeing({name: self._whole(name) for name in whole})
        return {name: self._with_info(view) for name, view in views.items()}


def agreeing(views: Mapping[str, View]) -> dict[str, View]:
    """The views with common types, if they have the same columns and a common type exists for each."""
    kinds = [view.features for view in views.values()]
    if all(list(kind.items()) == list(kinds[0].items()) for kind in kinds):
        return dict(views)
    if any(set(kind) != set(kinds[0]) for kind in kinds):
        return dict(views)
    try:
        together = writing.united_all(writing.Segment("", kind, name) for name, kind in zip(views, kinds, strict=True))
        return {name: _as(view, together) for name, view in views.items()}
    except (SchemaConflictError, CastError):
        return dict(views)


def _as(view: View, features: Features) -> View:
    if list(view.features.items()) == list(features.items()):
        return view
    return columns.cast(view, features)
