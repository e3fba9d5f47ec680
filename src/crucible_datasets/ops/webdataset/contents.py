"""A stored column → the contents of its files, in blocks of rows; nulls have no file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.exceptions import DatasetsError, ValueTypeError
from crucible_datasets.features import Image, Json
from crucible_datasets.features.decode import decoder
from crucible_datasets.features.dtypes import is_bytes, is_list, is_text
from crucible_datasets.features.media import Media, read_file
from crucible_datasets.features.storage import chunked, storage_type
from crucible_datasets.formats.json.write import json_texts
from crucible_datasets.ops.webdataset.extensions import ARRAY, INTEGER, JSON, TEXT, last_part, medium_of, of_bytes
from crucible_datasets.ops.webdataset.values import UnwritableError, content_of, drawn, npy
from crucible_datasets.registry import need

# Of each row: the suffix of its file, and a function that reads the content, since all media of a block of rows may
# not fit into memory.
Contents = Iterator[tuple[str, bytes | None]]
Make = Callable[[pa.ChunkedArray, int], Contents]


def contents_of(column: str, feature: Any, extension: str | None, prefix: str, is_named: bool) -> Make:
    """The function that makes the files of a column, with suffixes `{prefix}{extension}`."""
    if isinstance(feature, Media):
        return _media(column, feature, extension, prefix, is_named)
    assert extension is not None
    suffix, make = f"{prefix}{extension}", _plain(column, feature, extension)

    def made(values: pa.ChunkedArray, first: int) -> Contents:
        return zip(repeat(suffix), make(values, first), strict=False)

    return made


def _plain(column: str, feature: Any, extension: str) -> Callable[[pa.ChunkedArray, int], list[bytes | None]]:
    kind, stored = last_part(extension), storage_type(feature)
    if is_bytes(stored) or pa.types.is_fixed_size_binary(stored):
        return lambda values, _: values.to_pylist()
    if is_text(stored) and not isinstance(feature, Json) and kind not in JSON | INTEGER | ARRAY:
        return lambda values, _: values.cast(pa.large_binary()).to_pylist()
    if isinstance(feature, Json) and kind in JSON | TEXT:
        return lambda values, _: values.cast(pa.large_binary()).to_pylist()
    if kind in JSON:
        if (leaf := _without_json_form(stored)) is not None:
            reason = f"JSON has no exact form for {leaf}; cast the column, or choose another file by extensions=."
            raise ValueTypeError(column, None, str(feature), f".{extension}", reason)
        return lambda values, first: _json(values, feature, column, first)
    if pa.types.is_integer(stored) and kind in INTEGER | TEXT:
        return lambda values, _: values.cast(pa.string()).cast(pa.binary()).to_pylist()
    return _one_by_one(column, feature, extension)


def _without_json_form(arrow: pa.DataType) -> pa.DataType | None:
    """The first type in a stored type whose values JSON cannot give back."""
    if pa.types.is_nested(arrow):
        fields = (arrow.field(index).type for index in range(arrow.num_fields))
        return next((leaf for field in fields if (leaf := _without_json_form(field)) is not None), None)
    has_form = is_text(arrow) or pa.types.is_integer(arrow) or pa.types.is_floating(arrow)
    return None if has_form or pa.types.is_boolean(arrow) or pa.types.is_null(arrow) else arrow


def _json(values: pa.ChunkedArray, feature: Any, column: str, first: int) -> list[bytes | None]:
    found: list[bytes | None] = []
    for chunk in values.chunks:
        if not _is_finite(chunk):
            row = next(row for row in range(len(chunk)) if not _is_finite(chunk.slice(row, 1)))
            reason = "JSON has neither NaN nor infinities."
            raise ValueTypeError(column, first + len(found) + row, str(chunk[row].as_py()), ".json", reason)
        # All digits: the shortest text of a float32 is another float64, which readers would get.
        doubles = _with_doubles(chunk.type)
        texts = json_texts(chunk if chunk.type == doubles else chunk.cast(doubles), feature)
        found += texts.cast(pa.large_binary()).to_pylist()
    if values.null_count:
        found = [
            text if is_there else None for text, is_there in zip(found, values.is_valid().to_pylist(), strict=True)
        ]
    return found


def _with_doubles(arrow: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(arrow):
        return pa.struct([pa.field(field.name, _with_doubles(field.type)) for field in arrow])
    if pa.types.is_fixed_size_list(arrow):
        return pa.list_(_with_doubles(arrow.value_type), arrow.list_size)
    if is_list(arrow):
        make = pa.large_list if pa.types.is_large_list(arrow) else pa.list_
        return make(_with_doubles(arrow.value_type))
    return pa.float64() if pa.types.is_floating(arrow) else arrow


def _is_finite(array: pa.Array) -> bool:
    """Whether no number that a reader sees is NaN or infinite."""
    if is_list(array.type):
        return _is_finite(array.flatten())
    if pa.types.is_struct(array.type):
        return all(map(_is_finite, array.flatten()))
    return not pa.types.is_floating(array.type) or bool(pc.all(pc.is_finite(array)).as_py() in (True, None))


def _one_by_one(column: str, feature: Any, extension: str) -> Callable[[pa.ChunkedArray, int], list[bytes | None]]:
    decode = decoder(feature) or (lambda value: value)
    leaf = feature
    while hasattr(leaf, "feature"):
        leaf = leaf.feature
    dtype = getattr(leaf, "dtype", None) if last_part(extension) in ARRAY else None

    def content(value: Any) -> bytes:
        if dtype is None or not _is_dtype(dtype):
            return content_of(decode(value), extension)
        return npy(np.asarray(value, dtype=dtype))

    def make(values: pa.ChunkedArray, first: int) -> list[bytes | None]:
        return [
            _content(content, value, column, first + place, extension) for place, value in enumerate(values.to_pylist())
        ]

    return make


def _is_dtype(name: str) -> bool:
    try:
        return np.dtype(name).kind in "biuf"
    except TypeError:
        return False


def _content(content: Callable[[Any], bytes], value: Any, column: str, row: int, extension: str) -> bytes | None:
    if value is None:
        return None
    with _named(column, row, extension):
        return content(value)


@contextmanager
def _named(column: str, row: int, extension: str) -> Iterator[None]:
    """A context that adds row and column to errors."""
    try:
        yield
    except UnwritableError as error:
        raise ValueTypeError(column, row, "the value", f".{extension}", str(error)) from error
    except (DatasetsError, OSError) as error:
        error.add_note(f"This is about column {column!r}, row {row}.")
        raise
    except ValueError as error:
        raise ValueTypeError(column, row, "the value", f".{extension}", str(error)) from error


def _media(column: str, feature: Media, extension: str | None, prefix: str, is_named: bool) -> Make:
    medium = medium_of(feature)
    assert medium is not None
    redrawn = last_part(extension) if extension and is_named and isinstance(feature, Image) else None

    def made(values: pa.ChunkedArray, first: int) -> Contents:
        for place, (held, path) in enumerate(_references(values)):
            content, own = None, extension or medium.default
            if held is not None or path is not None:
                with _named(column, first + place, own):
                    content = held if held is not None else read_file(feature.locate(path or ""))
                    own = of_bytes(medium, content, path)
                    content = _converted(content, own, redrawn) if redrawn else content
            yield f"{prefix}{extension or own}", content

    return made


def _references(values: pa.ChunkedArray) -> Iterator[tuple[bytes | None, str | None]]:
    for chunk in chunked(values).chunks:
        held, paths = (pc.struct_field(chunk, name).to_pylist() for name in ("bytes", "path"))
        yield from zip(held, paths, strict=True)


def _converted(content: bytes, own: str, wanted: str) -> bytes:
    """The image in the wanted format; unchanged if it has that format already."""
    if {own, wanted} <= {"jpg", "jpeg"} or {own, wanted} <= {"tif", "tiff"} or own == wanted:
        return content
    module = need("PIL.Image", extra="image")
    with module.open(BytesIO(content)) as picture:
        return drawn(picture, wanted)
