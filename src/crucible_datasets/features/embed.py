"""Media that only name their files become media that hold them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from crucible_datasets.features.cast import any_leaf
from crucible_datasets.features.features import Features
from crucible_datasets.features.media import Media
from crucible_datasets.features.storage import children, rebuilt


def embedded(table: pa.Table, features: Features) -> pa.Table:
    """The table with the files of this machine that its media name read into it."""
    for place, (name, feature) in enumerate(features.items()):
        if any_leaf(feature, (Media,)):
            chunks = [_embedded(chunk, feature) for chunk in table.column(name).chunks]
            table = table.set_column(place, name, pa.chunked_array(chunks, table.schema.field(name).type))
    return table


def _embedded(array: pa.Array, feature: Any) -> pa.Array:
    if isinstance(feature, Media):
        return feature.embed_storage(array, local_files=True, remote_files=False)
    if not any_leaf(feature, (Media,)):
        return array
    kinds = list(feature.values()) if isinstance(feature, dict) else [feature.feature]
    kids = [_embedded(kid, kind) for kid, kind in zip(children(array), kinds, strict=True)]
    return rebuilt(array, kids, array.type)
