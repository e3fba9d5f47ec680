"""The bytes of images, audio and video in cells, with safe media types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.features.media import Media, read_file
from crucible_datasets.internal_api import bounded_features
from crucible_datasets.viewer.errors import NotFoundHereError

# By magic bytes, since names are untrusted. SVG may contain scripts, so it is not included.
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF8", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
    (b"BM", 0, "image/bmp"),
    (b"ftypavif", 4, "image/avif"),
    (b"WAVE", 8, "audio/wav"),
    (b"fLaC", 0, "audio/flac"),
    (b"OggS", 0, "audio/ogg"),
    (b"ID3", 0, "audio/mpeg"),
    (b"\xff\xfb", 0, "audio/mpeg"),
    (b"\xff\xf3", 0, "audio/mpeg"),
    (b"ftyp", 4, "video/mp4"),
    (b"\x1aE\xdf\xa3", 0, "video/webm"),
)
OTHER = "application/octet-stream"


class Content(NamedTuple):
    """Bytes, and whether they are part of the data, and so never change, or of another file."""

    content: bytes
    is_in_data: bool


def media_type(content: bytes) -> str:
    """The media type of bytes."""
    for beginning, place, kind in _BEGINNINGS:
        if content[place : place + len(beginning)] == beginning:
            return kind
    return OTHER


def content_at(rows: Any, number: int, path: Sequence[str], opens_files: bool = True) -> Content:
    """The bytes of the value at a path in a row, such as `image` or `images/0`."""
    if not 0 <= number < len(rows):
        raise NotFoundHereError(f"There is no row {number}; there are {len(rows):,}.")
    features = bounded_features(rows)
    if not path or path[0] not in features:
        raise NotFoundHereError(f"There is no column {path[0] if path else ''!r}.")
    value, feature = rows.select_columns([path[0]])[number][path[0]], features[path[0]]
    for step in path[1:]:
        value, feature = _below(value, feature, step)
    if not isinstance(feature, Media) or value is None:
        raise NotFoundHereError(f"There are no media at {'/'.join(path)}.")
    content = value["bytes"]
    if content is None and not opens_files:
        raise NotFoundHereError(f"The media at {'/'.join(path)} lie in a file, and a query may have made up its path.")
    if content is not None:
        return Content(bytes(content), True)
    return Content(read_file(feature.locate(value["path"])), False)


def _below(value: Any, feature: Any, step: str) -> tuple[Any, Any]:
    if isinstance(feature, dict) and step in feature:
        return (value or {}).get(step), feature[step]
    inner = getattr(feature, "feature", None)
    if inner is None or not step.isdecimal() or int(step) >= len(value or ()):
        raise ArgumentError("path", step, "nothing lies there.")
    return value[int(step)], inner
