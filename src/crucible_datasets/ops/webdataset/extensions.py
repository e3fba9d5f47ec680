"""Extensions of files in samples, by type and by the bytes of media."""

from __future__ import annotations

import os
from dataclasses import field
from typing import Any

from crucible_datasets.features.media import Media
from crucible_datasets.records import dataclass

# Extensions that this library, Hugging Face `datasets` and the `webdataset` package decode alike.
TEXT = frozenset({"txt", "text", "transcript"})
JSON = frozenset({"json", "jsn"})
INTEGER = frozenset({"cls", "cls2", "index", "inx", "id"})
ARRAY = frozenset({"npy"})
MSGPACK = frozenset({"mp", "msg", "msgpack"})
CBOR = frozenset({"cbor"})
PICKLED = frozenset({"pkl", "pickle", "pyd", "pth", "pt", "ten", "tb"})


@dataclass(frozen=True)
class Medium:
    """The extensions of one media type: allowed ones, those by magic bytes, and a default."""

    default: str
    known: frozenset[str]
    starts: dict[bytes, str] = field(default_factory=dict)


_MEDIA = {
    "Image": Medium(
        "png",
        frozenset({"jpg", "jpeg", "png", "gif", "webp", "bmp", "tif", "tiff", "ppm", "pgm", "pbm", "avif", "jp2"}),
        {
            b"\xff\xd8\xff": "jpg", b"\x89PNG": "png", b"GIF8": "gif", b"BM": "bmp", b"II*\0": "tif", b"MM\0*": "tif",
            b"P4\n": "pbm", b"P5\n": "pgm", b"P6\n": "ppm", b"\0\0\0\x0cjP  ": "jp2",
        },
    ),
    "Audio": Medium(
        "wav",
        frozenset({"wav", "flac", "mp3", "ogg", "opus", "m4a", "aac", "aiff", "au"}),
        {b"RIFF": "wav", b"fLaC": "flac", b"ID3": "mp3", b"\xff\xfb": "mp3", b"\xff\xf3": "mp3", b"OggS": "ogg"},
    ),
    "Video": Medium(
        "mp4",
        frozenset({"mp4", "webm", "mkv", "avi", "mov", "mpg", "mpeg"}),
        {b"\x1aE\xdf\xa3": "webm", b"RIFF": "avi"},
    ),
    "Pdf": Medium("pdf", frozenset({"pdf"})),
    "Nifti": Medium("nii", frozenset({"nii", "nii.gz"}), {b"\x1f\x8b": "nii.gz"}),
    "Mesh": Medium("glb", frozenset({"glb", "ply", "obj", "stl", "off", "gltf"}), {b"glTF": "glb", b"ply": "ply"}),
}  # fmt: skip


def medium_of(feature: Any) -> Medium | None:
    """The media type of a feature; None if it is not media."""
    if not isinstance(feature, Media):
        return None
    return _MEDIA.get(type(feature).__name__, Medium("bin", frozenset()))


def all_media() -> frozenset[str]:
    """The extensions of all media."""
    return frozenset().union(*(medium.known for medium in _MEDIA.values()))


def last_part(extension: str) -> str:
    """The part that determines the type: `png` of `seg.png`, `nii.gz` of `scan.nii.gz`."""
    lower = extension.lower()
    return "nii.gz" if lower.endswith("nii.gz") else lower.rpartition(".")[2]


def of_bytes(medium: Medium, content: bytes, path: str | None) -> str:
    """The extension for the bytes of a media value: by magic bytes, else by its path."""
    found = _started(medium, content)
    named = last_part(os.path.basename(path)) if path else ""
    if named in medium.known and (found is None or {found, named} in _ALIKE):
        return named
    return found or medium.default


# These have the same magic bytes.
_ALIKE = ({"jpg", "jpeg"}, {"tif", "tiff"}, {"ogg", "opus"}, {"webm", "mkv"}, {"mp4", "mov"})


def _started(medium: Medium, content: bytes) -> str | None:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp" if "webp" in medium.known else None
    if content[4:8] == b"ftyp":
        return next((name for name in ("mp4", "m4a", "avif") if name in medium.known), None)
    return next((name for start, name in medium.starts.items() if content.startswith(start)), None)
