"""Forwards to `load_dataset_builder("arrow", …)`."""

from .._builders import OfFormat

__all__ = ["Arrow"]


class Arrow(OfFormat):
    """A dataset made of such files."""

    format = "arrow"
