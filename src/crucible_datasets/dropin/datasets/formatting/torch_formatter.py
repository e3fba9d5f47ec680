"""Forwards to `crucible_datasets.outputs.torch`."""

from crucible_datasets.outputs.torch import TorchFormatter

__all__ = ["TorchFormatter"]
