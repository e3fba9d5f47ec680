"""The files of a media folder, its labels and its metadata → the table of a split.

The columns are the same for all splits:

- if any split has metadata files, the rows are those of the metadata, without labels;
- otherwise a file is a row, and folders are labels if there are several and all files have the same depth, or if
  labels are requested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import MediaFolderError
from crucible_datasets.features import ClassLabel, Features, Value
from crucible_datasets.forking import cached_property
from crucible_datasets.formats.base import expression_of, narrowed
from crucible_datasets.formats.folders import METADATA, MediaFolder
from crucible_datasets.reading.archivenames import has_archive_name
from crucible_datasets.reading.discover import Splits
from crucible_datasets.reading.folders.contents import Contents, contents_of
from crucible_datasets.reading.folders.metadata import tables_of
from crucible_datasets.reading.request import Request
from crucible_datasets.tables.writing import as_features

LABEL = "label"


@dataclass(frozen=True, eq=False)
class FolderRows:
    """The rows of all splits of a media folder. `download` fetches files whose content is needed."""

    files: Splits
    request: Request
    download: Callable[[list[str]], None] = lambda paths: None

    @property
    def folder(self) -> MediaFolder:
        found: MediaFolder = self.request.format.folder
        return found

    @cached_property
    def metadata_names(self) -> tuple[str, ...]:
        """The names of metadata files."""
        stated = self.request.options.get("metadata_filenames")
        return METADATA if stated is None else (stated,) if isinstance(stated, str) else tuple(stated)

    @cached_property
    def contents(self) -> dict[str, Contents]:
        """The files of each split."""
        names = self.metadata_names
        described = [
            path
            for paths in self.files.values()
            for path in paths
            if path.rpartition("/")[2] in names or has_archive_name(path)
        ]
        self.download(described)
        return {
            split: contents_of(paths, self.folder, names, self.request.on_bad_files)
            for split, paths in self.files.items()
        }

    @property
    def has_metadata(self) -> bool:
        """Whether there are metadata files, used or not."""
        return any(found.metadata for found in self.contents.values())

    @cached_property
    def labels(self) -> list[str] | None:
        """The names of the labels, if rows have labels."""
        drop = self.request.options.get("drop_labels")
        if drop or self.has_metadata:
            return None
        found = sorted({label for one in self.contents.values() for label in one.labels})
        depths = {depth for one in self.contents.values() for depth in one.depths}
        return found if drop is False or (len(found) > 1 and len(depths) == 1) else None

    @cached_property
    def _metadata(self) -> tuple[dict[str, pa.Table], Features] | None:
        if not self.has_metadata or self.request.options.get("drop_metadata"):
            return None
        return tables_of(self.contents, self.folder, self.request.filters, self.request.on_bad_files)

    @cached_property
    def features(self) -> Features:
        """The columns of all splits."""
        stated = self.request.features
        if stated is None:
            stated = self._own_features() if self._metadata is None else self._metadata[1]
        columns = self.request.columns
        return stated if columns is None else Features({name: stated[name] for name in columns if name in stated})

    def _own_features(self) -> Features:
        kinds = {self.folder.column: self.folder.feature()}
        return Features(kinds if self.labels is None else {**kinds, LABEL: ClassLabel(names=self.labels)})

    def table(self, split: str) -> pa.Table:
        """The rows of a split, in storage types."""
        table, found = self._of_files(self.contents[split]) if self._metadata is None else self._of_metadata(split)
        return as_features(narrowed(table, self.request.columns, None), found, self.features)

    def _of_metadata(self, split: str) -> tuple[pa.Table, Features]:
        assert self._metadata is not None
        tables, features = self._metadata
        return tables[split], features

    def _of_files(self, contents: Contents) -> tuple[pa.Table, Features]:
        feature = self.folder.feature()
        columns = {self.folder.column: feature.cast_storage(pa.array(contents.media, pa.string()))}
        features: dict[str, Any] = {self.folder.column: feature}
        if self.labels is not None:
            columns[LABEL], features[LABEL] = pa.array(contents.labels, pa.string()), Value("string")
        return narrowed(pa.table(columns), None, expression_of(self.request.filters)), Features(features)

    def require_rows(self, split: str, table: pa.Table) -> None:
        """Raise for a split without rows, unless filters excluded them."""
        if table.num_rows or self.request.filters is not None:
            return
        place, found = f"split {split!r}", self.contents[split]
        if self._metadata is not None and found.media and not found.metadata:
            path = next(one.metadata[0] for one in self.contents.values() if one.metadata)
            raise MediaFolderError(
                place,
                f"{len(found.media)} files, as {found.media[0]}, have no metadata, while there is {path}.",
                "Put a metadata file beside them, or pass drop_metadata=True.",
            )
        if found.metadata and self._metadata is not None:
            raise MediaFolderError(found.metadata[0], "the metadata have no rows.", "Pass drop_metadata=True.")
        kinds = ", ".join(sorted(self.folder.endings)[:8])
        raise MediaFolderError(
            place, f"none of {len(self.files[split])} files is of {self.request.format.name}.", f"It takes {kinds}, …"
        )
