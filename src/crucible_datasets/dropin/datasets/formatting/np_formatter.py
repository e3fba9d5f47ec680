"""Forwards to `crucible_datasets.outputs.numpy`."""

from crucible_datasets.outputs.numpy import NumpyFormatter

__all__ = ["NumpyFormatter"]
