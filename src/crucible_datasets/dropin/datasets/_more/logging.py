"""More of `datasets.logging`, which is `datasets.utils.logging` there."""

from crucible_datasets.progress import disable_progress_bar, enable_progress_bar, is_progress_bar_enabled, tqdm

__all__ = ["disable_progress_bar", "enable_progress_bar", "is_progress_bar_enabled", "tqdm"]
