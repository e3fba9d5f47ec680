"""Users' transforms: a function that gets a batch of Python columns and returns columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.outputs.base import Output
from crucible_datasets.outputs.python import PythonFormatter


class CustomFormatter:
    """Applies `transform` to every batch; a single row is a batch of one."""

    def __init__(self, transform: Callable[[dict[str, list[Any]]], dict[str, Any]]) -> None:
        self.transform = transform
        self.python = PythonFormatter()

    def batch(self, table: pa.Table, features: Features) -> dict[str, Any]:
        return self.transform(self.python.batch(table, features))

    def row(self, table: pa.Table, features: Features) -> dict[str, Any]:
        made = self.batch(table, features)
        if not isinstance(made, Mapping):
            raise TypeError(f"A transform returns columns by name, not {type(made).__name__}.")
        return {name: values[0] for name, values in made.items()}

    def rows(self, table: pa.Table, features: Features) -> Iterator[dict[str, Any]]:
        # One call per row: a transform may depend on the batch it is given.
        return (self.row(table.slice(index, 1), features) for index in range(table.num_rows))

    def column(self, column: pa.ChunkedArray, feature: Any) -> Any:
        raise TypeError("A transform sees whole rows; a single column has none.")


OUTPUT = Output("custom", CustomFormatter)
