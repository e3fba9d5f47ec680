"""Sound files of every format that know where each of their rows ends, to be damaged by tests.

A fault at some byte leaves at least the rows that end before it.
"""

from __future__ import annotations

import io
import json
import random
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crucible_datasets as d
from support.packed import tar_of

COUNT, GROUP = 300, 60


def text_of(number: int) -> str:
    return f"é{number} " + random.Random(number).randbytes(40).hex()


@dataclass(frozen=True)
class Sample:
    """A sound file. `ends` says for each row at which byte it is complete."""

    format: str
    extension: str
    data: bytes
    ends: list[int]
    options: dict[str, Any] = field(default_factory=dict)
    has_magic: bool = True  # whether wrong first bytes are noticed
    is_text: bool = False
    starts: list[int] | None = None  # where a fault hits the row, if not at the end of the row before

    def row_at(self, number: int) -> int:
        starts = self.starts or [0, *self.ends[:-1]]
        return starts[number]

    def left(self, at: int) -> int:
        """How many rows are complete before a byte."""
        return sum(end <= at for end in self.ends)


def _lines(name: str, extension: str, lines: list[str], head: str = "", **options: Any) -> Sample:
    encoded = [line.encode() for line in lines]
    ends = list(accumulate(map(len, encoded), initial=len(head)))[1:]
    return Sample(name, extension, head.encode() + b"".join(encoded), ends, options, is_text=True, has_magic=False)


def json_lines(first: int, count: int) -> Sample:
    rows = [json.dumps({"n": n, "t": text_of(n)}, ensure_ascii=False) + "\n" for n in range(first, first + count)]
    return _lines("json", "jsonl", rows)


def json_array(first: int, count: int) -> Sample:
    rows = [json.dumps({"n": n, "t": text_of(n)}, ensure_ascii=False) + ",\n" for n in range(first, first + count)]
    rows[-1] = rows[-1].replace(",\n", "\n]")
    return replace(_lines("json", "json", rows, "["), has_magic=True)


def csv(first: int, count: int) -> Sample:
    return _lines("csv", "csv", [f'{n},"{text_of(n)}\nand more"\n' for n in range(first, first + count)], "n,t\n")


def text(first: int, count: int) -> Sample:
    return _lines("text", "txt", [text_of(n) + "\n" for n in range(first, first + count)])


def paragraphs(first: int, count: int) -> Sample:
    rows = [f"{text_of(n)}\n{n}\n\n" for n in range(first, first + count)]
    return _lines("text", "txt", rows, sample_by="paragraph")


def conll(first: int, count: int) -> Sample:
    return _lines(
        "conll", "conll", [f"{text_of(n).replace(' ', '_')} X\n{n} Y\n\n" for n in range(first, first + count)]
    )


def xml(first: int, count: int) -> Sample:
    sample = _lines("xml", "xml", [f"<a>{text_of(first)}</a>"])
    return replace(sample, ends=[len(sample.data)])


def _table(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table({"n": pa.array(numbers), "t": [text_of(n) for n in numbers]})


def parquet(first: int, count: int) -> Sample:
    sink, starts = io.BytesIO(), []
    table = _table(first, count)
    pq.write_table(table, sink, row_group_size=GROUP, use_dictionary=False, compression="zstd")
    about = pq.ParquetFile(sink).metadata
    # A group that comes after a sound one; a fault in any of its pages ends the rows of the group before.
    begins = [about.row_group(group).column(1).data_page_offset for group in range(about.num_row_groups)]
    starts = [begins[row // GROUP] for row in range(count)]
    ends = [
        begins[row // GROUP + 1] if row // GROUP + 1 < len(begins) else len(sink.getvalue()) for row in range(count)
    ]
    return Sample("parquet", "parquet", sink.getvalue(), ends, starts=starts)


def _arrow(first: int, count: int, new: Callable[..., Any]) -> Sample:
    sink, ends = io.BytesIO(), []
    table = _table(first, count)
    with new(sink, table.schema) as writer:
        starts = []
        for start in range(0, count, GROUP):
            starts += [sink.tell()] * min(GROUP, count - start)
            writer.write_table(table.slice(start, GROUP))
            ends += [sink.tell()] * min(GROUP, count - start)
    return Sample("arrow", "arrow", sink.getvalue(), ends, starts=starts)


def arrow_stream(first: int, count: int) -> Sample:
    return _arrow(first, count, pa.ipc.new_stream)


def arrow_file(first: int, count: int) -> Sample:
    return _arrow(first, count, pa.ipc.new_file)


def webdataset(first: int, count: int) -> Sample:
    numbers = range(first, first + count)
    members = [
        (n, f"{n:06}.{kind}", text) for n in numbers for kind, text in (("txt", text_of(n).encode()), ("cls", b"7"))
    ]
    data = tar_of((name, text) for _, name, text in members)
    # A sample is complete when the header of the next one is.
    starts = [4 * 512 * index for index in range(count)]
    return Sample("webdataset", "tar", data, [start + 5 * 512 for start in starts], starts=starts)


def hdf5(first: int, count: int) -> Sample:
    h5py = pytest.importorskip("h5py")
    sink = io.BytesIO()
    with h5py.File(sink, "w", libver="latest") as file:
        noise = [[random.Random(n).random() for _ in range(8)] for n in range(first, first + count)]
        node = file.create_dataset("v", data=noise, chunks=(min(GROUP, count), 8), fletcher32=True)
        chunks = [node.id.get_chunk_info(index) for index in range(node.id.get_num_chunks())]
    begins = {chunk.chunk_offset[0] // GROUP: chunk.byte_offset for chunk in chunks}
    starts = [begins[row // GROUP] + 8 for row in range(count)]
    ends = [*starts[GROUP:], *[len(sink.getvalue())] * min(GROUP, count)]
    return Sample("hdf5", "h5", sink.getvalue(), ends, starts=starts)


def log(first: int, count: int) -> Sample:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(first, first + count):
            archive.writestr(f"samples/{n}_epoch_1.json", json.dumps({"id": n, "epoch": 1, "input": text_of(n)}))
        starts = [info.header_offset + 50 for info in archive.infolist()]
    return Sample("eval", "eval", sink.getvalue(), [*starts[1:], len(sink.getvalue())], starts=starts)


def lance(first: int, count: int) -> Sample:
    pytest.importorskip("lance")
    from lance.file import LanceFileWriter

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a.lance"
        table = _table(first, count)
        with LanceFileWriter(path, table.schema) as writer:
            writer.write_batch(table)
        data = Path(path).read_bytes()
        return Sample(
            "lance", "lance", data, [len(data)] * count, starts=[row * len(data) // count for row in range(count)]
        )


SAMPLES = {
    maker.__name__: maker
    for maker in (
        *(json_lines, json_array, csv, text, paragraphs, conll, xml, parquet, arrow_stream, arrow_file),
        *(webdataset, hdf5, log, lance),
    )
}


def row_of(row: dict[str, Any]) -> Any:
    return {name: value for name, value in row.items() if name != "__url__"}


def load(sample: Sample, paths: list[Path], **options: Any) -> Any:
    paths = [str(path) for path in paths]
    return d.load_dataset(sample.format, data_files=paths, split="train", **sample.options, **options)


def rows_of(dataset: Any) -> list[Any]:
    return list(map(row_of, dataset))


def stomped(data: bytes, at: int, size: int = 64) -> bytes:
    return data[:at] + b"\xff" * min(size, len(data) - at) + data[at + size :]
