"""Embedding: media values that refer to files get the files' content."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.features.batch_decode import Located
from crucible_datasets.features.features import Features
from crucible_datasets.features.media import Media, stored_name
from crucible_datasets.features.storage import children, rebuilt
from crucible_datasets.features.types import any_leaf


def embedded(table: pa.Table, features: Features) -> pa.Table:
    """The table with local media files embedded."""
    for place, (name, feature) in enumerate(features.items()):
        if any_leaf(feature, (Media,)):
            with Located(name, None):
                chunks = [_embedded(chunk, feature) for chunk in table.column(name).chunks]
            table = table.set_column(place, name, pa.chunked_array(chunks, table.schema.field(name).type))
    return table


def without_folders(table: pa.Table, features: Features) -> pa.Table:
    """The table with paths on this machine reduced to file names, where the content is embedded already."""
    for place, (name, feature) in enumerate(features.items()):
        if any_leaf(feature, (Media,)):
            chunks = [_without_folders(chunk, feature) for chunk in table.column(name).chunks]
            table = table.set_column(place, name, pa.chunked_array(chunks, table.schema.field(name).type))
    return table


def _without_folders(array: pa.Array, feature: Any) -> pa.Array:
    if not any_leaf(feature, (Media,)):
        return array
    kids = children(array)
    if isinstance(feature, Media):
        data, path = kids
        if pc.any(pc.match_substring(path, "/")).as_py():
            names = [None if one is None else stored_name(one) for one in path.to_pylist()]
            path = pa.array(names, path.type)
        return rebuilt(array, [data, path], array.type)
    kinds = list(feature.values()) if isinstance(feature, dict) else [feature.feature]
    return rebuilt(array, [_without_folders(kid, kind) for kid, kind in zip(kids, kinds, strict=True)], array.type)


def names_files(table: pa.Table, features: Features) -> bool:
    """Whether any media values of the table refer to files."""
    return any(
        _names_files(chunk, feature)
        for name, feature in features.items()
        if any_leaf(feature, (Media,))
        for chunk in table.column(name).chunks
    )


def _names_files(array: pa.Array, feature: Any) -> bool:
    if not any_leaf(feature, (Media,)):
        return False
    if isinstance(feature, Media):
        data, path = (pc.struct_field(array, name) for name in ("bytes", "path"))
        return bool(pc.any(pc.and_(data.is_null(), path.is_valid())).as_py())
    kinds = list(feature.values()) if isinstance(feature, dict) else [feature.feature]
    return any(_names_files(kid, kind) for kid, kind in zip(children(array), kinds, strict=True))


def _embedded(array: pa.Array, feature: Any) -> pa.Array:
    if isinstance(feature, Media):
        return feature.embed_storage(array, local_files=True, remote_files=False)
    if not any_leaf(feature, (Media,)):
        return array
    kinds = list(feature.values()) if isinstance(feature, dict) else [feature.feature]
    kids = [_embedded(kid, kind) for kid, kind in zip(children(array), kinds, strict=True)]
    return rebuilt(array, kids, array.type)
