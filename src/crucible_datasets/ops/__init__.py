"""Stage 5 of 6: functions from view to view. Modules are imported on first use."""

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from crucible_datasets.lazy_imports import submodules

    __getattr__ = submodules(__name__)
