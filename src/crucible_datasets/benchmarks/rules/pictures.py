"""Image classification: the target is the name of the class."""

from __future__ import annotations

import msgspec

from crucible_datasets.benchmarks.rules.base import Fields, Unfit, rule

_Bytes = bytes  # the field of the same name shadows it


class Stored(msgspec.Struct):
    """An undecoded image."""

    bytes: _Bytes | None = None
    path: str | None = None


@rule("picture/class", input="pictures", at_once=100)
def classified(image: Stored, label: str | int) -> Fields:
    """An image and its class."""
    if image.bytes is None and image.path is None:
        raise Unfit("image", "it has neither bytes nor a path")
    shown = {"type": "image", "text": None, "image": {"bytes": image.bytes, "path": image.path}}
    return {"input": [{"role": "user", "content": [shown]}], "target": str(label)}
