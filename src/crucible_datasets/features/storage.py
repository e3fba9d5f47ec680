"""Features ↔ Arrow types.

Internally a table holds storage types: numbers, times, text, bytes, structs and lists. Others write the same values in
many more types: extension types, dictionaries, runs, views, maps, small decimals. `plain` says which storage type has
the values of a type, and `to_storage` converts them once, where Arrow data enters. `arrow_type` is the type of a
feature in the schema of data that leaves, `storage_type` that of its column in a table; `to_extension` converts to the
former without copying values.
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
        arrow = feature()
        # Arrow's writer of Parquet ends the process at some nulls of views (26.0).
        return _VIEWS.get(arrow, arrow)
    raise UnknownTypeError(feature, "expected a feature type, a dict or a list of one.")


def storage_type(feature: Any) -> pa.DataType:
    """The Arrow type of a feature's column in a table."""
    return plain(arrow_type(feature))


def plain(arrow: pa.DataType) -> pa.DataType:
    """The storage type of an Arrow type, every field nullable; an error for types whose values no column can hold."""
    if arrow.id in _PLAIN:  # most columns, and tables may have 100,000
        return arrow
    if isinstance(arrow, pa.BaseExtensionType):
        return _EXTENSIONS.get(arrow.extension_name) or plain(arrow.storage_type)
    if pa.types.is_dictionary(arrow) or pa.types.is_run_end_encoded(arrow):
        return plain(arrow.value_type)
    if pa.types.is_struct(arrow):
        return pa.struct([pa.field(field.name, plain(field.type)) for field in arrow])
    if pa.types.is_map(arrow):
        return pa.list_(pa.struct({"key": plain(arrow.key_type), "value": plain(arrow.item_type)}))
    if pa.types.is_fixed_size_list(arrow):
        return pa.list_(plain(arrow.value_type), arrow.list_size)
    if pa.types.is_large_list(arrow) or pa.types.is_large_list_view(arrow):
        return pa.large_list(plain(arrow.value_type))
    if pa.types.is_list(arrow) or pa.types.is_list_view(arrow):
        return pa.list_(plain(arrow.value_type))
    if pa.types.is_decimal32(arrow) or pa.types.is_decimal64(arrow):
        return pa.decimal128(arrow.precision, arrow.scale)
    if pa.types.is_union(arrow):
        raise UnknownTypeError(arrow, "a column holds values of one type.")
    return _VIEWS.get(arrow, arrow)


_PLAIN = frozenset(
    arrow.id
    for arrow in (
        *(pa.null(), pa.bool_(), pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.binary(1)),
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float16(), pa.float32(), pa.float64(), pa.decimal128(1), pa.decimal256(1)),
        *(pa.date32(), pa.date64(), pa.timestamp("s"), pa.duration("s"), pa.time32("s"), pa.time64("us")),
    )
)
# Json may be stored as any text type; internally it is always a string. A Boolean of one byte is a Boolean.
_EXTENSIONS = {"arrow.json": pa.string(), "arrow.bool8": pa.bool_()}
_VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def feature_of(arrow: pa.DataType, metadata: Mapping[bytes, bytes] | None = None) -> Any:
    """The default feature of an Arrow type, given the metadata of its field."""
    if metadata and (name := metadata.get(b"ARROW:extension:name")):
        # An unregistered extension type appears as its storage type.
        return _extension_feature(name.decode(), arrow, metadata.get(b"ARROW:extension:metadata", b""))
    if arrow.id in _PLAIN:
        return Value(dtypes.name_of(arrow))
    if isinstance(arrow, pa.BaseExtensionType):
        return _extension_feature(arrow.extension_name, plain(arrow), arrow)
    if pa.types.is_dictionary(arrow) or pa.types.is_run_end_encoded(arrow):
        return feature_of(arrow.value_type)
    if pa.types.is_struct(arrow):
        return _struct_feature(arrow)
    if pa.types.is_map(arrow):
        fields = {"key": arrow.key_field, "value": arrow.item_field}
        return List({name: feature_of(field.type, field.metadata) for name, field in fields.items()})
    if pa.types.is_fixed_size_list(arrow):
        return List(_item_feature(arrow), length=arrow.list_size)
    if pa.types.is_large_list(arrow) or pa.types.is_large_list_view(arrow):
        return LargeList(_item_feature(arrow))
    if pa.types.is_list(arrow) or pa.types.is_list_view(arrow):
        return List(_item_feature(arrow))
    return Value(dtypes.name_of(plain(arrow)))


