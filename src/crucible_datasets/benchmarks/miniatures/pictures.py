"""Images: small PNG files whose colour depends on the class."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any

from crucible_datasets.benchmarks.miniatures.base import Draw, Row, maker
from crucible_datasets.features import ClassLabel, Image

SIDE = 8


def png(colour: tuple[int, int, int], spot: int) -> bytes:
    """An image of one colour with a white spot."""
    line = [colour] * SIDE
    lines = [list(line) for _ in range(SIDE)]
    lines[spot // SIDE][spot % SIDE] = (255, 255, 255)
    raw = b"".join(b"\0" + bytes(value for dot in one for value in dot) for one in lines)
    # Stored without compression, whose result depends on the version of zlib.
    head = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(raw, 0)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _classes(word: str, count: int) -> list[str]:
    return [f"{word} {number}" for number in range(count)]


def _of(source: str, word: str, count: int, **more: Any) -> None:
    kinds = {"image": Image(), "label": ClassLabel(names=_classes(word, count)), **more}

    def row(draw: Draw, config: str, split: str, number: int) -> Row:
        label = number * 7 % count
        colour = (label * 5 % 256, label * 11 % 256, draw.number(0, 255))
        image = {"bytes": png(colour, draw.number(0, SIDE * SIDE - 1)), "path": None}
        return {"image": image, "label": label, **dict.fromkeys(more, label % 2)}

    registered: Callable[..., Any] = maker(source, kinds)
    registered(row)


_of("dpdl-benchmark/caltech101", "object", 102)
_of("dpdl-benchmark/oxford_flowers102", "flower", 102)
_of("dpdl-benchmark/oxford_iiit_pet", "breed", 37, species=ClassLabel(names=["cat", "dog"]))
_of("tanganke/stanford_cars", "car", 196)
