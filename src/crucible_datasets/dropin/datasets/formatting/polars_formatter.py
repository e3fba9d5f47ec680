"""Forwards to `crucible_datasets.outputs.polars`."""

from crucible_datasets.outputs.polars import PolarsFormatter

__all__ = ["PolarsFormatter"]
