"""The `Image` feature: pictures in, pictures out, encoded bytes or a path in between."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, DecodingDisabledError
from crucible_datasets.features import dtypes
from crucible_datasets.features.media import Media, Reference, Tokens, is_local, read_file
from crucible_datasets.registry import need

_ORIENTATION = 0x0112
_PNG_MODES = ("1", "L", "LA", "RGB", "RGBA")
_DEPTHS = {"i8": "i4", "u8": "u4", "f8": "f4"}
_DRAWABLE = ("b1", "u1", "u2", "i2", "u4", "i4", "f4")


@dataclass
class Image(Media):
    """A picture: path, bytes, Pillow image or numpy array in, Pillow image out."""

    mode: str | None = None
    decode: bool = True
    id: str | None = field(default=None, repr=False)
    dtype: ClassVar[str] = "PIL.Image.Image"
    _type: str = field(init=False, repr=False, default="Image")

    def encode_example(self, value: Any) -> Reference:
        """A picture as a reference: the file it was opened from, or its own bytes."""
        if isinstance(value, list):
            value = np.array(value)
        if isinstance(value, np.ndarray):
            return {"bytes": encoded(_drawn(value)), "path": None}
        if is_picture(value):
            path = getattr(value, "filename", "")
            return {"bytes": None, "path": path} if path else {"bytes": encoded(value), "path": None}
        return super().encode_example(value)

    def decode_example(self, value: Reference | None, token_per_repo_id: Tokens = None) -> Any:
        """The picture, upright and in the mode asked for."""
        if not self.decode:
            raise DecodingDisabledError("Image")
        if value is None:
            return None
        picture = need("PIL.Image", extra="image").open(self._source(value, token_per_repo_id))
        picture.load()  # closes the file
        if picture.getexif().get(_ORIENTATION) is not None:
            picture = need("PIL.ImageOps", extra="image").exif_transpose(picture)
        return picture.convert(self.mode) if self.mode and self.mode != picture.mode else picture

    def _source(self, value: Reference, tokens: Tokens) -> Any:
        if value["bytes"] is not None:
            return io.BytesIO(value["bytes"])
        if value["path"] is None:
            raise ArgumentError("value", value, "one of 'path' and 'bytes' is needed to decode an image.")
        path = self.locate(value["path"])
        return path if is_local(path) else io.BytesIO(read_file(path, tokens))

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """As for all media; nested lists of numbers are drawn."""
        if dtypes.is_list(storage.type):
            rows = [None if row is None else self.encode_example(np.array(row)) for row in storage.to_pylist()]
            return pa.array(rows, self.pa_type)
        return super().cast_storage(storage)


def is_picture(value: Any) -> bool:
    """Whether a value is a Pillow image; without importing Pillow, since then none can exist."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(value, pillow.Image)


def encoded(picture: Any) -> bytes:
    """The bytes of a picture in its own format, else as PNG, or TIFF where PNG would lose something."""
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
