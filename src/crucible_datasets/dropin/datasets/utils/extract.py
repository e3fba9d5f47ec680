"""Forwards to the download manager, which unpacks archives."""

from __future__ import annotations

from crucible_datasets.download import DownloadConfig, DownloadManager

__all__ = ["ExtractManager"]


class ExtractManager:
    """Unpacks archives into the cache."""

    def __init__(self, cache_dir: str | None = None) -> None:
        self._downloads = DownloadManager(download_config=DownloadConfig(cache_dir=cache_dir))

    def extract(self, input_path: str, force_extract: bool = False) -> str:
        """Where the content of an archive lies; a file that is none is itself."""
        return str(self._downloads.extract(input_path))
