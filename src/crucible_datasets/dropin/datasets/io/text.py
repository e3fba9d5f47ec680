"""Forwards to `load_dataset("text", …)`."""

from .abc import ReaderOfFormat

__all__ = ["TextDatasetReader"]


class TextDatasetReader(ReaderOfFormat):
    """Reads files, line by line."""

    format = "text"
