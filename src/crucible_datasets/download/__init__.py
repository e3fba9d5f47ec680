"""Download managers, through which builders get their files."""

from crucible_datasets.download.download_config import DownloadConfig
from crucible_datasets.download.download_manager import DownloadManager
from crucible_datasets.download.streaming_download_manager import StreamingDownloadManager
from crucible_datasets.reading.modes import DownloadMode

__all__ = ["DownloadConfig", "DownloadManager", "DownloadMode", "StreamingDownloadManager"]
