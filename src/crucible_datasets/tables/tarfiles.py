"""The bytes of members of tar archives: memory-mapped if local, by range requests if remote."""

from __future__ import annotations

import mmap
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any, BinaryIO, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets.exceptions import ContentMismatchError, DataFilesNotFoundError, FileFormatError
from crucible_datasets.forking import cached_property
from crucible_datasets.records import dataclass
from crucible_datasets.tables.memory import copied
from crucible_datasets.tables.rowgroups import Identity, identity_of, is_same

Longs = npt.NDArray[np.int64]
_MOST_MAPPED = 128  # each holds a file descriptor, of which a process often has 1,024
_NEAR = 64 << 10  # smaller gaps between ranges are fetched too, to save a request
_AT_A_TIME = 8
_MUCH = 1 << 17  # bytes


class Archive(Protocol):
    """An archive with random access."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str | None:
        """Its local path; None if it is remote."""

    def piece(self, offset: int, size: int) -> bytes:
        """The bytes of one member."""

    def pieces(self, offsets: Longs, sizes: Longs) -> pa.Buffer:
        """The bytes of several members, concatenated."""

    def let_go(self, start: int, stop: int) -> None:
        """Free the memory of bytes that were read; the system may still cache them."""


@dataclass(frozen=True, eq=False)
class LocalArchive:
    """A local archive, mapped while it is among those used last."""

    path: str
    identity: Identity
    name: str
    end: int  # after the last requested byte

    def __reduce__(self) -> tuple[Any, ...]:
        return LocalArchive, (self.path, self.identity, self.name, self.end)

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Its identity, which differs from that of other files at the same path."""
        return self.path, self.identity

    def piece(self, offset: int, size: int) -> bytes:
        data = self._mapped()[offset : offset + size]
        self._require_same()
        return data

    def pieces(self, offsets: Longs, sizes: Longs) -> pa.Buffer:
        mapped = self._mapped()
        data = copied(offsets + pa.py_buffer(mapped).address, sizes)
        self._require_same()
        return data

    def _require_same(self) -> None:
        """Raise if the archive was written again: offsets belong to its content. One that was replaced stays mapped."""
        try:
            identity = identity_of(self.path)
        except FileNotFoundError:
            return
        if identity[0] == self.identity[0] and not is_same(identity, self.identity):
            raise _changed(self.name)

    def let_go(self, start: int, stop: int) -> None:
        mapped = self._mapped()
        if stop - start >= _MUCH and hasattr(mapped, "madvise"):
            start -= start % mmap.PAGESIZE
            mapped.madvise(mmap.MADV_DONTNEED, start, stop - start)

    def _mapped(self) -> mmap.mmap:
        found = _MAPPED.get(self)
        if found.size() < self.end:  # Reading beyond the end of a truncated file would kill the process.
            raise _changed(self.name)
        return found


class _Mapped:
    """The archives that were used last."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[Any, ...], mmap.mmap] = OrderedDict()
        self.after_fork()

    def after_fork(self) -> None:
        self._lock = threading.Lock()

    def get(self, archive: LocalArchive) -> mmap.mmap:
        with self._lock:
            found = self._held.get(archive.key)
            if found is None:
                found = self._held[archive.key] = _map(archive)
                while len(self._held) > _MOST_MAPPED:
                    self._held.popitem(last=False)  # closed when the last reader is done
            else:
                self._held.move_to_end(archive.key)
            return found


def _map(archive: LocalArchive) -> mmap.mmap:
    try:
        with open(archive.path, "rb") as file:
            if not is_same(identity_of(archive.path), archive.identity):
                raise _changed(archive.name)
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError as error:
        raise _changed(archive.name) from error


_MAPPED = _Mapped()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_MAPPED.after_fork)


@dataclass(frozen=True)
class RemoteArchive:
    """A remote archive: only the requested ranges are fetched."""

    open: Callable[[], BinaryIO]
    name: str
    require_same: Callable[[], None]  # raises if the archive has changed since it was indexed

    @property
    def path(self) -> str | None:
        return None

    def piece(self, offset: int, size: int) -> bytes:
        return self.pieces(np.array([offset]), np.array([size])).to_pybytes()

    def pieces(self, offsets: Longs, sizes: Longs) -> pa.Buffer:
        runs = list(_runs(offsets, sizes))
        if len(runs) == 1:
            found = self._fetched(runs)
        else:
            shares = [runs[start::_AT_A_TIME] for start in range(min(_AT_A_TIME, len(runs)))]
            with ThreadPoolExecutor(len(shares)) as pool:
                found = {start: data for part in pool.map(self._fetched, shares) for start, data in part.items()}
        self._require_same()  # after reading: bytes from before a change are valid
        begins = np.array(sorted(found))
        homes = np.searchsorted(begins, offsets, side="right") - 1
        places = zip(begins[homes].tolist(), offsets.tolist(), sizes.tolist(), strict=True)
        parts = [memoryview(found[begin])[at - begin : at - begin + size] for begin, at, size in places]
        return pa.py_buffer(b"".join(parts))

    def let_go(self, start: int, stop: int) -> None:
        """Nothing is held."""

    def _require_same(self) -> None:
        try:
            self.require_same()
        except (ContentMismatchError, DataFilesNotFoundError) as error:
            raise _changed(self.name) from error

    def _fetched(self, runs: Sequence[tuple[int, int]]) -> dict[int, bytes]:
        found = {}
        try:
            with self.open() as stream:
                for start, stop in runs:
                    stream.seek(start)
                    found[start] = _exactly(stream, stop - start, self.name)
        except ContentMismatchError as error:
            raise _changed(self.name) from error
        return found


def _exactly(stream: Any, size: int, name: str) -> bytes:
    parts = []
    while size and (data := stream.read(size)):
        parts.append(data)
        size -= len(data)
    if size:
        raise _changed(name)
    return b"".join(parts)


def _changed(name: str) -> FileFormatError:
    return FileFormatError(name, "it was changed or removed after the dataset was loaded; load it again.")


def _runs(offsets: Longs, sizes: Longs) -> Iterator[tuple[int, int]]:
    """The ranges that hold all members, with neighbouring ones merged."""
    order = np.argsort(offsets, kind="stable")
    starts, stops = offsets[order], np.maximum.accumulate((offsets + sizes)[order])
    which = np.cumsum(np.concatenate([[0], starts[1:] - stops[:-1] > _NEAR]))
    for _, group in groupby(zip(which.tolist(), starts.tolist(), stops.tolist(), strict=True), lambda each: each[0]):
        held = list(group)
        yield held[0][1], held[-1][2]
