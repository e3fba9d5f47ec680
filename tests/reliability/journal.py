"""What a disk may hold after the power failed: the calls of a program, and the states that they may leave.

A file is an inode: its bytes, and those that were forced to the disk. A folder is an inode too: its names, and those
that were forced to the disk. Calls are replayed up to any of them; from there each `Loss` makes one state.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

EXCHANGE = 2


@dataclass(eq=False)
class File:
    data: bytes = b""
    safe: bytes = b""


@dataclass(eq=False)
class Folder:
    names: dict[str, File | Folder] = field(default_factory=dict)
    safe: dict[str, File | Folder] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    word: str
    number: int = 0
    paths: tuple[str, ...] = ()
    offset: int = 0
    data: bytes = b""


def calls_in(log: bytes) -> Iterator[Call]:
    """The entries of what `recorder.c` wrote down."""
    at = 0
    while at < len(log):
        end = log.index(b"\n", at)
        word, number, rest = log[at:end].decode().split(" ", 2)
        at = end + 1
        if word == "write":
            offset, size = map(int, rest.split())
            yield Call(word, int(number), (), offset, log[at : at + size])
            at += size
        elif rest.startswith("/"):
            yield Call(word, int(number), tuple(path for path in rest.split("\t") if path))
        else:
            yield Call(word, int(number), (), int(rest))


def as_on_disk(folder: Path) -> Folder:
    """A folder whose content has been on the disk for long; files with two names have two."""
    made, seen = Folder(), {}
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            made.names[path.name] = as_on_disk(path)
        else:
            content = path.read_bytes()
            made.names[path.name] = seen.setdefault(path.stat().st_ino, File(content, content))
    made.safe = dict(made.names)
    return made


class Disk:
    """A folder as the calls of a program change it."""

    def __init__(self, root: str, content: Folder) -> None:
        self.root, self.top = root, content
        self.open: dict[int, File | Folder | None] = {}
        self._truncated: set[int] = set()

    def at(self, path: str) -> tuple[Folder, str]:
        """The folder that a path is in, and its name there."""
        parent = self.top
        *folders, name = os.path.relpath(os.path.normpath(path), self.root).split("/")
        for folder in folders:
            parent = parent.names[folder]
        return parent, name

    def found(self, path: str) -> File | Folder | None:
        if os.path.normpath(path) == os.path.normpath(self.root):
            return self.top
        parent, name = self.at(path)
        return parent.names.get(name)

    def apply(self, call: Call) -> None:
        getattr(self, f"_{call.word}")(call)

    def _open(self, call: Call) -> None:
        self._truncated = {call.number} if call.offset else set()

    def _at(self, call: Call) -> None:
        inode = self.found(call.paths[0])
        if inode is None:
            parent, name = self.at(call.paths[0])
            inode = parent.names[name] = File()
        if call.number in self._truncated and isinstance(inode, File):
            inode.data = b""
        self.open[call.number] = inode

    def _close(self, call: Call) -> None:
        self.open.pop(call.number, None)

    def _write(self, call: Call) -> None:
        file = self.open[call.number]
        before = file.data[: call.offset].ljust(call.offset, b"\0")
        file.data = before + call.data + file.data[call.offset + len(call.data) :]

    def _truncate(self, call: Call) -> None:
        file = self.open[call.number]
        file.data = file.data[: call.offset].ljust(call.offset, b"\0")

    def _sync(self, call: Call) -> None:
        inode = self.open[call.number]
        if isinstance(inode, Folder):
            inode.safe = dict(inode.names)
        else:
            inode.safe = inode.data

    def _rename(self, call: Call) -> None:
        (one, a), (other, b) = map(self.at, call.paths)
        if call.number & EXCHANGE:
            one.names[a], other.names[b] = other.names[b], one.names[a]
        else:
            other.names[b] = one.names.pop(a)

    def _link(self, call: Call) -> None:
        other, b = self.at(call.paths[1])
        other.names[b] = self.found(call.paths[0])

    def _unlink(self, call: Call) -> None:
        parent, name = self.at(call.paths[0])
        del parent.names[name]

    _rmdir = _unlink

    def _mkdir(self, call: Call) -> None:
        parent, name = self.at(call.paths[0])
        parent.names[name] = Folder()


Bytes = Callable[[File], bytes]

LOSSES: dict[str, tuple[bool, Bytes]] = {
    # Whether names that were not forced to the disk are there, and which bytes files have.
    "nothing": (True, lambda file: file.data),
    "unforced bytes": (True, lambda file: file.safe),
    "the end of unforced bytes": (
        True,
        lambda file: file.data if file.data == file.safe else file.data[: len(file.data) // 2],
    ),
    "unforced bytes, but not their number": (
        True,
        lambda file: file.data if file.data == file.safe else bytes(len(file.data)),
    ),
    "unforced names": (False, lambda file: file.data),
    "all that was not forced": (False, lambda file: file.safe),
}


def lay_out(folder: Folder, place: Path, has_names: bool, content: Bytes) -> None:
    """Make a state real."""
    place.mkdir(exist_ok=True)
    for name, inode in (folder.names if has_names else folder.safe).items():
        if isinstance(inode, Folder):
            lay_out(inode, place / name, has_names, content)
        else:
            (place / name).write_bytes(content(inode))


def lay_out_mixed(folder: Folder, place: Path, rng: Random) -> None:
    """One of the many states in between: each folder has its new names or its old, each file its new bytes or its old."""
    place.mkdir(exist_ok=True)
    for name, inode in (folder.names if rng.random() < 0.5 else folder.safe).items():
        if isinstance(inode, Folder):
            lay_out_mixed(inode, place / name, rng)
        else:
            keep = rng.choice([0.0, rng.random(), 1.0])
            lost = inode.data[: int(len(inode.data) * keep)] if inode.data != inode.safe else inode.safe
            (place / name).write_bytes(rng.choice([inode.safe, lost]))
