"""`Record`, the base class of typed values."""

from __future__ import annotations

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
        except msgspec.DecodeError as error:
            raise InvalidRecordError(cls.__name__, str(error)) from error

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of such values."""
        return msgspec.json.schema(cls)

    def to_dict(self) -> dict[str, Any]:
        """Dicts, lists and plain values; bytes stay bytes."""
        made: dict[str, Any] = msgspec.to_builtins(self, builtin_types=(bytes,), str_keys=True)
        return made

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
