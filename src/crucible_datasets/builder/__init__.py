"""Builders: base classes for users' code that downloads files and generates rows.

Subclasses define `_info`, `_split_generators(dl_manager)` and `_generate_examples` (pairs of a key and a row) or
`_generate_tables` (pairs of a key and an Arrow table). `download_and_prepare` runs it once; `as_dataset` opens the
result.
"""

from crucible_datasets.builder.base import DatasetBuilder
from crucible_datasets.builder.configuration import BuilderConfig
from crucible_datasets.builder.rows import ArrowBasedBuilder, GeneratorBasedBuilder
from crucible_datasets.lazy_imports import names_of_datasets

__all__ = ["ArrowBasedBuilder", "BuilderConfig", "DatasetBuilder", "GeneratorBasedBuilder"]

names_of_datasets(__name__)
