"""Stage 2 of 6: name → files → bytes."""

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from crucible_datasets.lazy_imports import submodules

    __getattr__ = submodules(__name__)
