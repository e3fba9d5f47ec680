"""The metadata files of all splits → one table per split, with the same columns and types."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import MediaFolderError
from crucible_datasets.features import Features
from crucible_datasets.formats.base import FORMATS, Filters
from crucible_datasets.formats.faults import warn_of
from crucible_datasets.formats.folders import MediaFolder
from crucible_datasets.logging import get_logger
from crucible_datasets.reading.archivenames import chain_of
from crucible_datasets.reading.convert import in_memory
from crucible_datasets.reading.files import identified
from crucible_datasets.reading.folders.contents import Contents, members_of
from crucible_datasets.reading.folders.filenames import FileNames
from crucible_datasets.reading.request import Request
from crucible_datasets.tables.writing import Segment, as_features, united_all

logger = get_logger(__name__)

_FORMATS = {".csv": "csv", ".jsonl": "json", ".parquet": "parquet"}


@dataclass(frozen=True)
class MetadataFile:
    """The content of a metadata file: a table, its features, and the paths of its media."""

    path: str
    table: pa.Table
    features: Features
    named: list[pa.Array]


def tables_of(
    splits: Mapping[str, Contents], folder: MediaFolder, filters: Filters, on_bad_files: str
) -> tuple[dict[str, pa.Table], Features]:
    """The rows of the metadata of each split; a split without metadata has none."""
    require_one_extension([path for found in splits.values() for path in found.metadata])
    files = {
        split: [_read(path, folder, filters, on_bad_files) for path in found.metadata]
        for split, found in splits.items()
    }
    every = [one for several in files.values() for one in several]
    _require_same_columns(files)
    features = united_all(Segment("", one.features, one.path) for one in every)
    empty = as_features(pa.table({}), Features(), features)
    for split, several in files.items():
        warn_of_unmatched(split, splits[split], several)
    return {
        split: pa.concat_tables([empty, *(as_features(one.table, one.features, features) for one in several)])
        for split, several in files.items()
    }, features


def require_one_extension(paths: Sequence[str]) -> None:
    """The extension of all metadata files; raises if they differ or it is not supported."""
    kinds: dict[str, str] = {}
    for path in paths:
        kinds.setdefault(extension_of(path), path)
    if len(kinds) > 1:
        several = " and ".join(list(kinds.values())[:2])
        raise MediaFolderError(several, "metadata files have different extensions.", "Keep those of one kind.")
    for extension, path in kinds.items():
        if extension not in _FORMATS:
            raise MediaFolderError(path, f"metadata cannot be {extension or 'without extension'}.", _KINDS)


_KINDS = f"Expected one of {', '.join(_FORMATS)}."


def extension_of(path: str) -> str:
    """The extension of a file or of a member of an archive."""
    archive, member = chain_of(path)
    return os.path.splitext(member or archive)[1]


def _read(path: str, folder: MediaFolder, filters: Filters, on_bad_files: str) -> MetadataFile:
    names = FileNames(path, folder)
    request = Request(FORMATS[_FORMATS[extension_of(path)]], filters=filters, on_bad_files=on_bad_files)
    table, features, faults = in_memory(identified([path]), request)
    warn_of(faults, on_bad_files)
    return MetadataFile(path, *names.columns(table, features), names.named)


def _require_same_columns(files: Mapping[str, list[MetadataFile]]) -> None:
    """Raise if splits have different columns; metadata without rows is ignored."""
    seen: dict[frozenset[str], str] = {}
    for several in files.values():
        if filled := [one for one in several if one.table.num_rows]:
            names = frozenset(name for one in filled for name in one.features)
            seen.setdefault(names, filled[0].path)
    if len(seen) > 1:
        (first, at_first), (second, at_second) = list(seen.items())[:2]
        odd = ", ".join(sorted(first ^ second))
        raise MediaFolderError(
            f"{at_first} and {at_second}", f"metadata of splits have different columns: {odd}.", "Add or remove them."
        )


def warn_of_unmatched(split: str, found: Contents, files: Sequence[MetadataFile]) -> None:
    """Warn of files without metadata, and of rows whose file does not exist."""
    named = {path for one in files for paths in one.named for path in pc.unique(paths).to_pylist() if path is not None}
    here = set(found.media)
    if files and (left := [path for path in found.media if path not in named]):
        logger.warning("Split %s: %d files have no metadata and are left out, as %s.", split, len(left), left[0])
    known: dict[str, set[str]] = {}
    if missing := [path for path in named if path not in here and not _exists(path, known)]:
        first = min(missing)
        logger.warning("Split %s: metadata name %d files that are not there, as %s.", split, len(missing), first)


def _exists(path: str, known: dict[str, set[str]]) -> bool:
    archive, member = chain_of(path)
    if member is None:
        return os.path.exists(path)
    if archive not in known:
        known[archive] = set(members_of(archive))
    return path in known[archive]
