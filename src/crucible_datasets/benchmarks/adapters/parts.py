"""Parts of messages in the formats of providers and datasets → `Part`."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from crucible_datasets.benchmarks.types.messages import Part, Picture
from crucible_datasets.exceptions import InvalidRecordError

_TEXTS = ("text", "input_text", "output_text")
_PICTURES = ("image", "image_url", "input_image")


def content(value: Any) -> str | list[Part]:
    """The content of a message: a text unchanged, a list as parts."""
    return value if isinstance(value, str) else [part(item) for item in value]


def part(value: Any) -> Part:
    """One part: a text, or a dict in the format of OpenAI, Anthropic, Gemini, or a chat dataset."""
    if isinstance(value, Part):
        return value
    if isinstance(value, str):
        return Part("text", value)
    if not isinstance(value, Mapping):
        raise InvalidRecordError("Part", f"a piece of a message is a text or a dict, not {type(value).__name__}")
    given = {key: item for key, item in value.items() if item is not None}
    kind = given.get("type") or ("text" if "text" in given else "image")
    if kind in _TEXTS:
        return Part("text", _needed(given, "text"))
    if kind in _PICTURES:
        return Part("image", image=_picture_in(given))
    raise InvalidRecordError("Part", f"type {kind!r} is not known; known are {', '.join((*_TEXTS, *_PICTURES))}")


def picture(value: Any) -> Picture:
    """An image from bytes, a path, a URL, a `data:` URL, a Pillow image, or a dict with one of them."""
    if isinstance(value, Picture):
        return value
    if isinstance(value, str):
        return _from_data_url(value) if value.startswith("data:") else Picture(path=value)
    if isinstance(value, Mapping):
        return _picture_in({key: item for key, item in value.items() if item is not None})
    from crucible_datasets.features import Image

    return Picture(**Image().encode_example(value))


def _picture_in(given: dict[str, Any]) -> Picture:
    if "bytes" in given:
        return Picture(given["bytes"], given.get("path"))
    for key in ("image", "image_url", "source", "inline_data", "file_data", "url", "path", "file_uri"):
        if key in given:
            return picture(given[key])
    for key in ("data", "base64"):
        if key in given:
            return Picture(_decoded(given[key]))
    raise InvalidRecordError("Part", f"no picture among {', '.join(given) or 'nothing'}")


def _from_data_url(url: str) -> Picture:
    head, comma, data = url.partition(",")
    if not comma or not head.endswith(";base64"):
        raise InvalidRecordError("Picture", f"{url[:40]!r} is not a data URL with base64")
    return Picture(_decoded(data))


def _decoded(data: str | bytes) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRecordError("Picture", f"the data is not base64: {error}") from error


def _needed(given: dict[str, Any], key: str) -> str:
    if not isinstance(given.get(key), str):
        raise InvalidRecordError("Part", f"a part of type {given.get('type', 'text')!r} needs `{key}`")
    return str(given[key])
