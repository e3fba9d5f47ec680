"""A fast path for ordinary members: those with a single header, whose content is in the buffer already.

All others are left to `members`, which reads any member at a third of the speed. Names of a sample begin with the
same key, so each key and each extension is parsed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct
from zlib import adler32

from crucible_datasets import config
from crucible_datasets.formats.webdataset.headers import BLOCK, expected
from crucible_datasets.formats.webdataset.member import Entry, text_of
from crucible_datasets.formats.webdataset.window import Window

_MOST_EXTENSIONS = 1000
_FIELDS = Struct("100s24x11sB12x8sB188xB166x").unpack  # name, size, its end, checksum, type, prefix[0]
_FILE = ord("0")
_NOT_BLANK_BITS = 0xFF & ~ord(" ")  # bits that neither a zero nor a space has


class Endings(dict[bytes, str]):
    """A cache of the extension that follows the key in a name field; empty if it is not ordinary."""

    def __missing__(self, field: bytes) -> str:
        if len(self) >= _MOST_EXTENSIONS:
            self.clear()
        ending = text_of(field.partition(b"\0")[0])
        self[field] = found = "" if "/" in ending else ending
        return found


def ordinary(window: Window, wanted: Callable[[str], bool] | None, endings: Endings) -> Iterator[Entry]:
    """The members up to the first that is not ordinary, where the window is left."""
    data, at, base = window.data, window.at, window.base
    stop, largest = len(data), config.MAX_MEMBER_BYTES
    key, begins, length = "", b"\0", 0
    while (start := at + BLOCK) <= stop:
        block = data[at:start]
        name, octal, end, checksum, kind, prefix = _FIELDS(block)
        if kind != _FILE or prefix or end & _NOT_BLANK_BITS or adler32(block) & 0xFFFF != expected[checksum]:
            break
        if not name.startswith(begins):
            key, begins = key_of(name)
            length = len(begins)
            if not key:
                break
        extension = endings[name[length:]]
        try:
            size = int(octal, 8)
        except ValueError:
            break
        after = start + size + -size % BLOCK
        if not extension or after > stop or not 0 <= size <= largest:
            break
        content = data[start : start + size] if wanted is None or wanted(extension) else None
        yield key, extension, content, base + at, base + start, size, None
        window.at = at = after


def key_of(name: bytes) -> tuple[str, bytes]:
    """The key of a name, and its bytes with the dot behind them; empty if the name is skipped."""
    bare = name.partition(b"\0")[0]
    begin = bare.rfind(b"/") + 1
    dot = bare.find(b".", begin)
    if dot <= begin or b"__MACOSX" in bare:
        return "", b"\0"
    return text_of(bare[:dot]), bare[: dot + 1]
