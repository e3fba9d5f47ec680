"""The files of one extension → an Arrow column, of the types that Hugging Face `datasets` gives them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from crucible_datasets.exceptions import DatasetsError, FileFormatError, MixedTypesError, ValueTypeError
from crucible_datasets.features.infer import infer_column
from crucible_datasets.features.media import Media
from crucible_datasets.features.storage import chunked
from crucible_datasets.features.types import Value
from crucible_datasets.formats.webdataset import decoders
from crucible_datasets.formats.webdataset.decoders import FAILURES, Decode
from crucible_datasets.formats.webdataset.kinds import INTEGERS, TEXTS, media_of

Contents = Sequence[bytes | None]
Names = Sequence[str | None]
_REFUSALS = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)


class MemberNames(Sequence[str]):
    """The names of the files of one extension, built on access: only media and errors need them."""

    def __init__(self, keys: Sequence[str], extension: str) -> None:
        self._keys, self._extension = keys, extension

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, row: Any) -> Any:
        return f"{self._keys[row]}.{self._extension}"

    def __iter__(self) -> Iterator[str]:
        return (f"{key}.{self._extension}" for key in self._keys)


def fixed_feature(extension: str) -> Any:
    """The feature of files of an extension; None if it depends on their contents."""
    return _fixed(extension, *ending_of(extension))


@cache
def _fixed(extension: str, ending: str, _is_packed: bool) -> Any:
    if ending in TEXTS:
        return Value("string")
    if ending in INTEGERS:
        return Value("int64")
    if ending in ("json", "jsn") or ending in decoders.PACKED:
        return None
    return media_of(extension) or Value("binary")


def column(
    extension: str, contents: Contents, names: Names, path: str, on_mixed_types: str | None = "use_json"
) -> tuple[pa.ChunkedArray, Any]:
    """The column of one extension and its feature. `contents` has one file or None per sample, `names` their names."""
    ending, is_packed = ending_of(extension)
    feature = fixed_feature(extension)
    if is_packed and feature is not None:
        contents = _decoded(contents, names, decoders.gunzipped, path)
    if feature is None:
        found = values(extension, contents, names, path)
        return _inferred(extension, found, names, path, on_mixed_types)
    if ending in INTEGERS:
        numbers = _decoded(contents, names, int, path)
        return _built(numbers, pa.int64(), names, path), feature
    stored = pa.array(contents, pa.binary())
    if ending in TEXTS:
        return _texts(stored, contents, names, path), feature
    if feature == Value("binary"):
        return chunked(stored), feature
    paths = pa.array([name if content is not None else None for name, content in zip(names, contents, strict=True)])
    columns = [stored, paths.cast(pa.string())]
    return chunked(pa.StructArray.from_arrays(columns, fields=list(feature()), mask=stored.is_null())), feature


def values(extension: str, contents: Contents, names: Names, path: str) -> list[Any]:
    """The decoded files of an extension without fixed feature."""
    ending, is_packed = ending_of(extension)
    if is_packed:
        contents = _decoded(contents, names, decoders.gunzipped, path)
    return _decoded(contents, names, _decoder(ending), path)


def is_stored_unchanged(extension: str) -> bool:
    """Whether the column of an extension stores the bytes of the files unchanged."""
    fixed = fixed_feature(extension)
    return (isinstance(fixed, Media) or fixed == Value("binary")) and not ending_of(extension)[1]


def ending_of(extension: str) -> tuple[str, bool]:
    """The last part of an extension, without `.gz`, and whether there was a `.gz`."""
    *rest, last = extension.lower().split(".")
    return (rest[-1] if rest else "", True) if last == "gz" else (last, False)


def _decoder(ending: str) -> Decode:
    return decoders.json_decoder() if ending in ("json", "jsn") else decoders.PACKED[ending]


def _decoded(contents: Contents, names: Names, decode: Decode, path: str) -> list[Any]:
    try:
        return [None if content is None else decode(content) for content in contents]
    except FAILURES as error:
        raise _located(contents, names, decode, path, error) from error


def _located(contents: Contents, names: Names, decode: Decode, path: str, error: Exception) -> Exception:
    """An error that names the first file that cannot be decoded."""
    for content, name in zip(contents, names, strict=True):
        try:
            if content is not None:
                decode(content)
        except DatasetsError as found:
            return found
        except FAILURES as found:
            return FileFormatError(path, f"member {name!r} is not what its extension says: {found}")
    return error


def _texts(stored: pa.Array, contents: Contents, names: Names, path: str) -> pa.ChunkedArray:
    try:
        return chunked(stored.cast(pa.string()))  # the cast checks that it is UTF-8
    except _REFUSALS:
        return _built(_decoded(contents, names, decoders.text, path), pa.string(), names, path)


def _built(values: list[Any], kind: pa.DataType, names: Names, path: str) -> pa.ChunkedArray:
    try:
        return chunked(pa.array(values, kind))
    except _REFUSALS as error:
        raise FileFormatError(path, f"members {names[0]!r} to {names[-1]!r} do not fit {kind}: {error}") from error


def _inferred(
    extension: str, values: list[Any], names: Names, path: str, on_mixed_types: str | None
) -> tuple[pa.ChunkedArray, Any]:
    try:
        try:
            return infer_column(values, extension)
        except (MixedTypesError, ValueTypeError):
            if on_mixed_types is None:
                raise
            return infer_column(values, extension, on_mixed_types)
    except (*FAILURES, *_REFUSALS) as error:
        raise FileFormatError(path, f"members {names[0]!r} to {names[-1]!r} make no column: {error}") from error
