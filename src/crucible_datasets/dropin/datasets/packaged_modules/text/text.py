"""Forwards to `load_dataset_builder("text", …)`."""

from .._builders import OfFormat

__all__ = ["Text"]


class Text(OfFormat):
    """A dataset made of such files."""

    format = "text"
