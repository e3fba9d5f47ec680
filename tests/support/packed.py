"""Files and folders in every kind of compression and archive."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Iterable

import pyarrow as pa

COMPRESSIONS = ("gz", "bz2", "xz", "zst", "lz4")
TARS = (".tar", *(f".tar.{kind}" for kind in COMPRESSIONS))
ARCHIVES = (".zip", *TARS)


def compressed(data: bytes, kind: str) -> bytes:
    if kind in ("zst", "lz4"):
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, {"zst": "zstd", "lz4": "lz4"}[kind]) as stream:
            stream.write(data)
        return sink.getvalue().to_pybytes()
    return {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[kind](data)


def tar_of(members: Iterable[tuple[str | tarfile.TarInfo, bytes]], format: int = tarfile.PAX_FORMAT) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w", format=format) as archive:
        for member, data in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(data) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(data))
    return sink.getvalue()


def zip_of(members: Iterable[tuple[str | zipfile.ZipInfo, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", method) as archive:
        for member, data in members:
            archive.writestr(member, data, method)
    return sink.getvalue()


def archive_of(members: Iterable[tuple[str, bytes]], extension: str) -> bytes:
    if extension == ".zip":
        return zip_of(members)
    data = tar_of(members)
    return data if extension == ".tar" else compressed(data, extension.removeprefix(".tar."))
