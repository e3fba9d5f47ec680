"""Forwards: progress bars, logging and the rest of what Hugging Face calls utils; nothing is defined here."""

from crucible_datasets.download import DownloadConfig, DownloadManager, DownloadMode
from crucible_datasets.lazy_imports import names_of_datasets
from crucible_datasets.reading.modes import VerificationMode
from crucible_datasets.version import Version

from . import (
    extract,
    file_utils,
    filelock,
    hub,
    info_utils,
    logging,
    metadata,
    py_utils,
    typing,
    version,
)
from .experimental import experimental
from .tqdm import (
    are_progress_bars_disabled,
    disable_progress_bar,
    disable_progress_bars,
    enable_progress_bar,
    enable_progress_bars,
    is_progress_bar_enabled,
    tqdm,
)

__all__ = [
    "DownloadConfig",
    "DownloadManager",
    "DownloadMode",
    "VerificationMode",
    "Version",
    "are_progress_bars_disabled",
    "disable_progress_bar",
    "disable_progress_bars",
    "enable_progress_bar",
    "enable_progress_bars",
    "experimental",
    "extract",
    "file_utils",
    "filelock",
    "hub",
    "info_utils",
    "is_progress_bar_enabled",
    "logging",
    "metadata",
    "py_utils",
    "tqdm",
    "typing",
    "version",
]

names_of_datasets(__name__)
