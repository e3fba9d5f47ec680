"""What is appended stands behind a copy of what is there: stores have no other way to write to the end of a file."""

from __future__ import annotations

from typing import BinaryIO


def continued(before: BinaryIO, stream: BinaryIO, end: bytes) -> None:
    """Copy what is there, and behind it what it should end with, if it does not."""
    last = end
    while data := before.read(1 << 20):
        stream.write(data)
        last = data
    if not last.endswith(end):
        stream.write(end)
