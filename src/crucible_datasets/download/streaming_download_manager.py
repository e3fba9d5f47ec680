"""`StreamingDownloadManager`: like `DownloadManager`, but nothing is unpacked."""

from __future__ import annotations

import os
from typing import Any, BinaryIO

from crucible_datasets.download.download_config import DownloadConfig
from crucible_datasets.download.download_manager import DownloadManager, Nested
from crucible_datasets.exceptions import UnavailableError
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.reading.unpack import is_packed


class StreamingDownloadManager(DownloadManager):
    """Finds the files of a builder whose rows are streamed."""

    is_streaming = True

    def __init__(
        self,
        dataset_name: str | None = None,
        data_dir: str | None = None,
        download_config: DownloadConfig | None = None,
        base_path: str | None = None,
    ) -> None:
        super().__init__(dataset_name, data_dir, download_config, base_path)

    def extract(self, url_or_urls: Nested) -> Nested:
        """The paths themselves; raises for files that would have to be unpacked."""
        return super().extract(url_or_urls)

    def iter_archive(self, urlpath_or_buf: str | BinaryIO) -> Any:
        """The files of an archive as pairs of name and open file."""
        return super().iter_archive(urlpath_or_buf)

    def iter_files(self, urlpaths: str | list[str]) -> Any:
        """The paths of all files in folders, without hidden ones."""
        return super().iter_files(urlpaths)

    def _extracted(self, path: Any) -> str:
        if os.path.isfile(path) and is_packed(os.path.abspath(path)):
            raise UnavailableError(f"Unpacking {path} as a stream", "Read it with iter_archive.")
        return str(path)


names_of_datasets(__name__)
