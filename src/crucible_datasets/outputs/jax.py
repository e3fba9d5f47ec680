"""JAX arrays: integers as int32 (int64 where x64 is enabled), floats as float32; text stays text."""

from __future__ import annotations

from typing import Any

import numpy as np

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.logging import get_logger
from crucible_datasets.outputs.arrays import AnyArray
from crucible_datasets.outputs.base import Output
from crucible_datasets.outputs.tensors import TensorFormatter, alike
from crucible_datasets.registry import need

logger = get_logger(__name__)


class JaxFormatter(TensorFormatter):
    """Keyword arguments are those of `jax.numpy.array`; `device` is the name of a device, as `str(device)` gives it."""

    def __init__(self, device: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.jax = need("jax", extra="jax")
        self.device = self._found(device)

    def _found(self, name: str | None) -> Any:
        if name is not None and not isinstance(name, str):
            raise ArgumentError("device", name, "name it by a string, str(device): devices cannot be pickled.")
        devices = {str(device): device for device in self.jax.devices()}
        first = next(iter(devices))
        if name is not None and name not in devices:
            logger.warning("There is no device %s; using %s. Available: %s.", name, first, ", ".join(devices))
        return devices.get(name or first, devices[first])

    def tensor(self, value: Any) -> Any:
        integers = np.int64 if self.jax.config.jax_enable_x64 else np.int32
        with self.jax.default_device(self.device):
            return self.jax.numpy.array(value, **self.options(value, integers, np.float32))

    def image(self, pixels: AnyArray) -> Any:
        with self.jax.default_device(self.device):
            return self.jax.numpy.array(pixels, **self.kwargs)

    def gathered(self, values: list[Any]) -> Any:
        return self.jax.numpy.stack(values) if alike(values, self.jax.Array) else values


_OPTIONS = ("device", "dtype", "copy", "order", "ndmin")
OUTPUT = Output("jax", JaxFormatter, package="jax", options=_OPTIONS)
