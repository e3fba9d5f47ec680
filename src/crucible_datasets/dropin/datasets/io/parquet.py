"""Forwards to `load_dataset("parquet", …)` and `Dataset.to_parquet`."""

from .abc import ReaderOfFormat, WriterOfFormat

__all__ = ["ParquetDatasetReader", "ParquetDatasetWriter"]


class ParquetDatasetReader(ReaderOfFormat):
    """Reads files."""

    format = "parquet"


class ParquetDatasetWriter(WriterOfFormat):
    """Writes a file."""

    method = "to_parquet"
