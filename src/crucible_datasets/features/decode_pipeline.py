"""Media decoded in three steps, the first and the last by threads.

    read      the bytes of a file, local or remote: threads wait for several at a time
    begin     what threads would compete for: Python code, and memory for the decoded value
    finish    the decoder's own work, which releases the GIL

The C library has a memory arena per thread, and the arena of a thread that holds only images is returned to the system
with every image: clearing it again made two threads take a third more CPU time than one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from crucible_datasets.decoders.base import Content, decoder_of, decoding_errors
from crucible_datasets.features.media import Media, Reference, content_of

Read = tuple[Reference, Content] | None


class Stages:
    """The steps for values of one feature, whose decoder supports them."""

    def __init__(self, feature: Media, decoder: str, begin: Callable[[Content, Any], Callable[[], Any]]) -> None:
        self._feature, self._decoder, self._begin = feature, decoder, begin

    @classmethod
    def of(cls, feature: Any) -> Stages | None:
        """The steps; None for values decoded in one step, such as media in lists."""
        if not isinstance(feature, Media) or type(feature).decode_example is not Media.decode_example:
            return None
        decoder = decoder_of(feature._type)
        begin = decoder.begins.get(feature._type) if decoder else None
        return cls(feature, decoder.name, begin) if decoder and begin else None

    def read(self, value: Reference | str | None) -> Read:
        if value is None:
            return None
        reference = {"bytes": None, "path": value} if isinstance(value, str) else value
        with self._blamed(reference):
            content = content_of(self._feature, reference)
            return reference, content if content.data is not None else replace(content, data=content.read())

    def begin(self, read: Read) -> Callable[[], Any]:
        if read is None:
            return lambda: None
        reference, content = read
        with self._blamed(reference):
            return partial(self._finish, self._begin(content, self._feature), reference)

    def _finish(self, rest: Callable[[], Any], reference: Reference) -> Any:
        with self._blamed(reference):
            return rest()

    def _blamed(self, reference: Reference) -> Any:
        return decoding_errors(self._feature._type, self._decoder, reference["path"])
