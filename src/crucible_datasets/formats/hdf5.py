"""HDF5 files: a column per dataset, along its first axis; groups are structs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from crucible_datasets import config
from crucible_datasets.exceptions import DatasetsError, FileFormatError, LimitExceededError
from crucible_datasets.features.arrays import array_of
from crucible_datasets.features.storage import feature_of, to_extension
from crucible_datasets.features.tensors import rows_of
from crucible_datasets.formats.base import Filters, Format, columns_of
from crucible_datasets.formats.hdf5_heaps import require_sound_heaps, require_sound_lengths
from crucible_datasets.formats.streams import name_of, rewound
from crucible_datasets.registry import need

_BYTES = 32 << 20
_MOST_OBJECTS = 100_000
_DAMAGE = (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, pa.ArrowException)


def read(
    stream: BinaryIO,
    *,
    columns: list[str] | None = None,
    filters: Filters = None,
    features: Any = None,
    batch_size: int | None = None,
) -> Iterator[pa.Table]:
    """Yield the file in slices of equal length, of about 32 MB unless `batch_size` says how many rows."""
    h5py = need("h5py", extra="hdf5")
    name = name_of(stream)
    try:
        with rewound(stream) as source, h5py.File(source, "r") as file:
            size = source.seek(0, os.SEEK_END)
            wanted = columns if columns is not None else list(features) if features else None
            names = [key for key in file if wanted is None or key in {*wanted, *columns_of(filters, list(file))}]
            left = count(_MOST_OBJECTS, -1)
            found = {key: leaf for key in names if (leaf := _checked(h5py, file, key, name, left)) is not None}
            length, stated = _common_length(found, name), sum(map(_size, found.values()))
            _refuse_bombs(stated, size, name)
            _refuse_endless(h5py, source, found, name)
            step = batch_size or max(1, _BYTES * length // max(1, stated))
            for start in range(0, length, step) if length or not found else [0]:
                yield from _tables(h5py, found, start, min(start + step, length))
    except DatasetsError:
        raise
    except _DAMAGE as error:
        raise FileFormatError(name, f"not a readable HDF5 file: {error}") from error


def _tables(h5py: Any, found: dict[str, Any], start: int, stop: int) -> Iterator[pa.Table]:
    """Some rows as a table; if they are damaged, those before the damage as smaller ones, and then the error."""
    try:
        table = pa.table({key: _column(h5py, node, slice(start, stop)) for key, node in found.items()})
    except _DAMAGE:
        if stop - start < 2:
            raise
    else:
        yield table
        return
    middle = (start + stop) // 2
    yield from _tables(h5py, found, start, middle)
    yield from _tables(h5py, found, middle, stop)


def _checked(h5py: Any, group: Any, key: str, name: str, left: Iterator[int]) -> Any:
    """A dataset, or a dict of the datasets in a group; None for an empty group. Other files are refused, and so are
    groups that links show in too many places.
    """
    if not next(left):
        raise LimitExceededError(name, "the number of its objects", _MOST_OBJECTS, "formats.hdf5._MOST_OBJECTS")
    if isinstance(group.get(key, getlink=True), h5py.ExternalLink):
        raise FileFormatError(name, f"{key!r} is a link to another file.")
    node = group[key]
    if h5py.h5o.get_info(node.id).fileno != h5py.h5o.get_info(group.id).fileno:  # by a link to a link
        raise FileFormatError(name, f"{key!r} is a link to another file.")
    if isinstance(node, h5py.Group):
        if node in (group, group.file):
            raise FileFormatError(name, f"group {key!r} contains itself.")
        return {inner: leaf for inner in node if (leaf := _checked(h5py, node, inner, name, left)) is not None} or None
    if not isinstance(node, h5py.Dataset):
        return None
    if node.external or node.is_virtual:
        raise FileFormatError(name, f"the values of {key!r} lie in other files.")
    if not node.shape:
        raise FileFormatError(name, f"{key!r} is a single value, not one per row.")
    return node


def _leaves(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        for inner in node.values():
            yield from _leaves(inner)
    else:
        yield node


def _common_length(found: dict[str, Any], name: str) -> int:
    lengths = {leaf.name: len(leaf) for leaf in _leaves(found)}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{path}: {length}" for path, length in lengths.items())
        raise FileFormatError(name, f"datasets differ in length ({listed}).")
    return next(iter(lengths.values()), 0)


def _size(node: Any) -> int:
    return sum(leaf.nbytes for leaf in _leaves(node))


def _refuse_bombs(stated: int, size: int, name: str) -> None:
    """Refuse a file that states far more values than it stores: chunks that were never written take no space."""
    allowed = max(config.MAX_UNPACKED_BYTES_AT_ANY_RATIO, size * config.MAX_UNPACKED_RATIO)
    if stated > allowed:
        what = f"what its datasets hold is more than {config.MAX_UNPACKED_RATIO} times its size and"
        raise LimitExceededError(name, what, allowed, "config.MAX_UNPACKED_RATIO")


def _refuse_endless(h5py: Any, source: Any, found: dict[str, Any], name: str) -> None:
    uneven = [leaf for leaf in _leaves(found) if leaf.dtype.hasobject]
    for leaf in uneven:
        require_sound_lengths(h5py, source, leaf, name)
    if uneven:
        require_sound_heaps(source, name)


def _column(h5py: Any, node: Any, rows: slice) -> pa.ChunkedArray:
    if isinstance(node, dict):
        return _struct({key: _column(h5py, inner, rows) for key, inner in node.items()})
    text = h5py.check_string_dtype(node.dtype)
    if text is not None and text.length is None:
        values = node.asstr()[rows]
        return pa.chunked_array([pa.array(values.tolist())])
    return _array(node[rows])


def _array(values: Any) -> pa.ChunkedArray:
    if values.dtype.names:
        return _struct({field: _array(values[field]) for field in values.dtype.names})
    if values.dtype.kind == "c":
        return _struct({"real": _array(values.real), "imag": _array(values.imag)})
    if values.dtype.kind == "O":  # lists of variable length
        return pa.chunked_array([pa.array([value.tolist() for value in values], _list_type(values))])
    if values.dtype.kind in "SV" and values.ndim == 1:
        return pa.chunked_array([pa.array(values.tolist(), pa.binary())])
    if values.dtype.kind in "SV":
        return pa.chunked_array([pa.array(values.tolist())])
    values = values.astype(values.dtype.newbyteorder("="))
    column = rows_of(values)
    return to_extension(column.cast(_storage(column.type, values)), _feature(values, column.type))


def _list_type(values: Any) -> pa.DataType | None:
    kind = next((value.dtype for value in values if isinstance(value, np.ndarray)), None)
    return None if kind is None else pa.list_(pa.from_numpy_dtype(kind))


def _feature(values: Any, found: pa.DataType) -> Any:
    """The feature of a column; `Array2D` and so on for rows of several dimensions."""
    if 3 <= values.ndim <= 6:
        return array_of(values.shape[1:], str(values.dtype))
    return feature_of(_storage(found, values))


def _storage(found: pa.DataType, values: Any) -> pa.DataType:
    return pa.list_(found.value_type, values.shape[1]) if values.ndim == 2 else found


def _struct(columns: dict[str, pa.ChunkedArray]) -> pa.ChunkedArray:
    arrays = [pa.concat_arrays(column.chunks) for column in columns.values()]
    return pa.chunked_array([pa.StructArray.from_arrays(arrays, names=list(columns))])


FORMAT = Format("hdf5", (".h5", ".hdf5"), read, aliases=("h5",))
