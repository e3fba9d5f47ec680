"""Forwards to `crucible_datasets.progress`."""

from crucible_datasets.progress import (
    are_progress_bars_disabled,
    disable_progress_bar,
    disable_progress_bars,
    enable_progress_bar,
    enable_progress_bars,
    is_progress_bar_enabled,
    tqdm,
)

__all__ = [
    "are_progress_bars_disabled",
    "disable_progress_bar",
    "disable_progress_bars",
    "enable_progress_bar",
    "enable_progress_bars",
    "is_progress_bar_enabled",
    "tqdm",
]
