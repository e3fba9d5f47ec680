"""Data of any kind → its texts, in blocks: datasets, streams, samples, files, names, lists."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.benchmarks.contamination.words import Places
from crucible_datasets.benchmarks.loading.naming import data_named
from crucible_datasets.benchmarks.samples.making import is_like_id, samples_from
from crucible_datasets.benchmarks.samples.stream import StreamedSamples
from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.benchmarks.types import Sample
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, ColumnNotFoundError
from crucible_datasets.features import jsontext

_ROWS_AT_ONCE = 4096
_BYTES_AT_ONCE = 4 << 20


class Side:
    """One of the two datasets."""

    def __init__(self, given: Any, columns: Sequence[str] | str | None) -> None:
        self._given = _opened(given)
        self._rows: Any = _rows_of(self._given)
        self._schema = _schema(self._rows)
        self.num_rows: int | None = len(self._rows) if hasattr(self._rows, "__len__") else None
        self.short_rows = 0
        self.columns = [columns] if isinstance(columns, str) else list(columns) if columns is not None else None

    @property
    def text_columns(self) -> list[str]:
        """The columns with texts; of samples, without metadata."""
        return ["input", "target", "choices"] if self._is_typed else text_columns(self._schema)

    @property
    def _is_typed(self) -> bool:
        listed = isinstance(self._given, (list, tuple)) and bool(self._given) and isinstance(self._given[0], Sample)
        return listed or isinstance(self._given, (Samples, StreamedSamples))

    def default_columns(self) -> list[str]:
        """The default columns of the test side: of samples, the input."""
        return self.columns or (["input"] if self._is_typed else self.text_columns)

    def blocks(self, columns: Sequence[str]) -> Iterator[pa.Array]:
        """The texts of all rows, in their order."""
        if not columns:
            raise ArgumentError("columns", None, f"no column holds texts. Columns: {', '.join(self._schema.names)}.")
        needed = list(dict.fromkeys(_existing_column(name, self._schema.names) for name in columns))
        for table in self._rows.select_columns(needed).with_format("arrow").iter(_ROWS_AT_ONCE):
            yield from _small(texts_in(table, columns))

    def texts_at(self, rows: Sequence[int], columns: Sequence[str]) -> dict[int, str]:
        """The texts of some rows."""
        if self.num_rows is not None:
            part = Side(self._rows.select(rows), columns)
            found = [text for block in part.blocks(columns) for text in block.to_pylist()]
            return {row: text or "" for row, text in zip(rows, found, strict=True)}
        return _read_up_to(self.blocks(columns), sorted(rows))

    def with_rows(self, rows: Places) -> Side:
        """Only some rows."""
        return Side(_kept(self._rows, rows), self.columns)

    def without(self, matched: npt.NDArray[np.bool_]) -> Any:
        """The original data without the matched rows."""
        rows = np.flatnonzero(~matched)
        if isinstance(self._given, (list, tuple)):
            return [self._given[row] for row in rows]
        return _kept(self._given, rows)


def _kept(data: Any, rows: Places) -> Any:
    if hasattr(data, "select"):
        return data.select(rows.tolist() if isinstance(data, Samples) else rows)
    if isinstance(data, StreamedSamples):
        return data._with(_kept(data.dataset, rows))
    wanted = frozenset(rows.tolist())
    return data.filter(lambda _, number: number in wanted, with_indices=True)


def _opened(given: Any) -> Any:
    return data_named(os.fspath(given)) if isinstance(given, (str, os.PathLike)) else given


def _rows_of(given: Any) -> Any:
    """The data as a dataset or stream. Datasets of other libraries work if they have the same interface."""
    if isinstance(given, (Samples, StreamedSamples)):
        return given.dataset
    if isinstance(given, (list, tuple)):
        return _listed(list(given))
    if isinstance(given, Mapping):
        raise ArgumentError("dataset", list(given), "it has several splits; give one of them.")
    if hasattr(given, "with_format") and hasattr(given, "select_columns"):
        return given
    raise ArgumentTypeError("dataset", given, "give a dataset, samples, a file, a name, or a list of texts")


def _listed(values: list[Any]) -> Any:
    if values and all(isinstance(value, Sample) for value in values):
        return samples_from(values).dataset
    if values and all(isinstance(value, Mapping) for value in values):
        return Dataset.from_list(values, on_mixed_types="use_json")
    if not all(isinstance(value, str) or value is None for value in values):
        raise ArgumentTypeError("dataset", values, "a list holds texts, rows, or samples")
    return Dataset(pa.table({"text": pa.array(values, pa.large_string())}))


def _schema(rows: Any) -> pa.Schema:
    if rows.features is not None:
        return rows.features.arrow_schema
    return next(iter(rows.with_format("arrow").iter(1)), pa.table({})).schema


def _existing_column(name: str, known: list[str]) -> str:
    return name if name in known else name.split(".")[0]


def _small(texts: pa.Array) -> Iterator[pa.Array]:
    """Slices of a few megabytes, or of one text."""
    if texts.nbytes <= _BYTES_AT_ONCE or len(texts) <= 1:
        yield texts
        return
    half = len(texts) // 2
    yield from _small(texts.slice(0, half))
    yield from _small(texts.slice(half))


def _read_up_to(blocks: Iterator[pa.Array], rows: list[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    first = 0
    for block in blocks:
        found.update({row: block[row - first].as_py() or "" for row in rows if first <= row < first + len(block)})
        first += len(block)
        if len(found) == len(set(rows)):
            break
    return found


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
