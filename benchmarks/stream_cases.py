"""Streams: rows that are read while they are used, without loading anything first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.cases import Setup, State, case, count
from benchmarks.data import read_table
from benchmarks.file_cases import beside, load, loading

FILES = 100
# At the end of a program, Hugging Face `datasets` 5.2.0 may wait forever for threads that read ahead.
FIRST_ROW = "import os\nprint(next(iter(rows)), flush=True)\nos._exit(0)"


def streaming(format: str, suffix: str) -> Setup:
    """A file as a stream."""

    def setup(module: Any, path: Path) -> State:
        files = [str(beside(path, suffix))]
        return State(module, module.load_dataset(format, data_files=files, split="train", streaming=True))

    return setup


def in_many_files(module: Any, path: Path) -> State:
    """The rows in 100 Parquet files as a stream, and nine tenths of their number."""
    import pyarrow.parquet as pq

    table = read_table(path)
    files = []
    for number in range(FILES):
        start, stop = (len(table) * place // FILES for place in (number, number + 1))
        files.append(str(path.with_name(f"part-{number:03d}.parquet")))
        pq.write_table(table.slice(start, stop - start), files[-1])
    stream = module.load_dataset("parquet", data_files=files, split="train", streaming=True)
    return State(module, stream, len(table) * 9 // 10)


PARQUET = streaming("parquet", ".parquet")
load("stream, first row", loading("parquet", ".parquet", FIRST_ROW, streaming=True), chat=3, flat=3, most_disk=0)


@case("stream Parquet", setup=PARQUET, chat=3.5, flat=3.5, most_disk=0)
def stream_parquet(state: State) -> int:
    return count(state.dataset)


@case("stream JSON Lines", setup=streaming("json", ".jsonl"), chat=3, flat=3, most_disk=0)
def stream_json(state: State) -> int:
    return count(state.dataset)


@case("stream, shuffle, batch", setup=PARQUET, chat=3.5, flat=3.5)
def stream_shuffled(state: State) -> list[int]:
    batches = state.dataset.shuffle(seed=42, buffer_size=10_000).batch(128)
    return [len(next(iter(batch.values()))) for batch in batches]


@case("stream, map, filter", setup=PARQUET, chat=6, flat=6)
def stream_mapped(state: State) -> int:
    first = next(iter(state.dataset.features))
    mapped = state.dataset.map(lambda row: {"size": len(row[first])})
    return count(mapped.filter(lambda row: row["size"] % 2 == 0))


@case("stream, skip 90 %", setup=in_many_files, chat=50, flat=50)
def stream_skipped(state: State) -> list[str]:
    return [str(next(iter(state.dataset.skip(state.given))))]
