"""TensorFlow tensors: integers as int64, floats as float32, text as string tensors, unequal lists as ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from crucible_datasets.outputs.arrays import AnyArray
from crucible_datasets.outputs.base import Output
from crucible_datasets.outputs.tensors import TensorFormatter, alike
from crucible_datasets.registry import need


class TensorflowFormatter(TensorFormatter):
    """Keyword arguments are those of `tf.convert_to_tensor`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.tf = need("tensorflow", extra="tensorflow")

    def tensor(self, value: Any) -> Any:
        return self.tf.convert_to_tensor(value, **self.options(value, np.int64, np.float32))

    def image(self, pixels: AnyArray) -> Any:
        return self.tf.convert_to_tensor(pixels, **self.kwargs)

    def text(self, value: Any) -> Any:
        return None if value is None else self.tf.convert_to_tensor(value)

    def text_column(self, column: pa.ChunkedArray) -> Any:
        if column.null_count or pa.types.is_nested(column.type):
            return self.gathered([self.nested(value) for value in column.to_pylist()])
        return self.tf.convert_to_tensor(column.to_pylist())

    def ragged(self, flat: AnyArray, sizes: list[int]) -> Any:
        return self.tf.RaggedTensor.from_row_lengths(self.tensor(flat), np.asarray(sizes, dtype=np.int32))

    def gathered(self, values: list[Any]) -> Any:
        if alike(values, self.tf.Tensor):
            return self.tf.stack(values)
        lists = [value for value in values if isinstance(value, self.tf.Tensor) and value.shape.rank == 1]
        one_dtype = len({value.dtype for value in lists}) == 1
        return self.tf.ragged.stack(values) if one_dtype and len(lists) == len(values) else values


_OPTIONS = ("dtype", "dtype_hint", "name")
OUTPUT = Output("tensorflow", TensorflowFormatter, aliases=("tf",), package="tensorflow", options=_OPTIONS)
