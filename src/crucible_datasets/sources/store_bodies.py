"""Contents of stores as they arrive: a killed download loses less than 1 MiB of what has arrived.

Clients return a response as a whole, and small requests are slow, so the bodies of large ones are read here.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, suppress
from typing import Any

Body = Callable[[Any, str, int, int], AsyncGenerator[bytes]]  # the bytes of a file from start to stop, as they arrive
AT_ONCE = 1 << 19  # bytes; shorter files come in one request
_READ = 1 << 17
_PIECE = 1 << 20
_STALL = 60.0  # seconds without a byte


def store_body(system: Any, path: str, start: int, stop: int) -> Iterator[bytes]:
    """The bytes of a file from start to stop; a broken connection is replaced."""
    streams = True
    while start < stop:
        began = start
        if streams:
            with suppress(Exception):  # the client repeats the request below, or says what is wrong
                for piece in _streamed(system, path, start, stop):
                    start += len(piece)
                    yield piece
            streams = start > began  # a store that streams nothing is not asked for the whole rest again and again
        if start - began < _READ and start < stop:
            piece = system.cat_file(path, start=start, end=min(start + _PIECE, stop))
            if not piece:
                return
            start += len(piece)
            yield piece


def _streamed(system: Any, path: str, start: int, stop: int) -> Iterator[bytes]:
    """The bytes of one request; none if only whole responses can be had."""
    from fsspec import AbstractFileSystem

    if system.async_impl:
        protocols = [system.protocol] if isinstance(system.protocol, str) else system.protocol
        for body in (BODIES[name] for name in protocols if name in BODIES):
            return _in_step(system.loop, _gathered(body(system, path, start, stop)))
    elif type(system).cat_file is AbstractFileSystem.cat_file:  # which opens the file again for every piece
        return _read_on(system, path, start, stop)
    return iter(())


def _read_on(system: Any, path: str, start: int, stop: int) -> Iterator[bytes]:
    with system.open(path, "rb", block_size=AT_ONCE) as stream:  # a read requests as much again in advance
        stream.seek(start)
        while start < stop and (piece := stream.read(min(AT_ONCE, stop - start))):
            start += len(piece)
            yield piece


def _in_step(loop: Any, pieces: AsyncGenerator[bytes]) -> Iterator[bytes]:
    """What an asynchronous generator yields in the thread of its loop."""
    from fsspec.asyn import sync

    try:
        while piece := sync(loop, anext, pieces, b""):
            yield piece
    finally:
        with suppress(Exception):  # it may still be running if it was interrupted, which is what must be known
            sync(loop, pieces.aclose)


async def _gathered(pieces: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """Pieces joined to larger ones, since every change of thread takes time."""
    found, failure = bytearray(), None
    async with aclosing(pieces):
        try:
            async for piece in pieces:
                found += piece
                if len(found) >= AT_ONCE:
                    yield bytes(found)
                    found.clear()
        except Exception as error:  # noqa: BLE001 - raised below, after what arrived before it
            failure = error
    if found:
        yield bytes(found)
    if failure is not None:
        raise failure


async def _s3(system: Any, path: str, start: int, stop: int) -> AsyncGenerator[bytes]:
    bucket, key, version = system.split_path(path)
    which = {"VersionId": version} if version else {}
    response = await system._call_s3("get_object", Bucket=bucket, Key=key, Range=_range(start, stop), **which)
    async with response["Body"] as body:
        _require_start(start, response.get("ContentRange", ""))
        while piece := await body.read(_READ):
            yield piece


async def _gs(system: Any, path: str, start: int, stop: int) -> AsyncGenerator[bytes]:
    from aiohttp import ClientTimeout

    await system._set_session()
    how = {"params": system._get_params({}), "headers": system._get_headers({"Range": _range(start, stop)})}
    limits = ClientTimeout(total=system.requests_timeout, sock_read=_STALL)
    async with system.session.get(system.url(path), timeout=limits, **how) as response:
        response.raise_for_status()
        _require_start(start, response.headers.get("Content-Range", ""))
        while piece := await response.content.read(_READ):
            yield piece


async def _az(system: Any, path: str, start: int, stop: int) -> AsyncGenerator[bytes]:
    container, name, version = system.split_path(path)
    async with system.service_client.get_blob_client(container, name) as client:
        # The public method reads up to 32 MB before it returns anything.
        how = {"range": _range(start, stop), "version_id": version, "retry_total": 0, **system._timeout_kwargs}
        pieces: Any = await client._client.blob.download(**how)
        response = pieces.response
        try:
            _require_start(start, response.headers.get("Content-Range", ""))
            async for piece in pieces:
                yield piece
        finally:
            response.internal_response.close()


def _range(start: int, stop: int) -> str:
    return f"bytes={start}-{stop - 1}"


def _require_start(start: int, stated: str) -> None:
    """Raise if a server has sent another range, or the whole file."""
    if not stated.startswith(f"bytes {start}-"):
        raise ValueError(stated)


BODIES: dict[str, Body] = {"s3": _s3, "gs": _gs, "az": _az}
