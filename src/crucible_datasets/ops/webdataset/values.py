"""A Python value → the bytes of a file, by its extension; bytes are unchanged."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from crucible_datasets.features import jsontext
from crucible_datasets.features.image import is_picture
from crucible_datasets.features.tensors import as_numpy, is_tensor
from crucible_datasets.ops.webdataset.extensions import (
    ARRAY,
    CBOR,
    INTEGER,
    JSON,
    MSGPACK,
    PICKLED,
    TEXT,
    last_part,
)
from crucible_datasets.registry import need

Encode = Callable[[Any], bytes]


class UnwritableError(Exception):
    """Why a value cannot be the content of a file; the caller adds row and column."""


def content_of(value: Any, extension: str) -> bytes:
    """The bytes of a file with this extension."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    kind = last_part(extension)
    encode = _ENCODERS.get(kind) or (_picture(kind) if is_picture(value) else None)
    if encode is None:
        if not isinstance(value, str):
            raise UnwritableError(f"a {type(value).__name__} has no form as .{kind}{_hint(kind)}")
        encode = str.encode
    try:
        return encode(value)
    except (TypeError, ValueError, OverflowError, OSError, KeyError) as error:
        raise UnwritableError(f"a {type(value).__name__} has no form as .{kind}: {error}") from error


def _hint(kind: str) -> str:
    return ", since nothing here is pickled; give bytes" if kind in PICKLED else "; give bytes"


def _text(value: Any) -> bytes:
    return (value if isinstance(value, str) else str(value)).encode()


def _json(value: Any) -> bytes:
    return jsontext.dumps(value).encode()


def _integer(value: Any) -> bytes:
    if isinstance(value, float) or int(value) != value:
        raise TypeError("an integer is needed")
    return b"%d" % int(value)


def npy(value: Any) -> bytes:
    """An array in numpy's format, without objects."""
    buffer = io.BytesIO()
    np.save(buffer, as_numpy(value) if is_tensor(value) else np.asarray(value), allow_pickle=False)
    return buffer.getvalue()


def _msgpack(value: Any) -> bytes:
    return bytes(need("msgpack", extra="webdataset").packb(value))


def _cbor(value: Any) -> bytes:
    return bytes(need("cbor2", extra="webdataset").dumps(value))


def _picture(kind: str) -> Encode:
    def encode(picture: Any) -> bytes:
        return drawn(picture, kind)

    return encode


def drawn(picture: Any, kind: str) -> bytes:
    """A Pillow image in the format of an extension."""
    module = need("PIL.Image", extra="image")
    module.init()
    name = module.EXTENSION[f".{kind}"]
    if name == "JPEG" and picture.mode not in ("L", "RGB", "CMYK"):
        picture = picture.convert("RGB")
    buffer = io.BytesIO()
    picture.save(buffer, format=name)
    return buffer.getvalue()


_ENCODERS: dict[str, Encode] = {
    **dict.fromkeys(TEXT, _text),
    **dict.fromkeys(JSON, _json),
    **dict.fromkeys(INTEGER, _integer),
    **dict.fromkeys(ARRAY, npy),
    **dict.fromkeys(MSGPACK, _msgpack),
    **dict.fromkeys(CBOR, _cbor),
}
