"""`Array2D` … `Array5D`: arrays of one shape, which Arrow stores as nested lists of an extension type."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from crucible_datasets.features.extension import array_extension_type
from crucible_datasets.records import dataclass


@dataclass
class ArrayXD:
    """The base of array features of any number of dimensions."""

    shape: tuple[int | None, ...]
    dtype: str
    id: str | None = field(default=None, repr=False)
    _ndims: ClassVar[int] = 0

    def __post_init__(self) -> None:
        self.shape = tuple(self.shape)

    def __call__(self) -> pa.DataType:
        return array_extension_type(self.shape, self.dtype, self._ndims)

    def encode_example(self, value: Any) -> Any:
        """Nested lists stay, tensors become numpy arrays; the shape is checked when they are stored."""
        return value if isinstance(value, (list, tuple)) else np.asarray(value)


@dataclass
class Array2D(ArrayXD):
    """A matrix of one shape; only its first dimension may be None (any)."""

    _type: str = field(init=False, repr=False, default="Array2D")
    _ndims: ClassVar[int] = 2


@dataclass
class Array3D(ArrayXD):
    """A three-dimensional array of one shape."""

    _type: str = field(init=False, repr=False, default="Array3D")
    _ndims: ClassVar[int] = 3


@dataclass
class Array4D(ArrayXD):
    """A four-dimensional array of one shape."""

    _type: str = field(init=False, repr=False, default="Array4D")
    _ndims: ClassVar[int] = 4


@dataclass
class Array5D(ArrayXD):
    """A five-dimensional array of one shape."""

    _type: str = field(init=False, repr=False, default="Array5D")
    _ndims: ClassVar[int] = 5


_BY_DIMENSIONS = {kind._ndims: kind for kind in (Array2D, Array3D, Array4D, Array5D)}


def array_of(shape: tuple[int | None, ...], dtype: str) -> ArrayXD:
    """The feature for arrays of this shape."""
    return _BY_DIMENSIONS[len(shape)](shape, dtype)
