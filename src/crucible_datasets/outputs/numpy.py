"""numpy arrays: integers as int64, floats as float32, unequal shapes as object arrays.

Columns that already have those dtypes share the table's memory and are read-only;
`with_format("numpy", copy=True)` gives arrays to write to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc
from crucible_datasets.features import dtypes
from crucible_datasets.outputs.arrays import AnyArray
from crucible_datasets.outputs.base import Output
from crucible_datasets.outputs.tensors import TensorFormatter, alike

WIDEST_IN_BULK = 256  # beyond that padding costs more than it saves


class NumpyFormatter(TensorFormatter):
    """Keyword arguments are those of `numpy.asarray`."""

    def tensor(self, value: Any) -> AnyArray:
        made = np.asarray(value, **self.options(value, np.int64, np.float32))
        # numpy scalars are unchanged
        return made[()] if isinstance(value, np.number) else made

    def image(self, pixels: AnyArray) -> AnyArray:
        return np.asarray(pixels, **self.kwargs)

    def gathered(self, values: list[Any]) -> AnyArray:
        is_even = alike(values, (np.ndarray, np.number))
        return np.stack(values) if is_even else np.fromiter(values, dtype=object, count=len(values))

    def ragged(self, flat: AnyArray, sizes: list[int]) -> AnyArray:
        return np.fromiter(self.split(flat, sizes), dtype=object, count=len(sizes))

    def text_column(self, column: pa.ChunkedArray) -> AnyArray:
        if pa.types.is_nested(column.type):
            return self.gathered([self.nested(value) for value in column.to_pylist()])
        if column.null_count:
            return np.asarray(column.to_numpy())
        parts = [_fixed_width(chunk) for chunk in column.chunks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def text_items(self, array: pa.Array) -> list[Any]:
        if pa.types.is_nested(array.type):
            return super().text_items(array)
        scalar = np.str_ if dtypes.is_text(array.type) else np.bytes_
        return [None if value is None else scalar(value) for value in array.to_pylist()]

    def scalars(self, flat: AnyArray) -> list[Any]:
        if flat.dtype.kind in "iufm":
            return list(flat)
        return [self.tensor(value) for value in flat]

    def split(self, array: AnyArray, sizes: list[int] | None = None) -> list[Any]:
        rows = self.tensor(array)
        if sizes is None:
            return list(rows)
        ends = np.cumsum(sizes).tolist()
        return [rows[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def _fixed_width(array: pa.Array) -> AnyArray:
    """Strings as numpy's `U`, bytes as its `S`; objects if some end with NUL, which those lose."""
    padded = _padded(array) if dtypes.is_text(array.type) else None
    if padded is not None:
        return padded
    values = array.to_pylist()
    end, kind = ("\0", "U") if dtypes.is_text(array.type) else (b"\0", "S")
    return np.array(values, dtype=object if any(value.endswith(end) for value in values) else kind)


def _padded(array: pa.Array) -> AnyArray | None:
    """ASCII strings widened in bulk, three to four times as fast as string by string; None for others."""
    if not len(array) or array.type not in (pa.string(), pa.large_string()):
        return None
    _, offsets, data = array.buffers()
    index_type = np.int32 if array.type == pa.string() else np.int64
    ends = np.frombuffer(offsets, index_type, len(array) + 1, array.offset * index_type().itemsize)
    width = max(1, int(np.diff(ends).max()))
    text = np.frombuffer(data or b"", np.uint8)[ends[0] : ends[-1]]
    if width > WIDEST_IN_BULK or text.max(initial=0) > 127 or not text.all():
        return None
    values = pc.ascii_rpad(array, width, padding="\0").buffers()[2]
    return np.frombuffer(values, np.uint8, len(array) * width).astype(np.uint32).view(f"U{width}")


_OPTIONS = ("dtype", "order", "copy", "device", "like")
OUTPUT = Output("numpy", NumpyFormatter, aliases=("np",), options=_OPTIONS)
