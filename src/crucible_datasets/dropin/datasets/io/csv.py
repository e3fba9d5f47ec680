"""Forwards to `load_dataset("csv", …)` and `Dataset.to_csv`."""

from .abc import ReaderOfFormat, WriterOfFormat

__all__ = ["CsvDatasetReader", "CsvDatasetWriter"]


class CsvDatasetReader(ReaderOfFormat):
    """Reads files."""

    format = "csv"


class CsvDatasetWriter(WriterOfFormat):
    """Writes a file."""

    method = "to_csv"
