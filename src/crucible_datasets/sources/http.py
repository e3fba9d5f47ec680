"""Files on web servers."""

from __future__ import annotations

import os
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from email.utils import parsedate_to_datetime
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
from crucible_datasets.sources.downloads import downloaded, is_downloaded
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
        headers = _web(url, options).head(_without_user(url))
    except DownloadError as error:
        if error.status in {404, 410}:
            raise DataFilesNotFoundError(error.url) from error
        raise
    identity = headers.get("ETag") or _time(headers)
    size = content_length(headers, url)
    named = url, identity, -1 if size is None else size
    return [SourceFile(url, _name(url), size, named, headers.get("ETag", ""), modified=_modified(headers))]


def _modified(headers: Mapping[str, str]) -> float | None:
    try:
        return parsedate_to_datetime(headers.get("Last-Modified", "")).timestamp()
    except (ValueError, TypeError):
        return None


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
    """The local file if it has been downloaded, else a stream that fetches bytes as they are read.

    The whole file is downloaded if its size is unknown.
    """
    if file.size is None or is_downloaded(file):
        return open(fetched([file], options)[0], "rb")
    return ranged(_Ranges(file, options), file.size, without_secrets(file.url))


class _WholeFileError(Exception):
    """The server sends the whole file, although a later part was asked for."""


class _Ranges:
    """The ranges of a file. A server that knows no ranges is asked once, for all: each range would be a download."""

    def __init__(self, file: SourceFile, options: Options) -> None:
        self._file, self._options = file, options
        self._web = replace(_web(file.url, options), check=self._note)
        self._start, self._has_ranges = 0, True

    def __call__(self, start: int, stop: int) -> Iterator[bytes]:
        self._start = start
        with suppress(_WholeFileError):
            if self._has_ranges:
                url, version = _without_user(self._file.url), self._file.known or ""
                yield from self._web.body(url, start, stop, version=version, size=self._file.size)
                return
        with open(fetched([self._file], self._options)[0], "rb") as here:
            here.seek(start)
            yield here.read(stop - start)

    def _note(self, headers: Mapping[str, str]) -> None:
        is_whole = headers.get("Content-Length") == str(self._file.size) and "Content-Encoding" not in headers
        if not is_whole or "Content-Range" in headers:
            return  # a part, or something else than was listed
        self._has_ranges = False
        if self._start:
            raise _WholeFileError


def fetched(files: Sequence[SourceFile], options: Options) -> list[str]:
    """Download files; their local paths."""

    def body(file: SourceFile, start: int) -> Iterator[bytes]:
        return _web(file.url, options).body(_without_user(file.url), start, version=file.known or "")

    return downloaded(files, body)


def require_same(file: SourceFile, options: Options) -> None:
    """Raise if a file has changed since it was listed. With an ETag, every response has been checked already."""
    if file.known:
        return
    headers = _web(file.url, options).head(_without_user(file.url))
    stated, size = headers.get("Last-Modified", ""), content_length(headers, file.url)
    if not str(file.identity[1]).startswith(stated) or size not in (None, file.size):
        raise ContentMismatchError(without_secrets(file.url), f"{file.size} bytes of {file.identity[1]}", stated)


def _web(url: str, options: Options) -> Web:
    """A client that sends the user's headers to the host of the URL only, and not over http if the URL is https."""
    named = urlsplit(_without_user(url))
    stated = {**_password(url), **dict(options.get("headers") or {})}

    def headers(asked: str) -> Mapping[str, str]:
        there = urlsplit(asked)
        return stated if there.netloc == named.netloc and there.scheme in {named.scheme, "https"} else {}

    return Web(headers)


def _without_user(url: str) -> str:
    """A URL as it is requested: HTTP clients log URLs, so the password goes into a header."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl() if "@" in parts.netloc else url


def _password(url: str) -> Mapping[str, str]:
    """The header that stands for `user:password@` in a URL."""
    named, mark, _ = urlsplit(url).netloc.rpartition("@")
    user, _, password = named.partition(":")
    pair = f"{unquote(user)}:{unquote(password)}".encode()
    return {"Authorization": f"Basic {b64encode(pair).decode()}"} if mark else {}


SOURCE = Source("http", ("http", "https"), listed, opened, fetched, require_same=require_same)
