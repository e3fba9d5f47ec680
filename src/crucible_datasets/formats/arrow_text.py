"""Arrow string arrays, built and joined without Python objects for single values.

`pa.array` and `pa.scalar` import pandas on first use, which takes longer than reading a file; these functions do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc

LARGE = pa.large_string()
# 100,000 conversations became JSON in 0.46 s of processor time with 1 MB, in 0.70 s with 4 MB.
_PART_BYTES = 1 << 20
_FEWEST_COLUMN_BYTES = 1 << 14  # in less of a column, calls take longer than the work


def parts(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The rows in small tables, so that each reuses the memory that the one before has freed."""
    for table in tables:
        size = max(_PART_BYTES, _FEWEST_COLUMN_BYTES * table.num_columns)
        rows = max(1, int(size * len(table) / max(table.nbytes, 1)))
        for start in range(0, len(table), rows):
            yield table.slice(start, rows)


def texts(words: Iterable[str]) -> pa.Array:
    """Strings as an Arrow array."""
    encoded = [word.encode() for word in words]
    offsets = np.concatenate(([0], np.cumsum([len(word) for word in encoded], dtype=np.int32))).astype(np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))


@lru_cache(64)
def word_set(words: tuple[str, ...]) -> pa.Array:
    """Strings as an Arrow array, cached: a file with 100,000 columns asks for the same ones for each."""
    return texts(words)


@lru_cache(4096)
def text(word: str) -> pa.Scalar:
    """A string as an Arrow scalar."""
    return texts([word]).cast(LARGE)[0]


def joined(*parts: pa.Array | pa.Scalar, sep: str = "") -> pa.Array:
    """The parts of each row, concatenated."""
    return pc.binary_join_element_wise(*parts, text(sep))


def data_of(array: pa.Array) -> memoryview:
    """The bytes of all values of a large string array, in place."""
    _, offsets, values = array.buffers()
    if values is None or not len(array):
        return memoryview(b"")
    ends = memoryview(offsets).cast("q")
    return memoryview(values)[ends[array.offset] : ends[array.offset + len(array)]]


def characters_of(array: pa.Array) -> np.ndarray:
    """The bytes of `data_of` as a numpy array."""
    return np.frombuffer(data_of(array), np.uint8)


def float_texts(numbers: pa.Array) -> pa.Array:
    """Floats as texts that show that they are floats: 1.0, not 1."""
    cells = numbers.cast(LARGE)
    known = numbers.cast(pa.float32()) if pa.types.is_float16(numbers.type) else numbers
    if not pc.any(pc.equal(pc.floor(known), known)).as_py():  # a hundred times as fast as a look at the texts
        return cells
    whole = pc.match_substring_regex(cells, r"^-?\d+$")
    return pc.if_else(whole, joined(cells, text(".0")), cells)


def compacted(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array, whose buffers hold its values and nothing else."""
    array = column.combine_chunks()
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
