"""Images given by path: their bytes are read from the folders of the dataset only.

A path in downloaded data could name any file of this machine. Other paths and URLs are left as they are and never
opened. A dataset that the caller created has no such bounds (features.bounds).
"""

from __future__ import annotations

from typing import Any

from crucible_datasets.benchmarks.types import Message, Part, Picture, Sample
from crucible_datasets.exceptions import OutOfBoundsError
from crucible_datasets.features import Image, LargeList, List
from crucible_datasets.features.bounds import Bounds, Roots


def has_pictures(feature: Any) -> bool:
    """Whether a type contains images."""
    if isinstance(feature, dict):
        return any(map(has_pictures, feature.values()))
    if isinstance(feature, (List, LargeList)):
        return has_pictures(feature.feature)
    return isinstance(feature, Image)


def with_bytes(sample: Sample, roots: Roots | None) -> Sample:
    """The sample with the bytes of its images, if they are in these folders; None means any folder."""
    if isinstance(sample.input, str) or not any(map(_is_named, _pictures(sample))):
        return sample
    return sample.replace(input=[_message(message, roots) for message in sample.input])


def _pictures(sample: Sample) -> list[Picture]:
    return [picture for message in sample.messages for picture in message.images]


def _is_named(picture: Picture) -> bool:
    return picture.bytes is None and picture.path is not None and "://" not in picture.path


def _message(message: Message, roots: Roots | None) -> Message:
    if isinstance(message.content, str):
        return message
    return message.replace(content=[_part(part, roots) for part in message.content])


def _part(part: Part, roots: Roots | None) -> Part:
    return part if part.image is None else part.replace(image=_read(part.image, roots))


def _read(picture: Picture, roots: Roots | None) -> Picture:
    if not _is_named(picture):
        return picture
    path = str(picture.path)
    try:
        with open(path if roots is None else Bounds(roots).locate(path), "rb") as file:
            return Picture(file.read(), path)
    except (OutOfBoundsError, OSError, ValueError):  # ValueError: a path with a null byte
        return picture
