"""The one way files and folders come into being: written beside their place, made durable, renamed into it.

A reader sees the old one or the whole new one, never half of it, also after a crash. What a
dead process left unfinished goes away with the next write to the same place.
"""

from crucible_datasets.atomic.files import storage_errors, written_whole
from crucible_datasets.atomic.folders import finish_interrupted, replaced_whole, seen_whole

__all__ = ["finish_interrupted", "replaced_whole", "seen_whole", "storage_errors", "written_whole"]
