"""Damaged files: every format gives all rows before the fault, once, and the same ones to a dataset and to a stream.

What a policy does with the rest is the same for all formats, packings and positions of the fault.
"""

from __future__ import annotations

import gzip
import io
import json
import logging
import os
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.damage import (
    COUNT,
    SAMPLES,
    Sample,
    arrow_stream,
    csv,
    json_lines,
    load,
    parquet,
    row_of,
    rows_of,
    stomped,
    webdataset,
)
from support.packed import archive_of, compressed
from support.streams import as_worker

import crucible_datasets as d
from crucible_datasets.exceptions import DatasetsError, FileFormatError
from crucible_datasets.formats.base import FORMATS

GOOD = 40  # rows of the sound files before and after the damaged one
PACKED = ("", "gz", "zst")
# Whose faults within rows are not noticed, or end all rows.
_NEEDS_ITS_END = ("parquet", "arrow_file", "hdf5", "log", "lance")


def test_every_format_that_reads_rows_has_a_sample():
    made = {maker(0, 3).format for maker in SAMPLES.values()}
    assert {name for name in FORMATS.names() if FORMATS[name].folder is None} == made


@dataclass(frozen=True)
class Case:
    """Files of which one is damaged: what their rows are, and how many of the damaged one's must be there."""

    paths: list[Path]
    bad: int
    fewest: int
    most: int
    rows: list[list[Any]]  # of each file, while it was sound

    def expected(self, good: int) -> list[Any]:
        rows = [*self.rows[: self.bad], self.rows[self.bad][:good], *self.rows[self.bad + 1 :]]
        return list(chain.from_iterable(rows))


def until_error(dataset: Any) -> tuple[list[Any], FileFormatError]:
    rows = []
    with pytest.raises(FileFormatError) as caught:
        for row in dataset:
            rows.append(row_of(row))
    return rows, caught.value


