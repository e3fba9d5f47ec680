"""Files of any store that fsspec knows: buckets, `memory://`, archives behind `::`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from crucible_datasets.exceptions import (
    ContentMismatchError,
    DataFilesNotFoundError,
    DownloadError,
    MissingPackageError,
)
from crucible_datasets.sources.base import Options, Source, SourceFile, scheme_of
from crucible_datasets.sources.downloads import on_this_disk
from crucible_datasets.sources.ranged import ranged

_ADDRESS = re.compile(r"\w+://[^;@]*$")
_PIECE = 4 << 20
_SHORTEST_SECRET = 6
_LONGEST_REASON = 300  # some stores answer with a page of XML
_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs", "az": "az", "abfs": "az", "abfss": "az", "adl": "az"}


def listed(url: str, options: Options) -> list[SourceFile]:
    """What is at or below an address, or matches a pattern, in one pass."""
    system, path = _system(url, options)
    base = path.partition("*")[0].rpartition("/")[0] if "*" in path else path
    with _named(url, options):
        system.invalidate_cache()  # others write there too
        found = system.glob(path, detail=True) if "*" in path else system.find(path, detail=True)
        if isinstance(found, list):  # adlfs, asked for what is one file
            found = {name: system.info(name) for name in found}
    files = {name: facts for name, facts in found.items() if facts.get("type") == "file"}
    if not files:
        raise DataFilesNotFoundError(url)
    return [_file(url, system, base, name, files[name]) for name in sorted(files)]


def opened(file: SourceFile, options: Options) -> BinaryIO:
    """The bytes of a file, fetched where they are read."""
    if file.size is None:
        return open(fetched([file], options)[0], "rb")
    system, path = _system(file.url, options)
    return ranged(lambda start, stop: _pieces(system, path, file.url, options, start, stop), file.size, file.url)


def fetched(files: Sequence[SourceFile], options: Options) -> list[str]:
    """The files on this disk."""

    def body(file: SourceFile, start: int) -> Iterator[bytes]:
        system, path = _system(file.url, options)
        with _named(file.url, options):
            size = file.size if file.size is not None else system.size(path)
        yield from _pieces(system, path, file.url, options, start, size)
        if start or size > _PIECE:
            _require_same(file, options)

    return on_this_disk(files, body)


def _pieces(system: Any, path: str, url: str, options: Options, start: int, stop: int) -> Iterator[bytes]:
    for at in range(start, stop, _PIECE):
        with _named(url, options):
            piece = system.cat_file(path, start=at, end=min(at + _PIECE, stop))
        yield piece


def _require_same(file: SourceFile, options: Options) -> None:
    """Raise if a file that came by several requests is not the one any more that was listed."""
    now = listed(file.url, options)[0].identity
    if now != file.identity:
        raise ContentMismatchError(file.url, f"the version {file.identity[1]}", f"a version {now[1]}")


def _system(url: str, options: Options) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    with _named(url, options):
        system, path = url_to_fs(url, **options)
    return system, path


def _file(url: str, system: Any, base: str, name: str, facts: Mapping[str, Any]) -> SourceFile:
    size = facts.get("size")
    told = [facts.get(key) for key in ("ETag", "etag", "md5Hash", "content_md5", "version_id", "generation")]
    times = [facts.get(key) for key in ("LastModified", "mtime", "updated", "last_modified", "created")]
    identity = next((str(one) for one in (*told, *times) if one is not None), "")
    whole = _address(url, system, name) if "::" not in url else _chained(url, name)
    path = os.path.relpath(f"/{name.lstrip('/')}", f"/{base.lstrip('/')}") if name != base else os.path.basename(name)
    return SourceFile(whole, path.replace(os.sep, "/"), size, (whole, identity, -1 if size is None else size))


def _address(url: str, system: Any, name: str) -> str:
    """The address of a file in the words of the one that was listed: its scheme, account, server."""
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    bucket, name = host.partition("@")[0], name.lstrip("/")
    # Stores put the bucket before the name; file servers leave out who they are.
    has_bucket = system._strip_protocol(url).strip("/") == f"{bucket}/{path}".strip("/")
    return f"{scheme}://{host}/{name.removeprefix(f'{bucket}/') if has_bucket else name}"


def _chained(url: str, name: str) -> str:
    """The address of a member: `zip://inner/file.csv::s3://bucket/a.zip`."""
    outer, _, rest = url.partition("::")
    return f"{scheme_of(outer)}://{name.lstrip('/')}::{rest}"


@contextmanager
def _named(url: str, options: Options) -> Iterator[None]:
    """What goes wrong at a store names the address, and nothing that only its user may know."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataFilesNotFoundError(url) from error
    except ImportError as error:
        if (extra := _EXTRAS.get(scheme_of(url))) is None:
            raise
        raise MissingPackageError(str(error.name or extra), extra) from error
    except Exception as error:  # each client has errors of its own, few of them an OSError
        reason = " ".join(str(error).split())
        for secret in _texts(options):
            reason = reason.replace(secret, "…")
        reason = f"{type(error).__name__}: {reason[:_LONGEST_REASON]}"
        denied = isinstance(error, PermissionError) or getattr(error, "status_code", None) in {401, 403}
        raise DownloadError(url, f"access was denied: {reason}" if denied else reason) from error


def _texts(options: Any) -> Iterator[str]:
    """What users say of a place that may be a secret: all texts but addresses."""
    if isinstance(options, Mapping):
        for value in options.values():
            yield from _texts(value)
    elif isinstance(options, str) and len(options) >= _SHORTEST_SECRET and not _ADDRESS.match(options):
        yield options


SOURCE = Source("cloud", ("memory", "s3", "gs", "gcs", "az", "abfs", "zip", "tar"), listed, opened, fetched)
