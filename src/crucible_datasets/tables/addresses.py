"""Collect scattered rows of many record batches by the addresses of their values.

A shuffled block takes a few rows from each of hundreds of batches, and calling Arrow for each batch costs more than
copying the values. Here numpy looks up the address of every value, in whichever batch it is, and one `take` per column
copies the bytes in the requested order.

Only requested values are read, and all of them are copied: nothing returned refers to the memory of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

from crucible_datasets.tables.memory import Bits, Longs, address_of, copied, packed, read, read_bits

_MOST_COUNTED = 2**31 - 1  # addressable by 32-bit offsets


class Addresses:
    """The addresses of columns of record batches, looked up when rows of a batch are first requested."""

    def __init__(self, batches: Sequence[pa.RecordBatch]) -> None:
        self.batches = batches
        self._columns: dict[str, tuple[Column | None, Bits]] = {}

    def collect(self, schema: pa.Schema, homes: Longs, places: Longs) -> pa.RecordBatch | None:
        """Rows `places` of the batches `homes`; None when a column has a type that is not read by address."""
        columns = [self._known(field, homes) for field in schema]
        if None in columns or not columns:
            return None
        arrays = [column.collect(homes, places) for column in columns if column]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _known(self, field: pa.Field, homes: Longs) -> Column | None:
        if field.name not in self._columns:
            count = len(self.batches)
            self._columns[field.name] = column_at(field.type, count), np.zeros(count, dtype=np.bool_)
        column, known = self._columns[field.name]
        if column is not None and not (seen := known[homes]).all():
            for home in np.unique(homes[~seen]).tolist():
                column.learn(home, self.batches[home].column(field.name))
                known[home] = True
        return column


def column_at(arrow: pa.DataType, num_batches: int) -> Column | None:
    """The column of a type before any of its batches is known; None for types that are not read by address."""
    kind = _kind_of(arrow)
    if kind is None:
        return None
    kids = [column_at(child, num_batches) for child in _child_types(arrow)]
    return None if None in kids else kind(arrow, num_batches, kids)


def _kind_of(arrow: pa.DataType) -> type[Column] | None:
    if kinds.is_null(arrow):
        return Nulls
    if kinds.is_boolean(arrow):
        return Booleans
    if kinds.is_primitive(arrow) or kinds.is_decimal(arrow) or kinds.is_fixed_size_binary(arrow):
        return FixedWidth if arrow.bit_width else None
    if arrow in (pa.string(), pa.binary(), pa.large_string(), pa.large_binary()):
        return Texts
    if kinds.is_list(arrow) or kinds.is_large_list(arrow):
        return Lists
    if kinds.is_fixed_size_list(arrow):
        return EqualLists
    return Structs if kinds.is_struct(arrow) else None


def _child_types(arrow: pa.DataType) -> list[pa.DataType]:
    if kinds.is_struct(arrow):
        return [field.type for field in arrow]
    return [arrow.value_type] if hasattr(arrow, "value_type") else []


class Column:
    """The addresses of one column in each batch, and how to collect its values.

    `homes` are the batches of the requested values, `places` the rows in them.
    """

    def __init__(self, arrow: pa.DataType, num_batches: int, kids: Sequence[Any]) -> None:
        self.type, self.kids = arrow, kids
        self.validity = np.full(num_batches, -1, dtype=np.int64)  # in bits; -1 where nothing is null
        self.first = np.zeros(num_batches, dtype=np.int64)  # of the offsets, or of the values if there are no offsets
        self.data = np.zeros(num_batches, dtype=np.int64)  # what offsets count from

    def learn(self, home: int, array: pa.Array) -> None:
        """Record the addresses of one batch."""
        buffers = array.buffers()
        if array.null_count:
            self.validity[home] = buffers[0].address * 8 + array.offset
        self.locate(home, array, buffers)
        for kid, child in zip(self.kids, self.children(array), strict=True):
            kid.learn(home, child)

    def locate(self, home: int, array: pa.Array, buffers: list[Any]) -> None:
        """Record where the values of one batch begin."""

    def children(self, array: pa.Array) -> list[pa.Array]:
        """The child arrays of a nested array."""
        return []

    def collect(self, homes: Longs, places: Longs) -> pa.Array:
        """The requested values, in order."""
        valid = self._valid(homes, places)
        mask = None if valid is None else packed(valid)
        return self.values(homes, places, valid, mask)

    def values(self, homes: Longs, places: Longs, valid: Bits | None, mask: Any) -> pa.Array:
        """The requested values, with the validity bitmap `mask`."""
        raise NotImplementedError

    def may_be_null(self, homes: Longs) -> bool:
        """Whether a batch among `homes` has nulls here."""
        return bool((self.validity[homes] >= 0).any())

    def _valid(self, homes: Longs, places: Longs) -> Bits | None:
        bits = self.validity[homes]
        known = np.flatnonzero(bits >= 0)
        if not len(known):
            return None
        valid = np.ones(len(homes), dtype=np.bool_)
        valid[known] = read_bits(bits[known] + places[known])
        return valid


class Nulls(Column):
    """Nulls."""

    def learn(self, home: int, array: pa.Array) -> None:
        pass

    def values(self, homes: Longs, places: Longs, valid: Bits | None, mask: Any) -> pa.Array:
        return pa.nulls(len(homes))


class FixedWidth(Column):
    """Values of fixed width: numbers, times, decimals, fixed-size bytes."""

    @property
    def width(self) -> int:
        """The width of a value in bytes."""
        return int(self.type.bit_width // 8)

    def locate(self, home: int, array: pa.Array, buffers: list[Any]) -> None:
        self.first[home] = address_of(buffers[1]) + array.offset * self.width

    def values(self, homes: Longs, places: Longs, valid: Bits | None, mask: Any) -> pa.Array:
        found = read(self.first[homes] + places * self.width, self.width)
        return pa.Array.from_buffers(self.type, len(homes), [mask, pa.py_buffer(found)])

    def runs(self, homes: Longs, places: Longs, lengths: Longs) -> pa.Array:
        """Runs of consecutive values: `lengths` of them from each place; none may be null."""
        data = copied(self.first[homes] + places * self.width, lengths * self.width)
        return pa.Array.from_buffers(self.type, int(lengths.sum()), [None, data])


class Booleans(Column):
    """Booleans, stored as bits."""

    def locate(self, home: int, array: pa.Array, buffers: list[Any]) -> None:
        self.first[home] = address_of(buffers[1]) * 8 + array.offset

    def values(self, homes: Longs, places: Longs, valid: Bits | None, mask: Any) -> pa.Array:
        found = packed(read_bits(self.first[homes] + places))
        return pa.Array.from_buffers(self.type, len(homes), [mask, found])


class Offsets(Column):
    """Values of variable length, given by offsets."""

    @property
    def narrow(self) -> bool:
        """Whether offsets have 32 bits."""
        return self.type in (pa.string(), pa.binary()) or bool(kinds.is_list(self.type))

    def locate(self, home: int, array: pa.Array, buffers: list[Any]) -> None:
        self.first[home] = address_of(buffers[1]) + array.offset * (4 if self.narrow else 8)

    def spans(self, homes: Longs, places: Longs, valid: Bits | None) -> tuple[Longs, Longs]:
        """The start of each value in its batch, and its length."""
        width = 4 if self.narrow else 8
        at = self.first[homes] + places * width
        kind = np.int32 if self.narrow else np.int64
        begins: Longs = read(at, width).view(kind).astype(np.int64, copy=False)
        ends: Longs = read(at + width, width).view(kind).astype(np.int64, copy=False)
        lengths = ends - begins
        return begins, lengths if valid is None else lengths * valid

    def ends(self, lengths: Longs) -> pa.Buffer:
        """The offsets of values of these lengths."""
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        if self.narrow and offsets[-1] > _MOST_COUNTED:
            raise pa.ArrowInvalid(f"offset overflow: {offsets[-1]} values in one array of {self.type}")
        return pa.py_buffer(offsets.astype(np.int32) if self.narrow else offsets)


class Texts(Offsets):
    """Strings and bytes."""

    def locate(self, home: int, array: pa.Array, buffers: list[Any]) -> None:
        super().locate(home, array, buffers)
        self.data[home] = address_of(buffers[2])

    def values(self, homes: Longs, places: Longs, valid: Bits | None, mask: Any) -> pa.Array:
        begins, lengths = self.spans(homes, places, valid)
        ends = self.ends(lengths)
        data = copied(self.data[homes] + begins, lengths)
        return pa.Array.from_buffers(self.type, len(homes), [mask, ends, data])


class Lists(Offsets):
    """Lists of variable length."""

    def children(self, array: pa.Array) -> list[pa.Array]:
        return [array.values]

    def values(self, homes: Longs, places: Longs, valid: Bits | None, mask: Any) -> pa.Array:
        begins, lengths = self.spans(homes, places, valid)
        ends = self.ends(lengths)
        items = _items(self.kids[0], homes, begins, lengths)
        return pa.Array.from_buffers(self.type, len(homes), [mask, ends], children=[items])


class EqualLists(Column):
    """Lists of fixed length."""

    def locate(self, home: int, array: pa.Array, buffers: list[Any]) -> None:
        self.first[home] = array.offset

    def children(self, array: pa.Array) -> list[pa.Array]:
        return [array.values]

    def values(self, homes: Longs, places: Longs, valid: Bits | None, mask: Any) -> pa.Array:
        size = self.type.list_size
        begins = (self.first[homes] + places) * size
        items = _items(self.kids[0], homes, begins, np.full(len(homes), size, dtype=np.int64))
        return pa.Array.from_buffers(self.type, len(homes), [mask], children=[items])


class Structs(Column):
    """Structs."""

    def children(self, array: pa.Array) -> list[pa.Array]:
        return [array.field(index) for index in range(self.type.num_fields)]

    def values(self, homes: Longs, places: Longs, valid: Bits | None, mask: Any) -> pa.Array:
        fields = [kid.collect(homes, places) for kid in self.kids]
        return pa.Array.from_buffers(self.type, len(homes), [mask], children=fields)


def _items(column: Column, homes: Longs, begins: Longs, lengths: Longs) -> pa.Array:
    """The items of lists, list by list."""
    if isinstance(column, FixedWidth) and not column.may_be_null(homes):
        return column.runs(homes, begins, lengths)
    before = np.cumsum(lengths) - lengths
    places = np.repeat(begins - before, lengths)
    places += np.arange(len(places))
    return column.collect(np.repeat(homes, lengths), places)
