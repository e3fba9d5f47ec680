"""The one way files and folders are written: under a temporary name next to the target, synced, renamed into place.

A reader sees the old version or the complete new one, even after a crash. What a dead process left unfinished is
removed by the next write to the same place.
"""

from crucible_datasets.atomic.files import atomic_file, storage_errors
from crucible_datasets.atomic.folders import atomic_folder, finish_interrupted, seen_whole

__all__ = ["atomic_file", "atomic_folder", "finish_interrupted", "seen_whole", "storage_errors"]
