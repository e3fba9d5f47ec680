"""Datasets → tar shards: `to_webdataset` and `ShardWriter`.

extensions   extensions of types and media
values       a Python value → the bytes of a file with an extension
columns      columns of a dataset → the files of its rows
shardwriter  files → shards, written atomically
export       a view or a stream → shards
"""

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from crucible_datasets.lazy_imports import submodules

    __getattr__ = submodules(__name__)
