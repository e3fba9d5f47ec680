"""Bytes of media that have no local path, read into their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.features import Features
from crucible_datasets.features.media import Media
from crucible_datasets.features.storage import children, rebuilt
from crucible_datasets.features.types import any_leaf
from crucible_datasets.reading import archives
from crucible_datasets.reading.archivenames import chain_of
from crucible_datasets.sources.base import Elsewhere

_AT_ONCE = 16


def paths_in(table: pa.Table, features: Features) -> Iterator[pa.Array]:
    """The paths of all media of a table."""
    for name, feature in features.items():
        for chunk in table.column(name).chunks if any_leaf(feature, (Media,)) else ():
            yield from _paths(chunk, feature)


def _paths(array: pa.Array, feature: Any) -> Iterator[pa.Array]:
    if isinstance(feature, Media):
        yield pc.struct_field(array, "path")
    elif any_leaf(feature, (Media,)):
        for kid, kind in zip(children(array), _kinds(feature), strict=True):
            yield from _paths(kid, kind)


def _kinds(feature: Any) -> list[Any]:
    return list(feature.values()) if isinstance(feature, dict) else [feature.feature]


@dataclass(frozen=True, eq=False)
class Filling:
    """Reads remote files, and members of archives other than zip."""

    remote: Mapping[str, Elsewhere] = field(default_factory=dict)

    def is_needed(self, path: str) -> bool:
        """Whether a path cannot be opened on this machine."""
        return path in self.remote or path.startswith(("tar://", "7z://"))

    def of(self, table: pa.Table, features: Features) -> pa.Table:
        """The table with bytes where needed, several fetched concurrently."""
        for place, (name, feature) in enumerate(features.items()):
            if any_leaf(feature, (Media,)):
                chunks = [self._filled(chunk, feature) for chunk in table.column(name).chunks]
                table = table.set_column(place, name, pa.chunked_array(chunks, table.schema.field(name).type))
        return table

    def _filled(self, array: pa.Array, feature: Any) -> pa.Array:
        if not any_leaf(feature, (Media,)):
            return array
        if not isinstance(feature, Media):
            pairs = zip(children(array), _kinds(feature), strict=True)
            return rebuilt(array, [self._filled(kid, kind) for kid, kind in pairs], array.type)
        paths = pc.struct_field(array, "path").to_pylist()
        wanted = [path if path is not None and self.is_needed(path) else None for path in paths]
        shown = [self._shown(path) if path is not None else None for path in paths]
        columns = [pa.array(self._contents(wanted), pa.binary()), pa.array(shown, pa.string())]
        return pa.StructArray.from_arrays(columns, fields=list(array.type), mask=array.is_null())

    def _contents(self, paths: list[str | None]) -> list[bytes | None]:
        if not any(path in self.remote for path in paths):
            return list(map(self._content, paths))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(self._content, paths))

    def _content(self, path: str | None) -> bytes | None:
        if path is None:
            return None
        if path in self.remote:
            with self.remote[path].open() as stream:
                return stream.read()
        archive, member = chain_of(path)
        with archives.opened_member(archive, str(member)) as stream:
            return stream.read()

    def _shown(self, path: str) -> str:
        """The path that a row shows."""
        if path in self.remote:
            url = self.remote[path].file.url
            return url if url.startswith("hf://") else path.rpartition("/")[2]  # other URLs may contain a password
        return str(chain_of(path)[1]).rpartition("/")[2] if self.is_needed(path) else path
