"""The rows that a function failed on, as a dataset of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.ops.mapping.shards import ERRORS
from crucible_datasets.tables.files import open_table
from crucible_datasets.tables.view import View


def errors_in(folder: str, files: Sequence[str], on_error: str) -> View | None:
    """The errors of a call in the order of their rows; None unless they are collected."""
    if on_error != "collect":
        return None
    tables = [open_table(os.path.join(folder, file), in_memory=True, trusted=True) for file in files]
    return View.of(pa.concat_tables([ERRORS.empty_table(), *tables]), Features.from_arrow_schema(ERRORS))
