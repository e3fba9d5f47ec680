"""Results in a file that the user names (`cache_file_name`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from crucible_datasets import config
from crucible_datasets.atomic import atomic_file
from crucible_datasets.fingerprint import is_caching_enabled
from crucible_datasets.ops import build
from crucible_datasets.ops.blocks import blocks
from crucible_datasets.ops.mapping.result_cache import ResultCache, temporary_home
from crucible_datasets.outputs.arrow import ArrowFormatter
from crucible_datasets.tables.view import View

Result = tuple[View, View | None]


def usual_place(fingerprint: str) -> str:
    """The default cache file of a fingerprint; a temporary one if caching is disabled."""
    folder = config.HF_DATASETS_CACHE if is_caching_enabled() else temporary_home()
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, f"cache-{fingerprint}.arrow")


def in_named_file(path: str, result_cache: ResultCache, make: Callable[[ResultCache], Result]) -> Result:
    """The rows of an Arrow file, which is written now unless it exists and may be reused."""
    import pyarrow as pa

    result, errors = None, None
    if result_cache.is_fresh or not os.path.exists(path):
        result, errors = make(result_cache)
        schema = result.features.arrow_schema
        with atomic_file(path) as temporary, pa.ipc.new_stream(temporary, schema) as writer:
            for table in blocks(result):
                writer.write_table(ArrowFormatter().batch(table, result.features))
    opened = build.from_file(path, in_memory=result_cache.in_memory)
    opened = replace(opened, fingerprint=result_cache.fingerprint)
    return (opened if result is None else replace(result, table=opened.table, rows=opened.rows)), errors
