"""The data of the cases in other file formats: written once, next to the Arrow streams.

    chat, flat   .parquet, .jsonl and (flat only: CSV has no lists) .csv
    wide         .parquet with 20 columns, with an ascending column `number`

`python -m benchmarks.file_data ROWS` writes what is missing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.data import path_of, read_table

if TYPE_CHECKING:
    import pyarrow as pa

WIDE_COLUMNS = 20
ROWS_PER_GROUP = 10_000


def as_parquet(table: pa.Table, path: Path) -> None:
    """Parquet with row groups of a typical size and statistics."""
    import pyarrow.parquet as pq

    pq.write_table(table, path, row_group_size=ROWS_PER_GROUP)


def as_jsonl(table: pa.Table, path: Path) -> None:
    """JSON Lines."""
    import json

    with path.open("w", encoding="utf-8") as file:
        for batch in table.to_batches(1_000):
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())


def as_csv(table: pa.Table, path: Path) -> None:
    """CSV with a header."""
    import pyarrow.csv

    pyarrow.csv.write_csv(table, path)


def wide(table: pa.Table) -> pa.Table:
    """A column of row numbers and 19 columns of text."""
    import pyarrow as pa

    text = table["problem"]
    columns = {f"text{number:02d}": text for number in range(WIDE_COLUMNS - 1)}
    return pa.table({"number": pa.array(range(len(table))), **columns})


def wide_parquet(table: pa.Table, path: Path) -> None:
    """The wide table."""
    as_parquet(wide(table), path)


WRITERS: dict[tuple[str, str], Callable[[pa.Table, Path], None]] = {
    ("chat", ".parquet"): as_parquet,
    ("flat", ".parquet"): as_parquet,
    ("chat", ".jsonl"): as_jsonl,
    ("flat", ".jsonl"): as_jsonl,
    ("flat", ".csv"): as_csv,
    ("flat", ".wide.parquet"): wide_parquet,
}


def write_missing(rows: int) -> None:
    """Write each missing file atomically."""
    for (shape, suffix), write in WRITERS.items():
        source = path_of(shape, rows)
        path = source.with_suffix(suffix)
        if not path.exists():
            part = path.with_suffix(f".{os.getpid()}.part")
            write(read_table(source), part)
            part.replace(path)


if __name__ == "__main__":
    for row_count in map(int, sys.argv[1:]):
        write_missing(row_count)
