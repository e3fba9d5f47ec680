"""Forwards to `crucible_datasets.version`."""

from crucible_datasets.version import Version

__all__ = ["Version"]
