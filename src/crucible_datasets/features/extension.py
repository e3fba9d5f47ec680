"""The Arrow extension types of `Array2D` … `Array5D`.

Tables hold plain storage (nested lists); these types are used only in schemas and in data that leaves the library. They
have the names that Hugging Face `datasets` writes, and are never registered with Arrow: a file with such a type is read
as its storage, and the schema's metadata has the feature.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import ShapeError, UnknownTypeError
from crucible_datasets.features import dtypes

Shape = tuple[int | None, ...]
_NAME = "datasets.features.features.Array{}DExtensionType"


class ArrayExtensionType(pa.ExtensionType):  # type: ignore[misc]
    """N-dimensional arrays of one shape, stored as nested lists."""

    def __init__(self, ndims: int, shape: Shape, dtype: str) -> None:
        if len(shape) != ndims or any(size is None for size in shape[1:]):
            raise UnknownTypeError(
                f"Array{ndims}D(shape={shape})", f"it takes {ndims} sizes, of which only the first may be None."
            )
        self.ndims, self.shape, self.value_type = ndims, tuple(shape), dtype
        storage = dtypes.arrow_of(dtype)
        for _ in range(ndims):
            storage = pa.list_(storage)
        super().__init__(storage, _NAME.format(ndims))

    def __arrow_ext_serialize__(self) -> bytes:
        return json.dumps((self.shape, self.value_type)).encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> ArrayExtensionType:
        return array_extension_type(*parameters_of(serialized))

    def __reduce__(self) -> tuple[Any, ...]:
        return array_extension_type, (self.shape, self.value_type)

    def __hash__(self) -> int:
        return hash((self.shape, self.value_type))

    def __arrow_ext_class__(self) -> type:
        return ArrayExtensionArray


class Array2DExtensionType(ArrayExtensionType):
    """The Arrow type of `Array2D`."""


class Array3DExtensionType(ArrayExtensionType):
    """The Arrow type of `Array3D`."""


class Array4DExtensionType(ArrayExtensionType):
    """The Arrow type of `Array4D`."""


class Array5DExtensionType(ArrayExtensionType):
    """The Arrow type of `Array5D`."""


_BY_NDIMS = {2: Array2DExtensionType, 3: Array3DExtensionType, 4: Array4DExtensionType, 5: Array5DExtensionType}


class ArrayExtensionArray(pa.ExtensionArray):  # type: ignore[misc]
    """Reads back as nested lists, or as one numpy array when the shapes allow it."""

    def to_numpy(self, zero_copy_only: bool = True) -> Any:
        return stacked(self.storage, self.type.shape)


def array_extension_type(shape: Shape, dtype: str, ndims: int | None = None) -> ArrayExtensionType:
    """The extension type of arrays of one shape."""
    return _cached(ndims or len(shape), tuple(shape), dtype)


@cache
def _cached(ndims: int, shape: Shape, dtype: str) -> ArrayExtensionType:
    return _BY_NDIMS[ndims](ndims, shape, dtype)


def is_array_name(extension_name: str) -> bool:
    """Whether an Arrow extension name is that of an `ArrayND`."""
    return re.fullmatch(_NAME.format("[2-5]").replace(".", r"\."), extension_name) is not None


def parameters_of(serialized: bytes) -> tuple[Shape, str]:
    """Shape and dtype from the metadata that Arrow keeps beside the name."""
    shape, dtype = json.loads(serialized)
    return tuple(shape), dtype


def check_shape(storage: pa.Array, shape: Shape) -> None:
    """Raise unless nested lists have this shape, None meaning any length."""
    for level, size in enumerate(shape):
        lengths = pc.list_value_length(storage)
        if size is not None and pc.any(pc.not_equal(lengths, size)).as_py():
            wrong = storage.filter(pc.not_equal(lengths, size))[0]
            raise ShapeError(shape, level, len(wrong))
        storage = storage.flatten()


def stacked(storage: pa.Array, shape: Shape) -> Any:
    """Nested lists of one shape as one numpy array, without copying; otherwise an object array of arrays."""
    flat = innermost(storage)
    if storage.null_count == 0 and shape[0] is not None and flat.null_count == 0:
        return flat.to_numpy(zero_copy_only=False).reshape(len(storage), *shape)
    rows = np.empty(len(storage), dtype=object)
    for index, row in enumerate(storage):
        if row.is_valid:
            values = innermost(row.values).to_numpy(zero_copy_only=False)
            rows[index] = values.reshape(-1 if shape[0] is None else shape[0], *shape[1:])
    return rows


def innermost(array: pa.Array) -> pa.Array:
    """The values inside nested lists, without those under null lists."""
    while dtypes.is_list(array.type):
        array = array.flatten()
    return array
