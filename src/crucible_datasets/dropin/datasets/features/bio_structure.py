"""Forwards to `crucible_datasets.features`."""

from crucible_datasets.features import BioStructure

__all__ = ["BioStructure"]
