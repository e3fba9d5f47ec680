"""Pictures by Pillow: upright, and in the mode that the feature asks for."""

from __future__ import annotations

from typing import Any

from crucible_datasets.decoders.base import Content, Decoder, TooLargeError
from crucible_datasets.registry import need

_ORIENTATION = 0x0112


def _picture(content: Content, feature: Any) -> Any:
    pillow = need("PIL.Image", extra="image")
    try:
        # A path, where there is one, stays known as the picture's `filename`.
        picture = pillow.open(content.file if content.data is None else content.stream())
    except pillow.DecompressionBombError as error:
        raise TooLargeError(
            "number of pixels", 2 * (pillow.MAX_IMAGE_PIXELS or 0), "PIL.Image.MAX_IMAGE_PIXELS"
        ) from error
    picture.load()  # closes the file
    if picture.getexif().get(_ORIENTATION) is not None:
        picture = need("PIL.ImageOps", extra="image").exif_transpose(picture)
    return picture.convert(feature.mode) if feature.mode and feature.mode != picture.mode else picture


DECODER = Decoder("pillow", {"Image": _picture}, aliases=("PIL",))
