"""Forwards to `load_dataset_builder("parquet", …)`."""

from .._builders import OfFormat

__all__ = ["Parquet"]


class Parquet(OfFormat):
    """A dataset made of such files."""

    format = "parquet"
