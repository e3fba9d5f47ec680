"""The Parquet files of a push, counted while they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from crucible_datasets.features import Features
from crucible_datasets.formats.base import FORMATS
from crucible_datasets.splits import SplitInfo

Tables = Iterable[pa.Table]


def write(tables: Tables, kinds: Features, path: str, info: SplitInfo) -> None:
    """Write a file, and add its rows and bytes to those of its split."""
    parquet = FORMATS["parquet"].write
    assert parquet is not None
    with open(path, "wb") as stream:
        parquet(_counted(tables, info), kinds, stream)


def _counted(tables: Tables, info: SplitInfo) -> Iterator[pa.Table]:
    for table in tables:
        info.num_examples += table.num_rows
        info.num_bytes += table.nbytes
        yield table
