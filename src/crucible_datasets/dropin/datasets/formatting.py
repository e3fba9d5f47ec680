"""Forwards to `crucible_datasets.outputs`: what rows are returned as, and rows and columns of a table by key."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from crucible_datasets.arrow_dataset import Dataset
from crucible_datasets.exceptions import ColumnNotFoundError
from crucible_datasets.features import Features
from crucible_datasets.features.storage import to_storage
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.ops.mapping.lazy import LazyBatch, LazyRow
from crucible_datasets.outputs.base import OUTPUTS, Formatter
from crucible_datasets.outputs.python import PythonFormatter

from ._sharing import forward

__all__ = [
    "Formatter",
    "LazyBatch",
    "LazyRow",
    "format_table",
    "get_format_type_from_alias",
    "get_formatter",
    "query_table",
]

__path__: list[str] = []
forward(
    __name__,
    {
        "formatting": {
            "formatting": "format_table key_to_query_type query_table",
            "ops.mapping.lazy": "Lazy:LazyDict LazyBatch LazyRow",
            "outputs.arrow": "ArrowFormatter",
            "outputs.base": "Formatter",
            "outputs.custom": "CustomFormatter",
            "outputs.pandas": "PandasFormatter",
            "outputs.python": "PythonFormatter",
            "outputs.tensors": "TensorFormatter",
        },
        "jax_formatter": {"outputs.jax": "JaxFormatter"},
        "np_formatter": {"outputs.numpy": "NumpyFormatter"},
        "polars_formatter": {"outputs.polars": "PolarsFormatter"},
        "tf_formatter": {"outputs.tensorflow": "TensorflowFormatter:TFFormatter"},
        "torch_formatter": {"outputs.torch": "TorchFormatter"},
    },
)


def get_format_type_from_alias(format_type: str | None) -> str | None:
    """The name of an output, by any of its names; None is Python objects."""
    name = None if format_type is None else OUTPUTS[format_type].name
    return None if name == "python" else name


def get_formatter(format_type: str | None, **format_kwargs: Any) -> Formatter:
    """What turns Arrow rows into objects of one library."""
    output = OUTPUTS[format_type or "python"]
    output.check_options(format_kwargs)
    return output.make(**format_kwargs)


def key_to_query_type(key: Any) -> str:
    """What a key asks for: a row, a column, or a batch."""
    return "row" if isinstance(key, int) else "column" if isinstance(key, str) else "batch"


def query_table(table: Any, key: Any, indices: Any = None) -> pa.Table:
    """The rows of a table that a key names, or the column; `indices` says in which order rows are seen."""
    rows: Any = Dataset(table, indices_table=indices).with_format("arrow")
    if not isinstance(key, str):
        return rows[[key] if isinstance(key, int) else key]
    if key not in table.column_names:
        raise ColumnNotFoundError(key, list(table.column_names))
    return rows.select_columns([key])[:]


def format_table(
    table: Any,
    key: Any,
    formatter: Formatter,
    format_columns: list[str] | None = None,
    output_all_columns: bool = False,
) -> Any:
    """What a key asked for, as a formatter shows it: all columns, some, or some with the others as they are."""
    plain = getattr(table, "table", table)
    if isinstance(key, str):
        return _shown(plain, key, formatter if format_columns is None or key in format_columns else PythonFormatter())
    chosen = plain.column_names if format_columns is None else [n for n in plain.column_names if n in format_columns]
    shown = _shown(plain.select(chosen), key, formatter)
    if format_columns is None or not output_all_columns:
        return shown
    return {**shown, **_shown(plain.drop_columns(chosen), key, PythonFormatter())}


def _shown(table: pa.Table, key: Any, formatter: Formatter) -> Any:
    features = Features.from_arrow_schema(table.schema)
    if isinstance(key, str):
        return formatter.column(to_storage(table.column(key)), features[key])
    stored = pa.table({name: to_storage(table.column(name)) for name in features})
    return (formatter.row if isinstance(key, int) else formatter.batch)(stored, features)


names_of_datasets(__name__)
