"""Columns of any type → one text per row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.benchmarks.samples.idnames import is_like_id
from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError
from crucible_datasets.features import jsontext

# Roles and part types occur in every chat, so they are left out.
_FRAME = frozenset({"role", "from", "type", "name", "tool_call_id"})
_SPOKEN = ("content", "value", "text")


def text_columns(schema: pa.Schema) -> list[str]:
    """The columns with natural language: strings, lists of strings, chats, JSON; without ids."""
    return [field.name for field in schema if not _names_rows(field.name) and _has_text(field.type)]


def texts_in(table: pa.Table, columns: Sequence[str]) -> pa.Array:
    """The texts of the columns of each row, joined by blanks. `metadata.solution` is a field of a column."""
    found = [_required_texts(_column(table, name), name) for name in columns]
    return found[0] if len(found) == 1 else pc.binary_join_element_wise(*found, _blank(), null_handling="skip")


def _names_rows(column: str) -> bool:
    return is_like_id(column) or column.lower() == "url"


def _blank() -> Any:
    return pa.scalar(" ", pa.large_string())


def _column(table: pa.Table, name: str) -> pa.Array:
    if name in table.column_names:
        return table.column(name).combine_chunks()
    first, *rest = name.split(".")
    if first not in table.column_names:
        raise ColumnNotFoundError(name, table.column_names)
    column = table.column(first).combine_chunks()
    for field in rest:
        names = [each.name for each in column.type] if pa.types.is_struct(column.type) else []
        if field not in names:
            raise ColumnNotFoundError(name, [f"{first}.{each}" for each in names] or table.column_names)
        column = pc.struct_field(column, field)
    return column


def _has_text(kind: pa.DataType) -> bool:
    if _is_list(kind):
        inner = kind.value_type
        return _is_text(inner) or (pa.types.is_struct(inner) and any(each.name in _SPOKEN for each in inner))
    return _is_text(kind) or _is_json(kind)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_json(kind: pa.DataType) -> bool:
    return getattr(kind, "extension_name", "") == "arrow.json"


def _is_list(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _required_texts(column: pa.Array, name: str) -> pa.Array:
    """The texts of a column, joined per row; None if a row has none."""
    texts = _texts(column)
    if texts is None:
        raise ArgumentError("columns", name, f"it holds {column.type}, and no text.")
    return texts


def _texts(column: pa.Array) -> pa.Array | None:
    kind = column.type
    if _is_json(kind):
        read = [
            " ".join(_leaves(jsontext.loads(text))) if text is not None else None for text in column.storage.to_pylist()
        ]
        return pa.array(read, pa.large_string())
    if isinstance(column, pa.ExtensionArray):
        return _texts(column.storage)
    if pa.types.is_dictionary(kind):
        return _texts(column.dictionary_decode())
    if _is_text(kind):
        return column.cast(pa.large_string())
    if _is_list(kind):
        return _joined(column)
    return _fields(column) if pa.types.is_struct(kind) else None


def _joined(column: pa.Array) -> pa.Array | None:
    """The texts of each list, joined."""
    texts = _texts(column.flatten())
    if texts is None:
        return None
    lengths = pc.fill_null(pc.list_value_length(column), 0)
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(lengths.cast(pa.int64()))])
    return pc.binary_join(pa.LargeListArray.from_arrays(offsets, pc.fill_null(texts, "")), _blank())


def _fields(column: pa.Array) -> pa.Array | None:
    texts = [
        text
        for field, values in zip(column.type, column.flatten(), strict=True)
        if field.name not in _FRAME and (text := _texts(values)) is not None
    ]
    if not texts:
        return None
    return pc.binary_join_element_wise(*texts, _blank(), null_handling="skip")


def _leaves(value: Any) -> Iterator[str]:
    """The texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for name, inner in value.items() if name not in _FRAME for text in _leaves(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in _leaves(inner))
