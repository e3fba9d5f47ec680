"""Stage 5 of 6, for streams: shards of Arrow batches pass through stages, and reading can resume at any row."""

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from crucible_datasets.lazy_imports import submodules

    __getattr__ = submodules(__name__)
