"""Forwards to `load_dataset_builder("csv", …)`."""

from .._builders import OfFormat

__all__ = ["Csv"]


class Csv(OfFormat):
    """A dataset made of such files."""

    format = "csv"
