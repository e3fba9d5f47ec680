"""Forwards to `load_dataset("json", …)` and `Dataset.to_json`."""

from .abc import ReaderOfFormat, WriterOfFormat

__all__ = ["JsonDatasetReader", "JsonDatasetWriter"]


class JsonDatasetReader(ReaderOfFormat):
    """Reads files."""

    format = "json"


class JsonDatasetWriter(WriterOfFormat):
    """Writes a file."""

    method = "to_json"
