"""`Decoder`, the interface of decoders, their registry, and the decoder of each media type.

A decoder is one file with one `DECODER`, which `DECODERS` finds by name. It has a function for each of its media
types, which takes the `Content` of a value and its feature.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from functools import lru_cache
from typing import Any, BinaryIO

from crucible_datasets import config
from crucible_datasets.exceptions import (
    ArgumentError,
    BadMediaError,
    DatasetsError,
    MissingMediaError,
    OversizedMediaError,
)
from crucible_datasets.records import dataclass
from crucible_datasets.registry import Registry


class TooLargeError(Exception):
    """Raised by decoders for content that is too large; has the limit and its setting."""


@dataclass(frozen=True)
class Content:
    """The content of a media value: bytes or a local file, and the path in the data."""

    data: bytes | None
    file: str | None
    name: str | None = None
    sibling: Callable[[str], bytes] | None = None  # reads another file, given relative to this one

    def stream(self) -> BinaryIO:
        """The bytes as an open file."""
        return io.BytesIO(self.data) if self.data is not None else open(str(self.file), "rb")

    def read(self) -> bytes:
        """All bytes."""
        if self.data is not None:
            return self.data
        with self.stream() as file:
            return file.read()

    @property
    def size(self) -> int:
        return len(self.data) if self.data is not None else os.path.getsize(str(self.file))

    @property
    def extension(self) -> str:
        """The extension of its name in lower case, with the dot."""
        return os.path.splitext(self.name or "")[1].lower()

    def within(self, num_bytes: float, what: str) -> None:
        """Raise if the value would need more memory than the setting allows."""
        if num_bytes > config.MAX_MEDIA_BYTES:
            raise TooLargeError(what, config.MAX_MEDIA_BYTES, "CRUCIBLE_MAX_MEDIA_BYTES")


Opens = Callable[[Content, Any], Any]
Begins = Callable[[Content, Any], Callable[[], Any]]


@dataclass(frozen=True)
class Decoder:
    """A library that decodes media; `opens` has a function per media type.

    A function in `begins` does the part of the work that does not run in parallel threads, and returns a function
    that does the rest in any thread.
    """

    name: str
    opens: Mapping[str, Opens]
    aliases: tuple[str, ...] = ()
    begins: Mapping[str, Begins] = field(default_factory=dict)


DECODERS: Registry[Decoder] = Registry("decoder", "crucible_datasets.decoders", "DECODER")
USUAL = {
    "Image": "pillow",
    "Audio": "soundfile",
    "Video": "pyav",
    "Pdf": "pdfplumber",
    "Nifti": "nibabel",
    "Mesh": "trimesh",
}


def decoder_of(kind: str) -> Decoder | None:
    """The decoder of a media type: as configured, or the default; None if it has none."""
    chosen = {**USUAL, **_stated(config.CRUCIBLE_MEDIA_DECODERS)}
    found = DECODERS[chosen[kind]] if kind in chosen else None
    if found is not None and kind not in found.opens:
        raise ArgumentError(
            "CRUCIBLE_MEDIA_DECODERS", f"{kind}={found.name}", f"{found.name} decodes {', '.join(sorted(found.opens))}."
        )
    return found


@contextmanager
def decoding_errors(kind: str, decoder: str, path: str | None) -> Iterator[None]:
    """Turn all errors of a library about untrusted bytes into a `BadMediaError`."""
    try:
        yield
    except TooLargeError as error:
        raise OversizedMediaError(kind, decoder, path, *error.args) from error
    except DatasetsError:
        raise
    except FileNotFoundError as error:
        raise MissingMediaError(kind, decoder, path, "there is no such file") from error
    except Exception as error:
        raise BadMediaError(kind, decoder, path, f"{type(error).__name__}: {error}") from error


@lru_cache(maxsize=8)
def _stated(setting: str) -> dict[str, str]:
    """The decoders in a setting such as `Audio=pyav,Image=mine`, by media type."""
    pairs = [part.partition("=") for part in setting.split(",") if part.strip()]
    for kind, sign, name in pairs:
        if not (kind.strip() and sign and name.strip()):
            raise ArgumentError("CRUCIBLE_MEDIA_DECODERS", setting, "expected pairs such as Audio=pyav,Image=pillow.")
    return {kind.strip(): name.strip() for kind, _, name in pairs}
