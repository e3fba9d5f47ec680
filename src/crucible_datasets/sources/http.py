"""Files on web servers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from crucible_datasets.exceptions import (
    ArgumentError,
    ContentMismatchError,
    DataFilesNotFoundError,
    DownloadError,
    without_secrets,
)
from crucible_datasets.sources.base import Options, Source, SourceFile
from crucible_datasets.sources.downloads import downloaded
from crucible_datasets.sources.headers import content_length
from crucible_datasets.sources.ranged import ranged
from crucible_datasets.sources.web import Web


def listed(url: str, options: Options) -> list[SourceFile]:
    """The one file at a URL: web servers have no listings."""
    if "*" in urlsplit(url).path:
        raise ArgumentError(
            "data_files", url, "web servers do not list their files, so a pattern cannot be used: name each file."
        )
    try:
        headers = _web(url, options).head(url)
    except DownloadError as error:
        if error.status in {404, 410}:
            raise DataFilesNotFoundError(error.url) from error
        raise
    identity = headers.get("ETag") or _time(headers)
    size = content_length(headers, url)
    return [SourceFile(url, _name(url), size, (url, identity, -1 if size is None else size), headers.get("ETag", ""))]


def _name(url: str) -> str:
    """The last name in a path; where there is none, the host's."""
    parts = urlsplit(url)
    name = os.path.basename(unquote(parts.path))
    return name if name.strip(".") else str(parts.hostname)


def _time(headers: Mapping[str, str]) -> str:
    """The modification time; made unique if the file may change again within the second that the header states."""
    stated, now = headers.get("Last-Modified", ""), headers.get("Date", "")
    try:
        is_past = parsedate_to_datetime(now) - parsedate_to_datetime(stated) > timedelta(seconds=1)
    except (ValueError, TypeError):
        is_past = False
    return stated if is_past else f"{stated} {time.time_ns()}"


def opened(file: SourceFile, options: Options) -> BinaryIO:
    """A stream that fetches bytes as they are read; the whole file is downloaded if its size is unknown."""
    web = _web(file.url, options)
    if file.size is None:
        return open(fetched([file], options)[0], "rb")
    body = partial(web.body, file.url, version=file.known or "", size=file.size)
    return ranged(body, file.size, file.url)


def fetched(files: Sequence[SourceFile], options: Options) -> list[str]:
    """Download files; their local paths."""

    def body(file: SourceFile, start: int) -> Iterator[bytes]:
        return _web(file.url, options).body(file.url, start, version=file.known or "")

    return downloaded(files, body)


def require_same(file: SourceFile, options: Options) -> None:
    """Raise if a file has changed since it was listed. With an ETag, every response has been checked already."""
    if file.known:
        return
    headers = _web(file.url, options).head(file.url)
    stated, size = headers.get("Last-Modified", ""), content_length(headers, file.url)
    if not str(file.identity[1]).startswith(stated) or size not in (None, file.size):
        raise ContentMismatchError(without_secrets(file.url), f"{file.size} bytes of {file.identity[1]}", stated)


def _web(url: str, options: Options) -> Web:
    """A client that sends the user's headers to the host of the URL only, and not over http if the URL is https."""
    stated, named = dict(options.get("headers") or {}), urlsplit(url)

    def headers(asked: str) -> Mapping[str, str]:
        there = urlsplit(asked)
        return stated if there.netloc == named.netloc and there.scheme in {named.scheme, "https"} else {}

    return Web(headers)


SOURCE = Source("http", ("http", "https"), listed, opened, fetched, require_same=require_same)
