"""Forwards to `crucible_datasets.outputs.tensorflow`."""

from crucible_datasets.outputs.tensorflow import TensorflowFormatter as TFFormatter

__all__ = ["TFFormatter"]