def faults(name: str, sample: Sample) -> dict[str, tuple[bytes, int, int]]:
    """Damaged data by what happened to it, and how many rows must be, and may be, left."""
    data, count = sample.data, len(sample.ends)
    found = {} if name == "xml" else {"empty": (b"", 0, 0)}
    if sample.has_magic:
        found["magic"] = (stomped(data, 0, 12), 0, 0)
    for where, row in (("first", 0), ("middle", count // 2), ("last", count - 1)):
        at = sample.row_at(row)
        if sample.is_text:
            middle = (at + sample.ends[row]) // 2
            found[f"byte in the {where} row"] = (stomped(data, middle, 1), row, row)
        else:
            most = count if name == "lance" else row  # some of its bytes mean nothing
            found[f"bytes in the {where} row"] = (stomped(data, at), sample.left(at), most)
        if name in _NEEDS_ITS_END:
            found[f"cut in the {where} row"] = (data[: at + 3], 0, row + 1)
        elif not sample.is_text:
            found[f"cut in the {where} row"] = (data[: at + 3], sample.left(at), row)
    return found


def packed_faults(name: str, sample: Sample, kind: str) -> dict[str, tuple[bytes, int, int]]:
    """The same for faults in compressed bytes."""
    data = compressed(sample.data, kind)
    needs_its_end = name in ("parquet", "xml")
    found = {}
    for where, at in (("early", 30), ("middle", len(data) // 2), ("end", len(data) - 5)):
        fewest = sample.left(unpacked(data[:at], kind))
        for what, damaged in (("cut", data[:at]), ("bytes", stomped(data, at, 5))):
            if (what, where) == ("bytes", "middle"):
                continue  # they may decode to other text
            found[f"{what} at the {where} of {kind}"] = (damaged, 0 if needs_its_end else fewest, len(sample.ends))
    return found


def unpacked(data: bytes, kind: str) -> int:
    """How many bytes Python's own decompressor gets out of damaged data."""
    if kind != "gz":
        return 0
    return len(zlib.decompressobj(31).decompress(data))


def check(case: Case, sample: Sample, is_certain: bool = True) -> None:
    """A dataset and a stream have the same rows under every policy."""
    skipped = load(sample, case.paths, on_bad_files="skip")
    rows = rows_of(skipped)
    good = len(rows) - len(case.expected(0))
    assert rows == case.expected(good), "rows of a dataset"
    assert case.fewest <= good <= case.most, "rows before the fault"
    assert rows_of(load(sample, case.paths, on_bad_files="skip", streaming=True)) == rows, "rows of a stream"
    with warnings_of(str(case.paths[case.bad])) as told:
        assert rows_of(load(sample, case.paths, on_bad_files="warn")) == rows
    with warnings_of(str(case.paths[case.bad])) as streamed:
        assert rows_of(load(sample, case.paths, on_bad_files="warn", streaming=True)) == rows
    if not is_certain and not told:
        assert not streamed
        return
    assert len(told) == len(streamed) == 1, (told, streamed)
    before = sum(map(len, case.rows[: case.bad]))
    read, error = until_error(Late(lambda: load(sample, case.paths)))
    streamed_rows, streamed_error = until_error(Late(lambda: load(sample, case.paths, streaming=True)))
    assert streamed_rows == rows[: before + good], "rows of a stream before the error"
    assert read == rows[: len(read)]
    assert error.row == streamed_error.row
    assert streamed_error.row == good or not good
    assert str(case.paths[case.bad]) in str(error) and str(case.paths[case.bad]) in str(streamed_error)


@dataclass
class Late:
    """A dataset that is loaded when it is iterated."""

    make: Callable[[], Any]

    def __iter__(self):
        return iter(self.make())


class warnings_of(logging.Handler):
    """The messages about a file that the library logs meanwhile."""

    def __init__(self, path: str) -> None:
        super().__init__(logging.WARNING)
        self.path, self.messages = path, []

    def emit(self, record: logging.LogRecord) -> None:
        if self.path in (message := record.getMessage()):
            self.messages.append(message)

    def __enter__(self) -> list[str]:
        logging.getLogger("crucible_datasets").addHandler(self)
        return self.messages

    def __exit__(self, *_: object) -> None:
        logging.getLogger("crucible_datasets").removeHandler(self)


def cases() -> list[tuple[str, str, str]]:
    found = []
    for name, maker in SAMPLES.items():
        sample = maker(GOOD, COUNT if name != "xml" else 1)
        found += [(name, "", what) for what in faults(name, sample)]
        if name not in ("lance", "hdf5", "log"):
            for kind in PACKED[1:]:
                found += [(name, kind, what) for what in packed_faults(name, sample, kind)]
    return found


@pytest.mark.parametrize(("name", "kind", "what"), cases(), ids=str)
def test_policies(tmp_path, name, kind, what):
    maker = SAMPLES[name]
    samples = [maker(0, GOOD), maker(GOOD, COUNT if name != "xml" else 1), maker(GOOD + COUNT, GOOD)]
    sample = samples[1]
    ending = sample.extension + ("." + kind if kind else "")
    paths = [tmp_path / f"{index}.{ending}" for index in range(3)]
    for path, sound in zip(paths, samples, strict=True):
        path.write_bytes(compressed(sound.data, kind) if kind else sound.data)
    rows = [rows_of(load(sample, [path])) for path in paths]
    data, fewest, most = (packed_faults(name, sample, kind) if kind else faults(name, sample))[what]
    paths[1].write_bytes(data)
    check(Case(paths, 1, fewest, most, rows), sample, is_certain=not kind and what != "empty")


def fault_in_the_middle(name: str, sample: Sample) -> bytes:
    found = faults(name, sample)
    return next(data for what, (data, _, _) in found.items() if "middle" in what)


@pytest.fixture(params=[name for name in SAMPLES if name != "xml"])
def five_files(request, tmp_path) -> tuple[Sample, list[Path], list[Any]]:
    """Five files of which the third and the last are damaged, and the rows that they are worth."""
    maker, paths = SAMPLES[request.param], []
    for index, first in enumerate(range(0, 5 * GOOD, GOOD)):
        sample = maker(first, GOOD)
        paths.append(tmp_path / f"{index}.{sample.extension}")
        paths[-1].write_bytes(fault_in_the_middle(request.param, sample) if index in (2, 4) else sample.data)
    return sample, paths, rows_of(load(sample, paths, on_bad_files="skip"))


def test_ways_to_load_damaged_files_agree(five_files, tmp_path):
    sample, paths, rows = five_files
    assert len(rows) >= 3 * GOOD
    for options in ({"num_proc": 2}, {"num_proc": 5}, {"keep_in_memory": True}, {"cache_dir": str(tmp_path / "c")}):
        assert rows_of(load(sample, paths, on_bad_files="skip", **options)) == rows, options
    d.disable_caching()
    try:
        assert rows_of(load(sample, paths, on_bad_files="skip")) == rows
    finally:
        d.enable_caching()
    sliced = d.load_dataset(
        sample.format, data_files=list(map(str, paths)), split="train[30:95]", on_bad_files="skip", **sample.options
    )
    assert rows_of(sliced) == rows[30:95]
    names = list(rows[0])[:1]
    chosen = load(sample, paths, on_bad_files="skip", columns=names)
    assert rows_of(chosen) == rows_of(load(sample, paths, on_bad_files="skip", columns=names, streaming=True))


def test_each_load_warns_once_of_each_damaged_file(five_files):
    sample, paths, _ = five_files
    for options in ({}, {}, {"num_proc": 2, "download_mode": "force_redownload"}, {"streaming": True}):
        with warnings_of(str(paths[2])) as third, warnings_of(str(paths[4])) as last:
            rows_of(load(sample, paths, on_bad_files="warn", **options))
        assert (len(third), len(last)) == (1, 1), options


def test_streams_of_damaged_files_resume_at_any_row(five_files):
    sample, paths, rows = five_files
    stream = load(sample, paths, on_bad_files="skip", streaming=True)
    for used in (0, 1, GOOD, 2 * GOOD - 1, 2 * GOOD, 2 * GOOD + 1, len(rows) - GOOD, len(rows) - 1, len(rows)):
        iterator = iter(stream)
        head = [row_of(next(iterator)) for _ in range(used)]
        state = json.loads(json.dumps(stream.state_dict()))
        again = load(sample, paths, on_bad_files="skip", streaming=True)
        again.load_state_dict(state)
        assert head + rows_of(again) == rows, used
        assert rows_of(stream.skip(used)) == rows[used:]
        assert rows_of(stream.take(used)) == rows[:used]


def test_readers_share_streams_of_damaged_files_without_loss(five_files):
    sample, paths, _ = five_files

    def sorted_rows(parts: list[Any]) -> list[str]:
        return sorted(json.dumps(row, default=str) for part in parts for row in rows_of(part))

    stream = load(sample, paths, on_bad_files="skip", streaming=True)
    expected = sorted_rows([stream])
    assert sorted_rows([stream.shuffle(seed=1, buffer_size=7)]) == expected
    for count in (2, 5):
        assert sorted_rows([stream.shard(count, index) for index in range(count)]) == expected
        parts = [d.distributed.split_dataset_by_node(stream, rank, count) for rank in range(count)]
        assert sorted_rows(parts) == expected
    for count in (2, 7):
        found: list[Any] = []
        for index in range(count):
            with as_worker(index, count):
                found.append(list(stream))
        assert sorted_rows(found) == expected
    assert sorted_rows([stream.reshard()]) == expected


def test_selected_columns_of_a_stream_have_the_rows_of_all_columns(five_files):
    sample, paths, rows = five_files
    stream = load(sample, paths, on_bad_files="skip", streaming=True)
    assert rows_of(stream) == rows
    name = next(iter(rows[0]))
    assert [row[name] for row in stream.select_columns([name])] == [row[name] for row in rows]


def test_files_that_are_all_damaged_have_no_rows(tmp_path):
    for name, maker in SAMPLES.items():
        sample = maker(0, 3)
        if not sample.has_magic:
            continue
        path = tmp_path / f"{name}.{sample.extension}"
        path.write_bytes(stomped(sample.data, 0, 12))
        with pytest.raises(FileFormatError):
            rows_of(load(sample, [path]))
        assert rows_of(load(sample, [path], on_bad_files="skip")) == []
        assert rows_of(load(sample, [path], on_bad_files="skip", streaming=True)) == []


@pytest.mark.parametrize("policy", ["error", "skip"])
def test_a_file_that_is_removed_before_it_is_streamed_is_named_under_every_policy(tmp_path, policy):
    for name in ("json_lines", "csv", "text", "parquet", "arrow_file", "webdataset"):
        sample = SAMPLES[name](0, 5)
        path = tmp_path / f"a.{sample.extension}"
        path.write_bytes(sample.data)
        stream = load(sample, [path], streaming=True, on_bad_files=policy)
        path.unlink()
        with pytest.raises(DatasetsError) as caught:
            rows_of(stream)
        assert str(path) in str(caught.value), name


def test_files_written_again_in_place_with_the_times_set_back_have_their_new_rows(tmp_path):
    for name in ("json_lines", "csv", "text", "parquet", "arrow_file", "webdataset"):
        samples = [SAMPLES[name](first, 5) for first in (10, 20)]
        path = tmp_path / f"a.{samples[0].extension}"
        assert len({len(sample.data) for sample in samples}) == 1, name
        rows = []
        for sample in samples:
            path.write_bytes(sample.data)
            os.utime(path, ns=(10**18, 10**18))
            rows.append(rows_of(load(sample, [path])))
        assert rows[0] != rows[1], name


def test_rows_before_a_damaged_page_are_there_and_the_error_names_row_and_column(tmp_path):
    names = [f"{n} " + random.Random(n).randbytes(20).hex() for n in range(3000)]
    table = pa.table({"n": range(3000), "t": names})
    path = tmp_path / "a.parquet"
    options = {
        "row_group_size": 2000,
        "data_page_size": 4096,
        "write_batch_size": 50,
        "use_dictionary": False,
        "write_statistics": False,
    }
    pq.write_table(table, path, compression="none", **options)
    sample, data = Sample("parquet", "parquet", path.read_bytes(), []), path.read_bytes()
    for row in (0, 700, 1999, 2600):
        at = data.index(names[row].encode())
        path.write_bytes(stomped(data, at, 4))  # invalid UTF-8, found after decoding
        for streaming in (False, True):
            found = rows_of(load(sample, [path], on_bad_files="skip", streaming=streaming))
            assert found == table.slice(0, row).to_pylist(), streaming
            _, error = until_error(load(sample, [path], streaming=streaming))
            assert error.row == row
            assert f"row group {row // 2000} of column 't'" in str(error)


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst", "lz4"])
@pytest.mark.parametrize("size", [0, 1, 2, 4, 9])
def test_compressed_files_of_a_few_bytes(tmp_path, kind, size):
    for maker in (json_lines, csv, webdataset, parquet, arrow_stream):
        sample = maker(0, 3)
        paths = [tmp_path / f"{maker.__name__}{index}.{sample.extension}.{kind}" for index in range(2)]
        paths[0].write_bytes(compressed(sample.data, kind)[:size])
        paths[1].write_bytes(compressed(sample.data, kind))
        rows = rows_of(load(sample, paths[1:]))
        assert rows_of(load(sample, paths, on_bad_files="skip")) == rows, maker
        assert rows_of(load(sample, paths, on_bad_files="skip", streaming=True)) == rows, maker


@pytest.mark.parametrize("ends", ["\n", ""])
@pytest.mark.parametrize("bad", [b"\xff", b"{", b'"'])
@pytest.mark.parametrize("name", ["json_lines", "csv"])
def test_bad_lines_are_left_out_alone(tmp_path, name, bad, ends):
    lines = SAMPLES[name](0, 5).data.splitlines(keepends=True) if name == "json_lines" else []
    if name == "csv":
        lines = [b"n,t\n", *(f"{n},a{n}\n".encode() for n in range(5))]
    wrong = {b"\xff": b'{"n": \xff}\n' if name == "json_lines" else b"\xff,\xff\n", b"{": b"{,,,\n", b'"': b'1,"a"b\n'}[
        bad
    ]
    if name == "csv" and bad == b'"':
        pytest.skip("text behind a quote belongs to the field")
    paths = [tmp_path / f"{index}.{SAMPLES[name](0, 1).extension}" for index in range(3)]
    sample = SAMPLES[name](0, 1)
    head = lines[:1] if name == "csv" else []
    body = lines[len(head) :]
    # Of CSV, a first record that is longer than the header says which columns are an index.
    for at in range(int(name == "csv"), len(body) + 1):
        for path in paths:
            path.write_bytes(b"".join([*head, *body]))
        sound = rows_of(load(sample, paths[:1]))
        data = b"".join([*head, *body[:at], wrong, *body[at:]])
        paths[1].write_bytes(data if ends else data.removesuffix(b"\n"))
        for streaming in (False, True):
            with warnings_of(str(paths[1])) as told:
                assert rows_of(load(sample, paths, on_bad_lines="warn", streaming=streaming)) == 3 * sound
            assert len(told) == 1, (streaming, told)
            assert rows_of(load(sample, paths, on_bad_lines="skip", streaming=streaming)) == 3 * sound
            skipped = rows_of(load(sample, paths, on_bad_files="skip", streaming=streaming))
            assert skipped == sound + sound[:at] + sound, streaming


_MEMBERS = {  # a good content by row, and a damaged one
    "json": (lambda row: b'{"n": %d}' % row, b'{"n": '),
    "txt": (lambda row: b"text %d" % row, b"\xff\xfe\xfa"),
    "cls": (lambda row: b"%d" % row, b"cat"),
    "txt.gz": (lambda row: gzip.compress(b"%d" % row), b"no gzip"),
}


@pytest.mark.parametrize("row", [0, 1, 120, 1100])
@pytest.mark.parametrize("extension", _MEMBERS)
@pytest.mark.parametrize("packing", ["", ".gz"])
def test_samples_before_one_with_damaged_content_are_there(tmp_path, extension, packing, row):
    good, bad = _MEMBERS[extension]
    paths = []
    for name, damaged_row in (("first", None), ("second", row)):
        members = [
            member
            for number in range(1200)
            for member in (
                (f"{number:04}.{extension}", bad if number == damaged_row else good(number)),
                (f"{number:04}.bin", b"%d" % number),
            )
        ]
        paths.append(tmp_path / f"{name}.tar{packing}")
        paths[-1].write_bytes(archive_of(members, f".tar{packing}"))
    sample = Sample("webdataset", "tar", b"", [])
    whole = rows_of(load(sample, paths[:1]))
    for streaming in (False, True):
        skipped = load(sample, paths, on_bad_files="skip", streaming=streaming)
        assert rows_of(skipped) == whole + whole[:row], streaming
        assert len(rows_of(skipped.select_columns(["bin"]))) == len(whole) + row, streaming
        for name, count in ((extension, row), ("bin", 1200)):
            chosen = load(sample, paths, on_bad_files="skip", streaming=streaming, columns=[name])
            assert len(rows_of(chosen)) == len(whole) + count, (streaming, name)
    rows, error = until_error(load(sample, paths, streaming=True))
    assert rows == whole + whole[:row]
    assert str(paths[1]) in str(error) and f"{row:04}.{extension}" in str(error)


def test_columns_of_an_archive_of_damaged_samples_are_unknown(tmp_path):
    path = tmp_path / "a.tar"
    path.write_bytes(archive_of([("a.json", b"{"), ("b.json", b"{}")], ".tar"))
    sample = Sample("webdataset", "tar", b"", [])
    for streaming in (False, True):
        assert rows_of(load(sample, [path], on_bad_files="skip", streaming=streaming, columns=["json"])) == []


def test_damaged_arrow_files_that_are_converted_warn_once(tmp_path):
    paths = [tmp_path / f"{index}.arrow" for index in range(2)]
    for path, dtype in zip(paths, (pa.int32(), pa.int64()), strict=True):
        sink = io.BytesIO()
        table = pa.table({"n": pa.array(range(300), dtype)})
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=100)
        path.write_bytes(sink.getvalue()[:-500])
    sample = Sample("arrow", "arrow", b"", [])
    with warnings_of(str(tmp_path)) as messages:
        assert len(load(sample, paths, on_bad_files="warn")) == 400
    assert len(messages) == 2


@pytest.mark.parametrize("extension", [".zip", ".tar.gz"])
def test_damaged_archives_give_the_rows_before_the_fault(tmp_path, extension):
    parts = [json_lines(first, GOOD) for first in range(0, 3 * GOOD, GOOD)]
    whole = archive_of([(f"{index}.jsonl", part.data) for index, part in enumerate(parts)], extension)
    paths = [tmp_path / f"{index}{extension}" for index in range(3)]
    for path in paths:
        path.write_bytes(whole)
    rows = rows_of(load(parts[0], paths[:1]))
    for data in (whole[: len(whole) // 2], whole[:-30], stomped(whole, len(whole) // 2, 50), b"", b"PK\x03\x04"):
        paths[1].write_bytes(data)
        found = rows_of(load(parts[0], paths, on_bad_files="skip"))
        assert found[: len(rows)] == rows and found[-len(rows) :] == rows
        assert rows_of(load(parts[0], paths, on_bad_files="skip", streaming=True)) == found
        with pytest.raises(FileFormatError):
            rows_of(load(parts[0], paths))
