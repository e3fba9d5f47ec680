"""Arrow text, made and joined without a look at single values.

`pa.array` and `pa.scalar` first import pandas, which takes longer than to read a file;
what is made here does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc

LARGE = pa.large_string()
# 100,000 conversations became JSON in 0.46 s of processor time with 1 MB, in 0.70 s with 4 MB.
_PART_BYTES = 1 << 20


def parts(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The rows in small tables: what is made of one fits into the memory that the one before has freed."""
    for table in tables:
        rows = max(1, int(_PART_BYTES * len(table) / max(table.nbytes, 1)))
        for start in range(0, len(table), rows):
            yield table.slice(start, rows)


def texts(words: Iterable[str]) -> pa.Array:
    """Words as an Arrow array."""
    encoded = [word.encode() for word in words]
    offsets = np.concatenate(([0], np.cumsum([len(word) for word in encoded], dtype=np.int32))).astype(np.int32)
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))


@lru_cache(64)
def word_set(words: tuple[str, ...]) -> pa.Array:
    """Words as an Arrow array, made once: a file with 100,000 columns asks for the same words in each."""
    return texts(words)


@cache
def text(word: str) -> pa.Scalar:
    """A word as an Arrow value."""
    return texts([word]).cast(LARGE)[0]


def joined(*parts: pa.Array | pa.Scalar, sep: str = "") -> pa.Array:
    """The parts of each row after each other."""
    return pc.binary_join_element_wise(*parts, text(sep))


def data_of(array: pa.Array) -> memoryview:
    """The bytes of all texts of a large array, one after the other, where they are."""
    _, offsets, values = array.buffers()
    if values is None or not len(array):
        return memoryview(b"")
    ends = memoryview(offsets).cast("q")
    return memoryview(values)[ends[array.offset] : ends[array.offset + len(array)]]


def characters_of(array: pa.Array) -> np.ndarray:
    """The bytes of `data_of` as numbers."""
    return np.frombuffer(data_of(array), np.uint8)


def with_point(numbers: pa.Array) -> pa.Array:
    """Texts of floats that show that they are floats: 1 becomes 1.0."""
    whole = pc.match_substring_regex(numbers, r"^-?\d+$")
    return pc.if_else(whole, joined(numbers, text(".0")), numbers) if pc.any(whole).as_py() else numbers


def compacted(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array over buffers that hold its values and no others."""
    array = column.combine_chunks()
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
