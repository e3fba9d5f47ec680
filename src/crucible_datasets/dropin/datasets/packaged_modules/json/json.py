"""Forwards to `load_dataset_builder("json", …)`."""

from .._builders import OfFormat

__all__ = ["Json"]


class Json(OfFormat):
    """A dataset made of such files."""

    format = "json"
