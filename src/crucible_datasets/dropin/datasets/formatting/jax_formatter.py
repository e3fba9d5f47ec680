"""Forwards to `crucible_datasets.outputs.jax`."""

from crucible_datasets.outputs.jax import JaxFormatter

__all__ = ["JaxFormatter"]
