"""The `Image` feature: images in and out, stored as encoded bytes or a path."""

from __future__ import annotations

import io
import sys
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError
from crucible_datasets.features import dtypes
from crucible_datasets.features.media import Media, Reference
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.records import dataclass
from crucible_datasets.registry import need

_PNG_MODES = ("1", "L", "LA", "RGB", "RGBA")
_DEPTHS = {"i8": "i4", "u8": "u4", "f8": "f4"}
_DRAWABLE = ("b1", "u1", "u2", "i2", "u4", "i4", "f4")


@dataclass
class Image(Media):
    """An image: path, bytes, Pillow image or numpy array in, Pillow image out."""

    mode: str | None = None
    decode: bool = True
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "PIL.Image.Image"
    _type: str = field(init=False, repr=False, default="Image")

    def encode_example(self, value: Any) -> Reference:
        """An image as a reference: the file it was opened from, or its encoded bytes."""
        if isinstance(value, list):
            value = np.array(value)
        if isinstance(value, np.ndarray):
            return {"bytes": encoded(_drawn(value)), "path": None}
        if is_picture(value):
            path = getattr(value, "filename", "")
            return {"bytes": None, "path": path} if path else {"bytes": encoded(value), "path": None}
        return super().encode_example(value)

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """As for all media; nested lists of numbers become images."""
        if dtypes.is_list(storage.type):
            rows = [None if row is None else self.encode_example(np.array(row)) for row in storage.to_pylist()]
            return pa.array(rows, self.pa_type)
        return super().cast_storage(storage)


def is_picture(value: Any) -> bool:
    """Whether a value is a Pillow image; without importing Pillow, since then none can exist."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(value, pillow.Image)


def encoded(picture: Any) -> bytes:
    """The bytes of an image in its own format, else as PNG, or TIFF where PNG would be lossy."""
    fallback = "PNG" if picture.mode in _PNG_MODES else "TIFF"
    known = picture.format if picture.format in need("PIL.Image", extra="image").SAVE else None
    buffer = io.BytesIO()
    picture.save(buffer, format=known or fallback)
    return buffer.getvalue()


def _drawn(array: np.ndarray[Any, Any]) -> Any:
    kind = array.dtype.str[1:]
    if array.ndim > 2:
        if array.dtype.kind not in "iu":
            raise ArgumentTypeError("dtype", str(array.dtype), "an array of several channels holds integers.")
        array = _narrowed(array, "u1")
    elif kind in _DEPTHS:
        array = _narrowed(array, _DEPTHS[kind])
    elif kind not in _DRAWABLE:
        raise ArgumentTypeError("dtype", str(array.dtype), "no picture holds values of this type.")
    return need("PIL.Image", extra="image").fromarray(array)


def _narrowed(array: np.ndarray[Any, Any], kind: str) -> np.ndarray[Any, Any]:
    limits = np.finfo(kind) if kind[0] == "f" else np.iinfo(kind)
    if ((array < limits.min) | (array > limits.max)).any():
        raise ArgumentError("array", f"{array.min()} to {array.max()}", f"pixels go up to {limits.max}.")
    return array.astype(kind)


names_of_datasets(__name__)
