"""Arrow numbers as numpy arrays. Arrow's `to_numpy` imports pandas, which takes too long for a page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets import compute as pc


def numbers(values: pa.ChunkedArray) -> np.ndarray:
    """Numbers without nulls; decimals as floats."""
    if pa.types.is_decimal(values.type):
        values = pc.cast(values, pa.float64())
    parts = [flat(chunk) for chunk in values.chunks]
    return np.concatenate(parts) if parts else np.zeros(0)


def flat(values: Any) -> np.ndarray:
    """The buffer of an array of numbers; values under nulls are undefined."""
    kind = np.dtype(values.type.to_pandas_dtype())
    if not len(values):
        return np.zeros(0, kind)
    return np.frombuffer(values.buffers()[1], kind, len(values), kind.itemsize * values.offset)
