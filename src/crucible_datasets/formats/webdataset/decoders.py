"""Bytes → values, one function per kind of content. No code in a file is ever executed.

Invalid bytes raise a `ValueError`, to which the caller adds the names of the archive and the member.
"""

from __future__ import annotations

import io
import json
import math
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

from crucible_datasets import config
from crucible_datasets.exceptions import LimitExceededError
from crucible_datasets.registry import need

Decode = Callable[[bytes], Any]
PICKLES = frozenset({"pkl", "pickle", "pyd", "pth"})


def fast_json() -> Decode:
    """The fastest JSON parser, which is stricter than the standard library."""
    decode: Decode = _fast_json()[0]
    return decode


@cache
def _fast_json() -> tuple[Any, Any, type[Exception]]:
    import msgspec

    decoder = msgspec.json.Decoder()
    return decoder.decode, decoder.decode_lines, msgspec.DecodeError


def json_decoder() -> Decode:
    """A function that parses JSON; for what only the standard library accepts, such as `NaN`, it falls back to that."""
    decode, _, failure = _fast_json()

    def parsed(content: bytes) -> Any:
        try:
            return decode(content)
        except (failure, RecursionError, UnicodeDecodeError):
            return _slow_json(content)

    return parsed


def json_lines(content: bytes) -> list[Any]:
    """A value for each line that is not blank."""
    _, decode_lines, failure = _fast_json()
    try:
        return list(decode_lines(content))
    except (failure, RecursionError, UnicodeDecodeError):
        return [_slow_json(line) for line in content.split(b"\n") if line.strip()]


def _slow_json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def text(content: bytes) -> str:
    """UTF-8 text."""
    return content.decode()


def trimmed(content: bytes) -> str:
    """UTF-8 text without surrounding white space."""
    return content.decode().strip()


def npy(content: bytes) -> Any:
    """An array. Arrays of Python objects are pickles, and refused."""
    import numpy as np
    from numpy.lib import format as npy_format

    stream = io.BytesIO(content)
    version = npy_format.read_magic(stream)
    reads = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}
    if version not in reads:
        raise ValueError(f"arrays of version {version} are not known")
    shape, is_fortran, dtype = reads[version](stream)
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which only a pickle could restore")
    stated, held = math.prod(shape) * dtype.itemsize, len(content) - stream.tell()
    if min(shape, default=0) < 0 or stated > held:
        raise ValueError(f"its header states {stated} bytes, and {held} follow")
    array = np.frombuffer(content, dtype, math.prod(shape), stream.tell()) if stated else np.empty(shape, dtype)
    return array.reshape(shape, order="F" if is_fortran else "C").copy(order="K")


def npz(content: bytes) -> dict[str, Any]:
    """Arrays by name."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _require_within(sum(member.file_size for member in archive.infolist()), len(content))
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            return {name.removesuffix(".npy"): npy(archive.read(name)) for name in names}
    except zipfile.BadZipFile as error:
        raise ValueError(str(error)) from error


def msgpack(content: bytes) -> Any:
    """A msgpack value."""
    import msgspec

    return msgspec.msgpack.decode(content)


def cbor(content: bytes) -> Any:
    """A CBOR value."""
    cbor2 = need("cbor2", extra="webdataset")
    try:
        return cbor2.loads(content)
    except cbor2.CBORDecodeError as error:
        raise ValueError(str(error)) from error


def pickled(content: bytes) -> Any:
    """An unpickled object. Unpickling executes code of the file, so users must allow it."""
    import pickle

    return pickle.loads(content)  # noqa: S301 - only where the caller has allowed it


_GZIP, _PIECE = zlib.MAX_WBITS | 16, 1 << 15


def gunzipped(content: bytes) -> bytes:
    """The decompressed bytes, up to the size limit."""
    view, parts, size, decoder = memoryview(content), list[bytes](), 0, zlib.decompressobj(_GZIP)
    # In chunks: one call with the limit as its size would allocate three times the limit before it fails.
    for start in range(0, len(content), _PIECE):
        piece: bytes | memoryview = view[start : start + _PIECE]
        while piece:
            decoder = zlib.decompressobj(_GZIP) if decoder.eof else decoder
            parts.append(decoder.decompress(piece))
            size += len(parts[-1])
            _require_within(size, len(content))
            piece = decoder.unused_data
    if content and not decoder.eof:
        raise ValueError("the gz data breaks off")
    return b"".join(parts)


def _allowed(size: int) -> int:
    return max(config.MAX_UNPACKED_BYTES_AT_ANY_RATIO, size * config.MAX_UNPACKED_RATIO)


def _require_within(size: int, packed: int) -> None:
    if size > _allowed(packed):
        raise LimitExceededError("a member", "unpacked, it", _allowed(packed), "config.MAX_UNPACKED_RATIO")


PACKED: dict[str, Decode] = {"npy": npy, "npz": npz, "mp": msgpack, "msg": msgpack, "cbor": cbor}
# numpy, cbor2 and msgspec raise various exceptions for invalid bytes, such as `tokenize.TokenError`.
FAILURES: tuple[type[Exception], ...] = (Exception,)
