"""The values of a field of a dataset: a column, or a nested field, such as "metadata.level" or just "level"."""

from __future__ import annotations

from typing import Any

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.exceptions import ColumnNotFoundError


def field_values(dataset: Dataset, path: str) -> Any:
    """One value per row: as Arrow if the field has an Arrow type, else as a list."""
    if path in dataset.column_names:
        return dataset[path].to_arrow()
    if (named := path.removeprefix("metadata.")) in _metadata(dataset):  # a name may contain dots
        return dataset["metadata"][named].to_arrow()
    first, *names = path.split(".")
    if first not in dataset.column_names and _is_in_metadata(dataset, first):
        return field_values(dataset, f"metadata.{path}")
    if first not in dataset.column_names or not names:
        raise ColumnNotFoundError(path, [*dataset.column_names, *(f"metadata.{name}" for name in _metadata(dataset))])
    column, kind = dataset[first], dataset.features[first]
    while names and isinstance(kind, dict):
        name, *names = names
        if name not in kind:
            raise ColumnNotFoundError(path, [f"{path.rpartition(name)[0]}{known}" for known in kind])
        column, kind = column[name], kind[name]
    return [_reached(value, names, path) for value in column] if names else column.to_arrow()


def _metadata(dataset: Dataset) -> dict[str, Any]:
    kind = dataset.features["metadata"] if "metadata" in dataset.column_names else None
    return kind if isinstance(kind, dict) else {}


def _is_in_metadata(dataset: Dataset, name: str) -> bool:
    """Whether metadata has the field, or may have it because its fields differ from row to row."""
    return name in _metadata(dataset) or ("metadata" in dataset.column_names and not _metadata(dataset))


def _reached(value: Any, names: list[str], path: str) -> Any:
    for name in names:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise ColumnNotFoundError(path, [])
        value = value.get(name)
    return value
