"""Forwards to `crucible_datasets.logging`, with the progress bars that older programs look for here."""

from crucible_datasets.logging import *  # noqa: F403
from crucible_datasets.logging import __all__ as _levels
from crucible_datasets.progress import (
    disable_progress_bar,
    enable_progress_bar,
    is_progress_bar_enabled,
    tqdm,
)

__all__ = [*_levels, "disable_progress_bar", "enable_progress_bar", "is_progress_bar_enabled", "tqdm"]
