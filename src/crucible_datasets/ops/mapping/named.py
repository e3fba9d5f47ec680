"""Results in a file that the user names."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from crucible_datasets import config
from crucible_datasets.atomic import atomic_file
from crucible_datasets.fingerprint import is_caching_enabled
from crucible_datasets.ops import build
from crucible_datasets.ops.blocks import blocks
from crucible_datasets.ops.mapping.keeping import Keeping, temporary_home
from crucible_datasets.outputs.arrow import ArrowFormatter
from crucible_datasets.tables.view import View

Result = tuple[View, View | None]


def usual_place(fingerprint: str) -> str:
    """A file for a result that is to be found by its fingerprint: in later runs too, unless caching is disabled."""
    folder = config.HF_DATASETS_CACHE if is_caching_enabled() else temporary_home()
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, f"cache-{fingerprint}.arrow")


def in_named_file(path: str, keeping: Keeping, work_out: Callable[[Keeping], Result]) -> Result:
    """The rows of an Arrow file, which is written now unless it is there and may be used."""
    import pyarrow as pa

    result, errors = None, None
    if keeping.is_fresh or not os.path.exists(path):
        result, errors = work_out(keeping)
        schema = result.features.arrow_schema
        with atomic_file(path) as temporary, pa.ipc.new_stream(temporary, schema) as writer:
            for table in blocks(result):
                writer.write_table(ArrowFormatter().batch(table, result.features))
    opened = build.from_file(path, in_memory=keeping.in_memory)
    opened = replace(opened, fingerprint=keeping.fingerprint)
    return (opened if result is None else replace(result, table=opened.table, rows=opened.rows)), errors
