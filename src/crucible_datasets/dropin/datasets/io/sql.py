"""Forwards to `Dataset.from_sql` and `Dataset.to_sql`."""

from __future__ import annotations

from typing import Any

from crucible_datasets.arrow_dataset import Dataset

from .abc import AbstractDatasetInputStream

__all__ = ["SqlDatasetReader", "SqlDatasetWriter"]


class SqlDatasetReader(AbstractDatasetInputStream):
    """Reads what a query gives."""

    def __init__(self, sql: Any, con: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sql, self.con = sql, con

    def read(self) -> Dataset:
        """The dataset."""
        return Dataset.from_sql(self.sql, self.con, self.features, self.cache_dir, self.keep_in_memory, **self.kwargs)


class SqlDatasetWriter:
    """Writes a table of a database."""

    def __init__(self, dataset: Dataset, name: str, con: Any, batch_size: int | None = None, **kwargs: Any) -> None:
        self.dataset, self.name, self.con, self.batch_size, self.kwargs = dataset, name, con, batch_size, kwargs

    def write(self) -> int:
        """Write it; the number of rows."""
        return self.dataset.to_sql(self.name, self.con, batch_size=self.batch_size, **self.kwargs)
