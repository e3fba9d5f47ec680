"""Appending by writing the old bytes again: object stores cannot append."""

from __future__ import annotations

from typing import BinaryIO


def copy_before_append(before: BinaryIO, stream: BinaryIO, end: bytes) -> None:
    """Copy a file to a stream, and add `end` unless the file ends with it."""
    last = end
    while data := before.read(1 << 20):
        stream.write(data)
        last = data
    if not last.endswith(end):
        stream.write(end)
