"""Images by Pillow: with EXIF orientation applied, in the mode of the feature."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from crucible_datasets.decoders.base import Content, Decoder, TooLargeError
from crucible_datasets.registry import need

_ORIENTATION = 0x0112


def _begun(content: Content, feature: Any) -> Callable[[], Any]:
    """Read the header, and allocate the memory of a JPEG."""
    pillow = need("PIL.Image", extra="image")
    try:
        picture = pillow.open(content.file if content.data is None else content.stream())
    except pillow.DecompressionBombError as error:
        raise TooLargeError(
            "number of pixels", 2 * (pillow.MAX_IMAGE_PIXELS or 0), "PIL.Image.MAX_IMAGE_PIXELS"
        ) from error
    if content.file is not None:
        picture.filename = content.file  # users may read the path here
    if picture.format == "JPEG":
        picture.load_prepare()
    return partial(_finished, picture, feature)


def _finished(picture: Any, feature: Any) -> Any:
    picture.load()  # closes the file
    if picture.getexif().get(_ORIENTATION) is not None:
        picture = need("PIL.ImageOps", extra="image").exif_transpose(picture)
    return picture.convert(feature.mode) if feature.mode and feature.mode != picture.mode else picture


def _picture(content: Content, feature: Any) -> Any:
    return _begun(content, feature)()


DECODER = Decoder("pillow", {"Image": _picture}, aliases=("PIL",), begins={"Image": _begun})
