"""The values of a field of a dataset: a column, or a place within one, as "metadata.level"."""

from __future__ import annotations

from typing import Any

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.exceptions import ColumnNotFoundError


def field_values(dataset: Dataset, path: str) -> Any:
    """One value per row: as Arrow where the field has a type of its own, else as a list."""
    if path in dataset.column_names:
        return dataset[path].to_arrow()
    first, *names = path.split(".")
    if first not in dataset.column_names or not names:
        raise ColumnNotFoundError(path, dataset.column_names)
    column, kind = dataset[first], dataset.features[first]
    while names and isinstance(kind, dict):
        name, *names = names
        if name not in kind:
            raise ColumnNotFoundError(path, [f"{path.rpartition(name)[0]}{known}" for known in kind])
        column, kind = column[name], kind[name]
    return [_reached(value, names, path) for value in column] if names else column.to_arrow()


def _reached(value: Any, names: list[str], path: str) -> Any:
    for name in names:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise ColumnNotFoundError(path, [])
        value = value.get(name)
    return value
