"""`pyarrow.compute`, imported when it is first used: that takes longer than importing this whole package."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    value = getattr(import_module("pyarrow.compute"), name)
    globals()[name] = value
    return value
