"""`StreamingDownloadManager`: the same questions, answered without unpacking anything."""

from __future__ import annotations

import os
from typing import Any

from crucible_datasets.download.download_manager import DownloadManager, Nested
from crucible_datasets.exceptions import UnavailableError
from crucible_datasets.reading.unpack import is_packed


class StreamingDownloadManager(DownloadManager):
    """Finds the files of a builder whose rows are read as they arrive."""

    is_streaming = True

    def extract(self, path_or_paths: Nested) -> Nested:
        """The paths themselves; a packed file cannot be unpacked as it arrives."""
        return super().extract(path_or_paths)

    def _extracted(self, path: Any) -> str:
        if os.path.isfile(path) and is_packed(os.path.abspath(path)):
            raise UnavailableError(f"Unpacking {path} as a stream", "Read it with iter_archive.")
        return str(path)
