"""Search indexes: vectors by exact comparison or by faiss, text by Elasticsearch."""

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from crucible_datasets.lazy_imports import submodules

    __getattr__ = submodules(__name__)
