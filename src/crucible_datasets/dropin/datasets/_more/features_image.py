"""More of `datasets.features.image`: pictures as they are stored."""

from __future__ import annotations

from functools import cache
from typing import Any

from crucible_datasets.features import Image
from crucible_datasets.features.image import encoded as image_to_bytes

__all__ = [
    "encode_np_array",
    "encode_pil_image",
    "image_to_bytes",
    "list_image_compression_formats",
    "objects_to_list_of_image_dicts",
]


def encode_pil_image(image: Any) -> dict[str, Any]:
    """A picture of Pillow as it is stored."""
    return dict(Image().encode_example(image))


def encode_np_array(array: Any) -> dict[str, Any]:
    """A picture in an array as it is stored."""
    return dict(Image().encode_example(array))


def objects_to_list_of_image_dicts(objs: list[Any]) -> list[Any]:
    """Paths, pictures or arrays as they are stored."""
    return [value if value is None or isinstance(value, dict) else Image().encode_example(value) for value in objs]


@cache
def list_image_compression_formats() -> list[str]:
    """The formats that Pillow reads and writes."""
    import PIL.Image

    PIL.Image.init()
    return sorted(set(PIL.Image.OPEN) & set(PIL.Image.SAVE))
