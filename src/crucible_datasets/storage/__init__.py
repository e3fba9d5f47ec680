"""Files anywhere by one set of calls: this disk, web servers, the Hub, S3, GCS, Azure and whatever fsspec knows.

Written so that code for `blobfile` ports by one import: `from crucible_datasets.storage import BlobFile`.

    opening   files to read and to write
    jsonl     JSON lines
    listing   what exists where; copies and removals
"""

from crucible_datasets.storage.jsonl import BadRecord, read_jsonl, write_jsonl
from crucible_datasets.storage.listing import Stat, copy, exists, glob, listdir, remove, stat
from crucible_datasets.storage.opening import BlobFile, open

__all__ = [
    "BadRecord",
    "BlobFile",
    "Stat",
    "copy",
    "exists",
    "glob",
    "listdir",
    "open",
    "read_jsonl",
    "remove",
    "stat",
    "write_jsonl",
]
