"""Stage 5 of 6, for data that only flows: shards of Arrow batches through stages, resumable from every row."""

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from crucible_datasets.lazy_imports import submodules

    __getattr__ = submodules(__name__)
