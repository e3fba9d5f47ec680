"""Tar shards of samples, sample by sample: `parse` and `stream` read them, `ShardWriter` writes them.

`Dataset.to_webdataset` writes a dataset; `load_dataset("webdataset", …)` reads one.
"""

from __future__ import annotations

from crucible_datasets.formats.webdataset import parse, parse_shards, stream, stream_shards
from crucible_datasets.ops.webdataset.shardwriter import ShardWriter

__all__ = ["ShardWriter", "parse", "parse_shards", "stream", "stream_shards"]
