"""PyTorch tensors: integers as int64, floats as float32, images as channels × height × width; text stays text.

Columns that already have those dtypes are copied once, as one block: torch has no read-only tensors, and writing into
the table's memory would change the dataset, or kill the process if a file is mapped there.
`with_format("torch", copy=False)` shares that memory, for code that only reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crucible_datasets.outputs.arrays import AnyArray
from crucible_datasets.outputs.base import Output
from crucible_datasets.outputs.tensors import TensorFormatter, alike, require_fitting
from crucible_datasets.registry import need


class TorchFormatter(TensorFormatter):
    """Keyword arguments are those of `torch.tensor`, and `copy`."""

    def __init__(self, copy: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.torch = need("torch", extra="torch")
        self.copy = copy
        self.shares = kwargs.keys() <= {"dtype", "device"}

    def tensor(self, value: Any) -> Any:
        if not isinstance(value, (np.ndarray, np.generic)):
            kind = {"dtype": self.torch.float32} if isinstance(value, float) else {}
            return self.torch.tensor(value, **{**kind, **self.kwargs})
        array = np.asarray(value)
        wanted = {"i": np.int64, "u": np.int64, "f": np.float32}.get(array.dtype.kind, array.dtype)
        if "dtype" in self.kwargs:
            return self.of(array)
        if wanted is np.int64:
            require_fitting(array, np.int64)
        with np.errstate(over="ignore"):  # values beyond float32 become infinite, as in torch itself
            return self.of(array.astype(wanted, copy=False))

    def of(self, array: AnyArray) -> Any:
        if not self.shares:
            return self.torch.tensor(array, **self.kwargs)
        if not array.flags.writeable:
            array = array.copy() if self.copy else _writable(array)
        tensor = self.torch.from_numpy(array)
        return tensor.to(**self.kwargs) if self.kwargs else tensor

    def image(self, pixels: AnyArray) -> Any:
        channels_first = pixels[np.newaxis] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
        return self.of(np.ascontiguousarray(channels_first))

    def media(self, array: AnyArray) -> Any:
        return self.of(array)

    def gathered(self, values: list[Any]) -> Any:
        return self.torch.stack(values) if alike(values, self.torch.Tensor) else values

    def split(self, array: AnyArray, sizes: list[int] | None = None) -> list[Any]:
        rows = self.tensor(array)
        return list(rows.unbind() if sizes is None else rows.split(sizes))


class _Shared:
    """The memory of a read-only array, declared writable; it keeps the array alive."""

    def __init__(self, array: AnyArray) -> None:
        interface = array.__array_interface__
        self.array = array
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def _writable(array: AnyArray) -> AnyArray:
    # torch would warn about read-only memory.
    return np.asarray(_Shared(array))


_OPTIONS = ("copy", "dtype", "device", "requires_grad", "pin_memory")
OUTPUT = Output("torch", TorchFormatter, aliases=("pt", "pytorch"), package="torch", options=_OPTIONS)
