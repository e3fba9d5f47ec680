"""The footers of Parquet files: their metadata, and the common types of all files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import MappingProxyType
from typing import Any, BinaryIO

from crucible_datasets.exceptions import (
    CastError,
    DataFilesNotFoundError,
    FileColumnsError,
    FileFormatError,
    FileNotFoundDatasetsError,
    SchemaConflictError,
)
from crucible_datasets.features import Features
from crucible_datasets.features.storage import feature_of, storage_type
from crucible_datasets.features.unite import unite
from crucible_datasets.forking import cached_property
from crucible_datasets.formats.arrow import features_in
from crucible_datasets.formats.parquet import file_errors, leaf_places, parquet_reader
from crucible_datasets.records import dataclass
from crucible_datasets.tables.rowgroups import Identity, ParquetPart, RemotePart, identity_of

NONE: Mapping[str, Any] = MappingProxyType({})
# Footers are short, so latency dominates. With 0.1 s per request the first row of 20 files comes after 1.2 s, and after
# 1.7 s with 8 threads.
_FOOTERS_AT_ONCE = 24


def parts_of(paths: Sequence[str], late: Mapping[str, Callable[[], ParquetPart]] = NONE) -> list[ParquetPart]:
    """The files, with their footers. `late` reads the footers of remote files, all at the same time."""
    if not paths:
        raise DataFilesNotFoundError("Parquet", "there are no files to read.")
    looks = {path: partial(part_of, path) for path in paths} | _begun(late)
    return [looks[path]() for path in paths]


def part_of(path: str) -> ParquetPart:
    """A file of this disk, with its footer."""
    try:
        with file_errors(path):
            identity = identity_of(path)
        return ParquetPart(path, identity, *_footer(path, path))
    except FileNotFoundError as error:
        raise FileNotFoundDatasetsError(path) from error


def _begun(looks: Mapping[str, Callable[[], ParquetPart]]) -> dict[str, Callable[[], ParquetPart]]:
    if not looks:
        return {}
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(_FOOTERS_AT_ONCE, len(looks))) as pool:
        return {path: pool.submit(look).result for path, look in looks.items()}


@dataclass(frozen=True, eq=False)
class LatePart(ParquetPart):
    """A Parquet file that is being downloaded, whose footer was read remotely."""

    arrive: Callable[[], None]
    open: Callable[[], BinaryIO]

    @property
    def at_source(self) -> RemotePart | None:
        if "here" in vars(self) or os.path.exists(self.path):
            return None
        return RemotePart(self.path, self.identity, self.metadata, self.features, self.open)

    @cached_property
    def here(self) -> ParquetPart:
        # Only now are the bytes verified.
        self.arrive()
        part = part_of(self.path)
        if not part.metadata.equals(self.metadata):
            raise FileFormatError(self.path, "it is not the file whose footer the server sent before; load it again.")
        return part

    @contextmanager
    def opened(self) -> Iterator[Any]:
        with self.here.opened() as source:
            yield source

    def require_same(self) -> None:
        self.here.require_same()


def pending_part(
    path: str, identity: Identity, open: Callable[[], BinaryIO], arrive: Callable[[], None], kept: BinaryIO | None
) -> LatePart:
    """A file that will be at `path`, and can be read remotely until then; its footer, if it is `kept` already."""
    if kept is not None:
        with suppress(FileFormatError):
            return LatePart(path, identity, *_footer(kept, path), arrive, open)
    with open() as stream:
        return LatePart(path, identity, *_footer(stream, path), arrive, open)


def part_elsewhere(open: Callable[[], BinaryIO], name: str, identity: Identity = (0, 0, 0)) -> RemotePart:
    """A file that is read remotely."""
    with open() as stream:
        return RemotePart(name, identity, *_footer(stream, name), open)


def _footer(source: Any, name: str) -> tuple[Any, Features]:
    """The metadata of a file, and its features."""
    with file_errors(name):
        file = parquet_reader(source)
        features = features_in(name, file.schema_arrow)
        leaf_places(file.metadata, ())  # raises if names inside nested columns are not text
    if len(features) < len(file.schema_arrow.names):
        raise FileFormatError(name, "two of its columns have the same name.")
    return file.metadata, features


def united(parts: Iterable[ParquetPart]) -> Features:
    """The common features of all files; a conflict names both files."""
    found: dict[str, tuple[Any, str]] = {}
    for part in parts:
        for name, feature in part.features.items():
            before, first = found.get(name, (feature, part.path))
            if before == feature:
                found.setdefault(name, (feature, part.path))
                continue
            try:
                found[name] = _agreed(before, feature, name), first
            except CastError as error:
                raise SchemaConflictError(name, first, str(before), part.path, str(feature)) from error
    return Features({name: feature for name, (feature, _) in found.items()})


def _agreed(left: Any, right: Any, name: str) -> Any:
    try:
        # A field that the schema of a file lacks is null in its rows.
        return unite(left, right, name=name, keys="null")
    except CastError:
        # One file may have a feature (labels, an image) where another has only the same Arrow type.
        if (stored := storage_type(left)) != storage_type(right) or feature_of(stored) not in (left, right):
            raise
        return right if left == feature_of(stored) else left


def stated(features: Features, found: Features) -> Features:
    """The features that the caller gave, which must cover the files; columns that no file has are null."""
    if not set(found) <= set(features):
        raise FileColumnsError(features, found)
    return features
