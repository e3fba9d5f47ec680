"""Messages and conversations, as texts or as parts with images."""

from __future__ import annotations

import base64
from os import PathLike, fspath
from typing import Any, Self

import msgspec

from crucible_datasets.exceptions import InvalidRecordError

_canonical = msgspec.json.Encoder(order="sorted")


class Record(msgspec.Struct, frozen=True):
    """An immutable value with named, typed fields."""

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """The value of a dict; raises with the path of what is invalid."""
        try:
            return msgspec.convert(value, cls, str_keys=True)
        except msgspec.ValidationError as error:
            raise InvalidRecordError(cls.__name__, str(error)) from error

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The value of a JSON text."""
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, RecursionError) as error:
            raise InvalidRecordError(cls.__name__, str(error)) from error

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of such values."""
        return msgspec.json.schema(cls)

    def to_dict(self) -> dict[str, Any]:
        """Dicts, lists and plain values; bytes stay bytes."""
        builtins: dict[str, Any] = msgspec.to_builtins(self, builtin_types=(bytes,), str_keys=True)
        return builtins

    def to_json(self) -> str:
        """Canonical JSON text: sorted keys, no white space."""
        # Keys that are numbers become texts first, since mixed keys cannot be sorted.
        return _canonical.encode(msgspec.to_builtins(self, str_keys=True)).decode()

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return msgspec.structs.replace(self, **changes)

    def _refuse(self, reason: str) -> None:
        # A ValidationError of decoding has a path; one raised here only has the value.
        raise InvalidRecordError(type(self).__name__, reason)


_Bytes = bytes  # the field of the same name shadows it
# The first bytes of the image formats that chat models accept.
_KINDS = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
    b"BM": "image/bmp",
    b"II*\x00": "image/tiff",
    b"MM\x00*": "image/tiff",
}


class Picture(Record, frozen=True, gc=False, omit_defaults=True):
    """An image: its encoded bytes, a path or a URL.

    A path may come from untrusted data, so it is not opened; `read` creates a picture from a local file.
    """

    bytes: _Bytes | None = None
    path: str | None = None

    @property
    def mime_type(self) -> str:
        """The MIME type, by the first bytes."""
        known = (kind for start, kind in _KINDS.items() if (self.bytes or b"").startswith(start))
        return next(known, "application/octet-stream")

    @property
    def base64(self) -> str:
        """The bytes as Base64."""
        return base64.b64encode(self.bytes or b"").decode()

    @property
    def url(self) -> str:
        """The URL or path of the image; a `data:` URL if it has only bytes."""
        return f"data:{self.mime_type};base64,{self.base64}" if self.bytes is not None else self.path or ""

    def decoded(self) -> Any:
        """The image as a Pillow image. Without bytes, it is only read from the folders of CRUCIBLE_MEDIA_ROOTS."""
        from crucible_datasets.features import Image
        from crucible_datasets.features.bounds import Bounds

        place = self.path if self.bytes is not None or self.path is None else Bounds(()).locate(self.path)
        return Image().decode_example({"bytes": self.bytes, "path": place})

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Picture:
        """The image in a local file."""
        with open(path, "rb") as file:
            return cls(file.read(), fspath(path))


class Part(Record, frozen=True, gc=False, omit_defaults=True):
    """A part of a message: a text or an image."""

    type: str
    text: str | None = None
    image: Picture | None = None

    def __post_init__(self) -> None:
        if self.type == "text" and self.text is None:
            self._refuse("a part of type 'text' needs `text`")
        if self.type == "image" and self.image is None:
            self._refuse("a part of type 'image' needs `image`")


class Message(Record, frozen=True, gc=False, omit_defaults=True):
    """A message of a conversation."""

    role: str
    content: str | list[Part]
    name: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None

    def __post_init__(self) -> None:
        if not self.role or not isinstance(self.content, (str, list)):
            self._refuse("`role` must be a word and `content` a text or parts")

    @property
    def text(self) -> str:
        """The text; texts of parts are joined by newlines."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if part.text is not None)

    @property
    def images(self) -> list[Picture]:
        """The images of the message."""
        return [] if isinstance(self.content, str) else [part.image for part in self.content if part.image]


class Conversation(Record, frozen=True):
    """A sequence of messages."""

    messages: list[Message]
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def turn_count(self) -> int:
        """The number of turns: half the number of messages of user and assistant."""
        return sum(message.role in ("user", "assistant") for message in self.messages) // 2

    @property
    def last_message(self) -> Message | None:
        """The last message."""
        return self.messages[-1] if self.messages else None

    @property
    def system_prompt(self) -> str | None:
        """The text of the first message if it is of the system."""
        return next((message.text for message in self.messages if message.role == "system"), None)

    @property
    def prompt(self) -> list[Message]:
        """The messages before the last one of the assistant; all of them if there is none."""
        place = self._last_answer
        return self.messages if place is None else self.messages[:place]

    @property
    def response(self) -> str | None:
        """The text of the last message of the assistant."""
        place = self._last_answer
        return None if place is None else self.messages[place].text

    @property
    def _last_answer(self) -> int | None:
        places = range(len(self.messages) - 1, -1, -1)
        return next((place for place in places if self.messages[place].role == "assistant"), None)
