"""Tar shards of samples: writing them sample by sample.

`Dataset.to_webdataset` writes a dataset; `load_dataset("webdataset", …)` and `formats.webdataset` read.
"""

from __future__ import annotations

from crucible_datasets.ops.webdataset.shardwriter import ShardWriter

__all__ = ["ShardWriter"]
