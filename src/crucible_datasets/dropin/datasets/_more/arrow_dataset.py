"""More of `datasets.arrow_dataset`."""

from typing import Any

__all__ = ["Batch", "Example"]

Example = dict[str, Any]
Batch = dict[str, list[Any]]
