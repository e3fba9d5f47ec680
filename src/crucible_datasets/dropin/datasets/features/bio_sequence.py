"""Forwards to `crucible_datasets.features`."""

from crucible_datasets.features import BioSequence

__all__ = ["BioSequence"]
