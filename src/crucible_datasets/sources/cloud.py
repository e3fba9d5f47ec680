"""Files on any storage that fsspec supports: buckets, `memory://`, archives (`zip://…::…`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from crucible_datasets.exceptions import ContentMismatchError, DataFilesNotFoundError, without_secrets
from crucible_datasets.sources.base import Options, Source, SourceFile, scheme_of
from crucible_datasets.sources.downloads import downloaded
from crucible_datasets.sources.ranged import ranged
from crucible_datasets.sources.store_bodies import AT_ONCE, store_body
from crucible_datasets.sources.store_errors import store_errors
from crucible_datasets.sources.wildcards import readings

_PIECE = 4 << 20


def listed(url: str, options: Options) -> list[SourceFile]:
    """The files at or below a URL, or those that match a pattern, in one pass."""
    system, path = _system(url, options)
    for base, is_pattern in readings(path):
        with store_errors(url, options):
            system.invalidate_cache()  # others write there too
            found = system.glob(path, detail=True) if is_pattern else system.find(path, detail=True)
            if isinstance(found, list):  # adlfs returns a list for a single file
                found = {name: system.info(name) for name in found}
        files = {name: facts for name, facts in found.items() if facts.get("type") == "file"}
        if files:
            return [_file(url, system, base, name, files[name]) for name in sorted(files)]
    raise DataFilesNotFoundError(url)


def found(url: str, options: Options) -> SourceFile | None:
    """The file at a URL, whatever characters its name has; None if only a folder is there."""
    system, path = _system(url, options)
    with store_errors(url, options):
        system.invalidate_cache()
        facts = system.info(path)
    return _file(url, system, path, path, facts) if facts.get("type") == "file" else None


def names_in(url: str, options: Options) -> list[str] | None:
    """The names in a folder, without what is below them; None if it is a file."""
    system, path = _system(url, options)
    with store_errors(url, options):
        system.invalidate_cache()
        entries = {facts["name"].strip("/") for facts in system.ls(path, detail=True)}
    inside = entries - {path.strip("/")}  # a store may keep an object for the folder itself
    if entries and not inside and found(url, options) is not None:
        return None
    return sorted(name.rpartition("/")[2] for name in inside)


def matched(url: str, options: Options) -> list[str]:
    """The URLs of the files and folders that match a pattern; of folders alone if it ends with `/`."""
    system, path = _system(url.rstrip("/"), options)
    for base, is_pattern in readings(path):
        with store_errors(url, options):
            system.invalidate_cache()
            entries = system.glob(path, detail=True) if is_pattern else _at(system, path)
        names = {name for name, facts in entries.items() if facts.get("type") == "directory" or not url.endswith("/")}
        if names := names - ({base} if is_pattern else set()):
            return sorted(_url_of(url, system, name) for name in names)
    return []


def _at(system: Any, path: str) -> dict[str, Any]:
    try:
        return {path: system.info(path)}
    except FileNotFoundError:
        return {}


def opened(file: SourceFile, options: Options) -> BinaryIO:
    """A stream that fetches bytes as they are read."""
    if file.size is None:
        return open(fetched([file], options)[0], "rb")
    system, path = _system(file.url, options)
    pieces = partial(_pieces, system, path, file.url, options)
    return ranged(pieces, file.size, without_secrets(file.url))


def fetched(files: Sequence[SourceFile], options: Options) -> list[str]:
    """Download files; their local paths."""

    def body(file: SourceFile, start: int) -> Iterator[bytes]:
        system, path = _system(file.url, options)
        with store_errors(file.url, options):
            size = file.size if file.size is not None else system.size(path)
            yield from store_body(system, path, start, size)
        if start or size > AT_ONCE:
            require_same(file, options)

    return downloaded(files, body)


def _pieces(system: Any, path: str, url: str, options: Options, start: int, stop: int) -> Iterator[bytes]:
    for at in range(start, stop, _PIECE):
        with store_errors(url, options):
            piece = system.cat_file(path, start=at, end=min(at + _PIECE, stop))
        yield piece


def require_same(file: SourceFile, options: Options) -> None:
    """Raise if a file has changed since it was listed: downloads and streams make several requests."""
    again = found(file.url, options)
    now = again.identity if again is not None else ("", "that is a folder")
    if now != file.identity:
        raise ContentMismatchError(without_secrets(file.url), f"the version {file.identity[1]}", f"a version {now[1]}")


def _system(url: str, options: Options) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    with store_errors(url, options):
        system, path = url_to_fs(url, **options)
    return system, path


def _file(url: str, system: Any, base: str, name: str, facts: Mapping[str, Any]) -> SourceFile:
    size = facts.get("size")
    versions = [facts.get(key) for key in ("ETag", "etag", "md5Hash", "content_md5", "version_id", "generation", "CRC")]
    times = [facts.get(key) for key in ("LastModified", "mtime", "updated", "last_modified", "created")]
    # Of one file, a listing may state the time as a date, and a look at the file as a number.
    moments = [time if (moment := _seconds(time)) is None else moment for time in times if time is not None]
    identity = next((str(one) for one in (*versions, *moments) if one is not None), "")
    whole = _url_of(url, system, name)
    path = os.path.relpath(f"/{name.lstrip('/')}", f"/{base.lstrip('/')}") if name != base else os.path.basename(name)
    named = (whole, identity, -1 if size is None else size)
    modified = next((moment for moment in moments if isinstance(moment, float)), None)
    return SourceFile(whole, path.replace(os.sep, "/"), size, named, is_below=name != base, modified=modified)


def _seconds(time: Any) -> float | None:
    """A time as stores state it, in seconds since 1970."""
    if isinstance(time, int | float):
        return float(time)
    try:
        return (time if isinstance(time, datetime) else datetime.fromisoformat(str(time))).timestamp()
    except ValueError:
        return None


def _url_of(url: str, system: Any, name: str) -> str:
    return _address(url, system, name) if "::" not in url else _chained(url, name)


def _address(url: str, system: Any, name: str) -> str:
    """The URL of a file, with scheme, account and server of the URL that was listed."""
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    bucket, name = host.partition("@")[0], name.lstrip("/")
    # Object stores prefix names with the bucket; file servers leave the host out.
    has_bucket = system._strip_protocol(url).strip("/") == f"{bucket}/{path}".strip("/")
    return f"{scheme}://{host}/{name.removeprefix(f'{bucket}/') if has_bucket else name}"


def _chained(url: str, name: str) -> str:
    """The URL of a member: `zip://inner/file.csv::s3://bucket/a.zip`."""
    outer, _, rest = url.partition("::")
    return f"{scheme_of(outer)}://{name.lstrip('/')}::{rest}"


SCHEMES = ("memory", "s3", "gs", "gcs", "az", "abfs", "zip", "tar")
SOURCE = Source("cloud", SCHEMES, listed, opened, fetched, require_same=require_same)
