"""Read values by their addresses: the memory of the process as one long array.

Only the bytes at the given addresses are read, and copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Longs = npt.NDArray[np.int64]
Bits = npt.NDArray[np.bool_]

LOWEST = 4096  # there is no data below; address 0 would mean "no buffer" to Arrow
_MEMORY = pa.foreign_buffer(LOWEST, 2**56)
_GRIDS = {width: np.frombuffer(_MEMORY, dtype=f"u{width}") for width in (1, 2, 4, 8)}


def address_of(buffer: pa.Buffer | None) -> int:
    """The address of a buffer."""
    return LOWEST if buffer is None else int(buffer.address)


def read(addresses: Longs, width: int) -> npt.NDArray[Any]:
    """The `width` bytes at each address."""
    if width not in _GRIDS or (addresses & (width - 1)).any():
        data = copied(addresses, np.full(len(addresses), width, dtype=np.int64))
        return np.frombuffer(data, dtype=f"V{width}", count=len(addresses))
    return _GRIDS[width].take((addresses - LOWEST) >> (width.bit_length() - 1))


def read_bits(positions: Longs) -> Bits:
    """The bits at positions that count from address 0."""
    found: Bits = (read(positions >> 3, 1) >> (positions & 7).astype(np.uint8) & 1).astype(np.bool_)
    return found


def packed(valid: Bits) -> pa.Buffer:
    """Bits packed into bytes, as Arrow stores them."""
    return pa.py_buffer(np.packbits(valid, bitorder="little"))


def copied(starts: Longs, lengths: Longs) -> pa.Buffer:
    """The bytes at each start, one run after the other.

    To `take`, the memory is one long array whose every second value is a run. Those between are gaps, possibly of
    negative length, which are never read.
    """
    total = int(lengths.sum())
    if not total:
        return pa.py_buffer(b"")
    bounds = np.empty(2 * len(starts) + 1, dtype=np.int64)
    np.subtract(starts, LOWEST, out=bounds[:-1:2])
    np.add(bounds[:-1:2], lengths, out=bounds[1::2])
    bounds[-1] = bounds[0] + 2 * total  # `take` reserves memory by the first and last offset: exactly this
    values = pa.Array.from_buffers(pa.large_binary(), 2 * len(starts), [None, pa.py_buffer(bounds), _MEMORY])
    chosen = np.arange(0, 2 * len(starts), 2, dtype=np.int64)
    indices = pa.Array.from_buffers(pa.int64(), len(chosen), [None, pa.py_buffer(chosen)])
    return values.take(indices).buffers()[2]
