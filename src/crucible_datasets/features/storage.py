"""Features ↔ Arrow types.

Internally a table holds storage types: no extension types, no dictionaries. `arrow_type` is the type of a feature in a
schema, `storage_type` that of its column in a table; `to_storage` and `to_extension` convert arrays between the two
without copying values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets.exceptions import CastError, UnknownTypeError
from crucible_datasets.features import dtypes, extension
from crucible_datasets.features.arrays import array_of
from crucible_datasets.features.types import Json, LargeList, List, Value


def arrow_type(feature: Any) -> pa.DataType:
    """The Arrow type of a feature, extension types included."""
    if isinstance(feature, dict):
        return pa.struct({name: arrow_type(value) for name, value in feature.items()})
    if isinstance(feature, (list, tuple)):
        return pa.list_(arrow_type(feature[0]))
    if isinstance(feature, LargeList):
        return pa.large_list(arrow_type(feature.feature))
    if isinstance(feature, List):
        return pa.list_(arrow_type(feature.feature), feature.length)
    if callable(feature):
        return feature()
    raise UnknownTypeError(feature, "expected a feature type, a dict or a list of one.")


def storage_type(feature: Any) -> pa.DataType:
    """The Arrow type of a feature's column in a table."""
    return plain(arrow_type(feature))


def plain(arrow: pa.DataType) -> pa.DataType:
    """An Arrow type with every extension and dictionary type replaced by its storage, and every field nullable."""
    if isinstance(arrow, pa.BaseExtensionType):
        # Json may be stored as any text type; internally it is always a string.
        return pa.string() if arrow.extension_name == "arrow.json" else plain(arrow.storage_type)
    if pa.types.is_dictionary(arrow):
        return plain(arrow.value_type)
    if pa.types.is_struct(arrow):
        return pa.struct([pa.field(field.name, plain(field.type)) for field in arrow])
    if pa.types.is_fixed_size_list(arrow):
        return pa.list_(plain(arrow.value_type), arrow.list_size)
    if pa.types.is_large_list(arrow):
        return pa.large_list(plain(arrow.value_type))
    if pa.types.is_list(arrow):
        return pa.list_(plain(arrow.value_type))
    return arrow


def feature_of(arrow: pa.DataType, metadata: Mapping[bytes, bytes] | None = None) -> Any:
    """The default feature of an Arrow type, given the metadata of its field."""
    if metadata and (name := metadata.get(b"ARROW:extension:name")):
        # An unregistered extension type appears as its storage type.
        return _extension_feature(name.decode(), arrow, metadata.get(b"ARROW:extension:metadata"))
    if isinstance(arrow, pa.BaseExtensionType):
        return _extension_feature(arrow.extension_name, arrow)
    if pa.types.is_struct(arrow):
        return {field.name: feature_of(field.type, field.metadata) for field in arrow}
    if pa.types.is_fixed_size_list(arrow):
        return List(_item_feature(arrow), length=arrow.list_size)
    if pa.types.is_large_list(arrow):
        return LargeList(_item_feature(arrow))
    if pa.types.is_list(arrow):
        return List(_item_feature(arrow))
    return Value(dtypes.name_of(arrow))


def _item_feature(arrow: pa.DataType) -> Any:
    return feature_of(arrow.value_type, arrow.value_field.metadata)


def _extension_feature(name: str, arrow: pa.DataType, serialized: bytes | None = None) -> Any:
    if name == "arrow.json":
        return Json()
    if not extension.is_array_name(name):
        raise UnknownTypeError(arrow, f"the extension type {name} has no counterpart among the feature types.")
    shape, dtype = extension.parameters_of(serialized or arrow.__arrow_ext_serialize__())
    return array_of(shape, dtype)


def chunked(array: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """A chunked array of storage types."""
    return to_storage(array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array]))


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array, copied only if it has several chunks."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)


def to_storage(array: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same values without extension types and dictionaries."""
    target = plain(array.type)
    if target == array.type:
        return array
    return pa.chunked_array([_stored(chunk, target) for chunk in array.chunks], type=target)


def _stored(array: pa.Array, target: pa.DataType) -> pa.Array:
    arrow = array.type
    if arrow == target:
        return array
    if isinstance(arrow, pa.BaseExtensionType):
        return _stored(array.storage, target)
    if pa.types.is_dictionary(arrow):
        return _stored(array.dictionary_decode(), target)
    if not (pa.types.is_struct(arrow) or dtypes.is_list(arrow)):
        return array.cast(target)
    kids = zip(children(array), _child_types(target), strict=True)
    return rebuilt(array, [_stored(child, kind) for child, kind in kids], target)


def to_extension(array: pa.ChunkedArray, feature: Any) -> pa.ChunkedArray:
    """The same values as the feature's own Arrow type."""
    target = arrow_type(feature)
    if target == array.type:
        return array
    return pa.chunked_array([_extended(chunk, target) for chunk in array.chunks], type=target)


def _extended(array: pa.Array, target: pa.DataType) -> pa.Array:
    if array.type == target:
        return array
    if isinstance(target, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(target, array)
    if plain(array.type) != plain(target):
        raise CastError(None, str(array.type), str(target), "a column must be cast before it is written.")
    kids = zip(children(array), _child_types(target), strict=True)
    return rebuilt(array, [_extended(child, kind) for child, kind in kids], target)


def _child_types(arrow: pa.DataType) -> list[pa.DataType]:
    return [field.type for field in arrow] if pa.types.is_struct(arrow) else [arrow.value_type]


def children(array: pa.Array) -> list[pa.Array]:
    """The child arrays of a struct or list, as long as the array's own offsets need them."""
    if pa.types.is_struct(array.type):
        # `field` keeps the child's own values; `flatten` would also apply the parent's nulls.
        return [array.field(index) for index in range(array.type.num_fields)]
    return [array.values]


def rebuilt(array: pa.Array, kids: list[pa.Array], target: pa.DataType) -> pa.Array:
    """An array like `array` of type `target`, over other children."""
    if pa.types.is_struct(array.type):
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(kids, fields=list(target), mask=mask) if kids else array
    own_buffers = 1 if pa.types.is_fixed_size_list(array.type) else 2
    buffers = array.buffers()[:own_buffers]
    return pa.Array.from_buffers(target, len(array), buffers, null_count=-1, offset=array.offset, children=kids)


def offsets_of(array: pa.Array) -> npt.NDArray[Any]:
    """Where the lists of an array begin and end among its values."""
    offsets = array.offsets
    kind = np.int32 if offsets.type == pa.int32() else np.int64
    # `to_numpy` would import pandas, which is slow.
    start = offsets.offset * offsets.type.bit_width // 8
    return np.frombuffer(offsets.buffers()[1], kind, len(offsets), start)
