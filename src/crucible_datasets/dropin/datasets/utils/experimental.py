"""Forwards to `crucible_datasets.stability`."""

from crucible_datasets.stability import experimental

__all__ = ["experimental"]
