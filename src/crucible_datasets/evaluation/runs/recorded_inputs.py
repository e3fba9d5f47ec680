"""Inputs in the form that runs record: plain values, with images only by path or hash."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from crucible_datasets.benchmarks.types.messages import Message, Part, Picture


def noted(given: Any) -> Any:
    """A text unchanged; messages as dicts, with images replaced by their path or the SHA-256 of their bytes."""
    if isinstance(given, str) or not isinstance(given, list):
        return given
    return msgspec.to_builtins([_without_bytes(one) for one in given])


def _without_bytes(message: Any) -> Any:
    if not isinstance(message, Message) or isinstance(message.content, str):
        return message
    return msgspec.structs.replace(message, content=[_named(part) for part in message.content])


def _named(part: Part) -> Part:
    if part.image is None or part.image.bytes is None:
        return part
    place = part.image.path or f"sha256:{hashlib.sha256(part.image.bytes).hexdigest()}"
    return msgspec.structs.replace(part, image=Picture(path=place))
