"""Arrow columns → typed samples, a block at a time.

Messages are built from flat columns of roles and contents, which is faster than rows of dicts. Columns with nulls or
unusual types go through `msgspec.convert`, which checks every value.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import msgspec
import pyarrow as pa

from crucible_datasets.benchmarks.types import Message, Part, Picture, Sample
from crucible_datasets.exceptions import InvalidRecordError, OutOfBoundsError
from crucible_datasets.features import Image, LargeList, List, jsontext
from crucible_datasets.features.bounds import Bounds, Roots

FIELDS = ("id", "input", "target", "choices", "metadata")
_TYPES: dict[str, Any] = {
    "id": list[str | int],
    "input": list[str | list[Message]],
    "target": list[str | list[str]],
    "choices": list[list[str] | None],
}


def samples_in(table: pa.Table) -> list[Sample]:
    """The samples of a table whose columns are the fields of a sample."""
    columns = [column_of(name, table.column(name)) for name in FIELDS]
    return list(map(Sample, *columns))


def column_of(name: str, column: pa.ChunkedArray) -> list[Any]:
    """The values of the column of a field."""
    return [value for chunk in column.chunks for value in _READERS[name](chunk)]


def _ids(array: pa.Array) -> list[Any]:
    kind = array.type
    plain = (_is_text(kind) or pa.types.is_integer(kind)) and not array.null_count
    return array.to_pylist() if plain else _checked("id", _plain(array))


def _inputs(array: pa.Array) -> list[Any]:
    if _is_text(array.type) and not array.null_count:
        return array.to_pylist()
    return _lists(array, _messages) or _checked("input", _plain(array))


def _targets(array: pa.Array) -> list[Any]:
    if (_is_text(array.type) or _is_texts(array.type)) and not array.null_count:
        return array.to_pylist()
    return _checked("target", ["" if value is None else value for value in _plain(array)])


def _choices(array: pa.Array) -> list[Any]:
    return array.to_pylist() if _is_texts(array.type) else _checked("choices", _plain(array))


def _metadata(array: pa.Array) -> list[Any]:
    return [{} if value is None else value for value in _plain(array)]


_READERS: dict[str, Callable[[pa.Array], list[Any]]] = {
    "id": _ids,
    "input": _inputs,
    "target": _targets,
    "choices": _choices,
    "metadata": _metadata,
}


def _checked(name: str, values: list[Any]) -> list[Any]:
    try:
        made: list[Any] = msgspec.convert(values, _TYPES[name], str_keys=True)
        return made
    except msgspec.ValidationError as error:
        raise InvalidRecordError("Sample", f"{name}: {error}") from error


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_texts(kind: pa.DataType) -> bool:
    return (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and _is_text(kind.value_type)


def _is_json(kind: pa.DataType) -> bool:
    return getattr(kind, "extension_name", "") == "arrow.json"


def _plain(array: pa.Array) -> list[Any]:
    """The values as Python objects, with JSON text parsed."""
    if _is_json(array.type):
        return [None if text is None else jsontext.loads(text) for text in array.storage.to_pylist()]
    if not _holds_json(array.type):
        return array.to_pylist()
    if pa.types.is_struct(array.type) and not array.null_count:
        names, columns = [field.name for field in array.type], [_plain(child) for child in array.flatten()]
        return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    return [_read(value, array.type) for value in array.to_pylist()]


def _holds_json(kind: pa.DataType) -> bool:
    return _is_json(kind) or any(_holds_json(kind.field(place).type) for place in range(kind.num_fields))


def _read(value: Any, kind: pa.DataType) -> Any:
    """A value with the JSON texts in it parsed."""
    if value is None or not _holds_json(kind):
        return value
    if _is_json(kind):
        return jsontext.loads(value)
    if pa.types.is_struct(kind):
        return {field.name: _read(value[field.name], field.type) for field in kind}
    return [_read(item, kind.value_type) for item in value]


def _lists(array: pa.Array, items: Callable[[pa.Array], list[Any] | None]) -> list[Any] | None:
    """Lists of the items that `items` makes of all values at once; None if it cannot."""
    kind = array.type
    if array.null_count or not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        return None
    values = items(array.flatten())
    if values is None:
        return None
    ends = array.offsets.to_pylist()
    first = ends[0]
    return [values[start - first : end - first] for start, end in itertools.pairwise(ends)]


def _messages(array: pa.Array) -> list[Any] | None:
    kind = array.type
    if array.null_count or not pa.types.is_struct(kind) or {field.name for field in kind} != {"role", "content"}:
        return None
    roles, contents = array.field("role"), array.field("content")
    return _spoken(roles.to_pylist(), contents) if _is_text(roles.type) and not roles.null_count else None


def _spoken(roles: list[str], contents: pa.Array) -> list[Any] | None:
    if _is_text(contents.type) and not contents.null_count:
        return list(map(Message, roles, contents.to_pylist()))
    parts = _lists(contents, _parts)
    return None if parts is None else list(map(Message, roles, parts))


def _parts(array: pa.Array) -> list[Any] | None:
    if array.null_count or not pa.types.is_struct(array.type):
        return None
    if {field.name for field in array.type} != {"type", "text", "image"}:
        return None
    kinds, texts, images = (array.field(name).to_pylist() for name in ("type", "text", "image"))
    return list(map(Part, kinds, texts, map(_picture, images)))


def _picture(value: Any) -> Picture | None:
    return None if value is None else Picture(value["bytes"], value["path"])


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
    return part if part.image is None else part.replace(image=_with_content(part.image, roots))


def _with_content(picture: Picture, roots: Roots | None) -> Picture:
    if not _is_named(picture):
        return picture
    path = str(picture.path)
    try:
        with open(path if roots is None else Bounds(roots).locate(path), "rb") as file:
            return Picture(file.read(), path)
    except (OutOfBoundsError, OSError, ValueError):  # ValueError: a path with a null byte
        return picture