def _struct_feature(arrow: pa.StructType) -> dict[str, Any]:
    fields = {field.name: feature_of(field.type, field.metadata) for field in arrow}
    if len(fields) < arrow.num_fields:
        raise UnknownTypeError(arrow, "two of its fields have the same name.")
    return fields


def _item_feature(arrow: pa.DataType) -> Any:
    return feature_of(arrow.value_type, arrow.value_field.metadata)


def _extension_feature(name: str, storage: pa.DataType, parameters: Any) -> Any:
    if name == "arrow.json":
        return Json()
    if not extension.is_array_name(name):
        return feature_of(storage)
    serialized = parameters if isinstance(parameters, bytes) else parameters.__arrow_ext_serialize__()
    return array_of(*extension.parameters_of(serialized))


def chunked(array: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """A chunked array of storage types."""
    return to_storage(array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array]))


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array, copied only if it has several chunks."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)


def no_rows(schema: pa.Schema) -> pa.Table:
    """A table without rows; `Schema.empty_table` cannot make extension types inside lists and structs (Arrow 26.0)."""
    return pa.Table.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def to_storage(array: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same values in the storage type."""
    target = plain(array.type)
    if target == array.type:
        return array
    chunks = [stored for chunk in array.chunks for stored in _stored_chunks(chunk, target)]
    return pa.chunked_array(chunks, type=target)


def _stored_chunks(array: pa.Array, target: pa.DataType) -> list[pa.Array]:
    """The array in its storage type; its halves if that has offsets which its text exceeds."""
    try:
        return [_stored(array, target)]
    except pa.ArrowInvalid:
        if len(array) < 2:
            raise
        middle = len(array) // 2
        return _stored_chunks(array.slice(0, middle), target) + _stored_chunks(array.slice(middle), target)


def _stored(array: pa.Array, target: pa.DataType) -> pa.Array:
    arrow = array.type
    if arrow == target:
        return array
    if isinstance(arrow, pa.BaseExtensionType):
        return _stored(array.storage, target)
    if pa.types.is_dictionary(arrow):
        # Below null lists and structs, indices may point into a dictionary that has no values.
        return (
            _stored(array.dictionary, target).take(array.indices)
            if len(array.dictionary)
            else pa.nulls(len(array), target)
        )
    if pa.types.is_run_end_encoded(arrow):
        return _stored(array.values, target).take(_runs_of(array))
    if pa.types.is_list_view(arrow) or pa.types.is_large_list_view(arrow):
        return _stored(_as_list(array), target)
    if not (pa.types.is_struct(arrow) or pa.types.is_map(arrow) or dtypes.is_list(arrow)):
        return array.cast(target)
    kids = zip(children(array), _child_types(target), strict=True)
    return rebuilt(array, [_stored(child, kind) for child, kind in kids], target)


def _runs_of(array: Any) -> pa.Array:
    """The run that each value of a run-end encoded array belongs to."""
    rows = np.arange(array.offset, array.offset + len(array))
    return pa.array(np.searchsorted(np.asarray(array.run_ends), rows, side="right"))


def _as_list(array: Any) -> pa.Array:
    """The lists of a view, whose items may lie in any order, one after the other."""
    # A cast by Arrow gives wrong items if views are out of order (26.0).
    items, mask = array.flatten(), array.is_null()
    sizes = np.where(np.asarray(mask), 0, np.asarray(array.sizes))
    is_large = pa.types.is_large_list_view(array.type)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64 if is_large else np.int32)
    make = pa.LargeListArray if is_large else pa.ListArray
    return make.from_arrays(pa.array(offsets), items, mask=mask)


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
