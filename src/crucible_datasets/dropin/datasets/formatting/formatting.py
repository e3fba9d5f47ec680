"""Forwards: the dicts that functions of users get, and the formatters."""

from crucible_datasets.ops.mapping.lazy import Lazy as LazyDict
from crucible_datasets.ops.mapping.lazy import LazyBatch, LazyRow
from crucible_datasets.outputs.arrow import ArrowFormatter
from crucible_datasets.outputs.base import Formatter
from crucible_datasets.outputs.custom import CustomFormatter
from crucible_datasets.outputs.pandas import PandasFormatter
from crucible_datasets.outputs.python import PythonFormatter
from crucible_datasets.outputs.tensors import TensorFormatter

from ._queries import format_table, key_to_query_type, query_table

__all__ = [
    "ArrowFormatter",
    "CustomFormatter",
    "Formatter",
    "LazyBatch",
    "LazyDict",
    "LazyRow",
    "PandasFormatter",
    "PythonFormatter",
    "TensorFormatter",
    "format_table",
    "key_to_query_type",
    "query_table",
]
