"""`pyarrow.compute`, imported when it is first used: that takes longer than importing this whole package."""

from importlib import import_module
from typing import Any


def call(kernel: str, *columns: Any) -> Any:
    """A kernel that takes no options. The registry of kernels is there without `pyarrow.compute`, which wraps each."""
    try:
        from pyarrow._compute import call_function
    except ImportError:  # it is where pyarrow 23 to 26 have it
        from pyarrow.compute import call_function
    return call_function(kernel, list(columns))


def __getattr__(name: str) -> Any:
    value = getattr(import_module("pyarrow.compute"), name)
    globals()[name] = value
    return value
