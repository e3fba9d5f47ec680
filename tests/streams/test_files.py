"""Streams over files: what is read of them, in which pieces, and what happens where they are broken."""

import bz2
import csv
import gzip
import itertools
import json
import lzma
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets import config
from crucible_datasets.exceptions import CastError, FeaturesMismatchError, FileFormatError
from crucible_datasets.formats.base import FORMATS
from crucible_datasets.reading import blockshards, files, fileshards
from crucible_datasets.tables.rowgroups import ParquetPart


def stream(format, paths, **options):
    several = list(map(str, paths)) if isinstance(paths, (list, tuple)) else [str(paths)]
    return ours.load_dataset(format, data_files=several, split="train", streaming=True, **options)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blockshards, "BLOCK", 64)


@pytest.fixture
def groups_read(monkeypatch):
    """The row groups that were decoded, as (file name, group)."""
    monkeypatch.setattr(config, "STREAMING_PREFETCH_BATCHES", 0)
    read, batches = [], ParquetPart.batches

    def noted(part, group, *given):
        read.append((part.path.rpartition("/")[2], group))
        return batches(part, group, *given)

    monkeypatch.setattr(ParquetPart, "batches", noted)
    return read


def parquet_files(folder, count=10, rows=20, group=5):
    for number in range(count):
        table = pa.table({"n": range(number * rows, number * rows + rows), "t": [str(number)] * rows})
        pq.write_table(table, folder / f"{number:02d}.parquet", row_group_size=group)
    return sorted(folder.glob("*.parquet"))


def test_skip_reads_one_row_group(tmp_path, groups_read):
    made = stream("parquet", parquet_files(tmp_path))
    assert next(iter(made.skip(183)))["n"] == 183
    assert groups_read == [("09.parquet", 0)]


def test_a_state_is_resumed_by_reading_one_row_group(tmp_path, groups_read):
    paths = parquet_files(tmp_path)
    made = stream("parquet", paths)
    reader = iter(made)
    for _ in range(187):
        next(reader)
    state = json.loads(json.dumps(made.state_dict()))
    groups_read.clear()
    again = stream("parquet", paths)
    again.load_state_dict(state)
    assert next(iter(again))["n"] == 187
    assert groups_read == [("09.parquet", 1)]


def test_skip_goes_through_what_keeps_the_number_of_rows(tmp_path, groups_read):
    made = stream("parquet", parquet_files(tmp_path))
    made = made.map(lambda row, index: {"i": index}, with_indices=True).rename_column("n", "m").batch(4)
    assert next(iter(made.skip(46)))["i"] == [184, 185, 186, 187]
    assert {file for file, _ in groups_read} == {"09.parquet"}


def test_columns_and_filters_reach_the_row_groups(tmp_path, groups_read):
    paths = parquet_files(tmp_path)
    made = stream("parquet", paths, columns=["t"], filters=[("n", ">=", 43), ("n", "<", 46)])
    assert list(made) == [{"t": "2"}] * 3
    assert groups_read == [("02.parquet", 0), ("02.parquet", 1)]
    assert list(made.skip(1)) == [{"t": "2"}] * 2


def test_only_rows_that_are_asked_for_are_decoded(tmp_path, groups_read):
    assert len(list(stream("parquet", parquet_files(tmp_path)).take(12))) == 12
    assert groups_read == [("00.parquet", 0), ("00.parquet", 1), ("00.parquet", 2)]


def test_reshard_makes_a_shard_of_each_row_group(tmp_path):
    made = stream("parquet", parquet_files(tmp_path, count=2))
    assert (made.num_shards, made.reshard().num_shards) == (2, 8)
    assert list(made.reshard()) == list(made)
    assert [row["n"] for row in made.reshard().shard(8, 5)] == [25, 26, 27, 28, 29]


def hdf5(path):
    import h5py

    with h5py.File(path, "w") as file:
        file["text"] = [1, 2, 3]


READ_ONLY = {
    "xml": lambda path: path.write_text("<a>é</a>"),
    "conll": lambda path: path.write_text("EU NNP\nrejects VBZ\n\nPeter NNP\n"),
    "hdf5": hdf5,
}
SAMPLED = [name for name in FORMATS.names() if FORMATS[name].write is not None or name in READ_ONLY]


def test_most_formats_are_sampled():
    folders = {name for name in FORMATS.names() if FORMATS[name].folder}  # in reading/test_folders.py
    assert set(FORMATS.names()) - set(SAMPLED) - folders <= {"eval", "lance", "webdataset"}


@pytest.mark.parametrize("name", SAMPLED)
def test_every_format_streams_what_it_loads(name, tmp_path):
    format = FORMATS[name]
    path = tmp_path / f"data{format.extensions[0]}"
    if format.write is None:
        READ_ONLY[name](path)
    else:
        with path.open("wb") as file:
            format.write([pa.table({"text": ["a", "b", "é"]})], ours.Features({"text": ours.Value("string")}), file)
    loaded = list(ours.load_dataset(name, data_files=str(path), split="train"))
    made = stream(name, path)
    assert list(made) == loaded
    next(iter(made))
    again = stream(name, path)
    again.load_state_dict(made.state_dict())
    assert list(again) == loaded[1:]


texts = st.lists(
    st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=12), max_size=30
)


@settings(deadline=None, max_examples=30)
@given(rows=texts, size=st.integers(1, 200))
def test_json_lines_in_blocks_of_any_size(tmp_path_factory, rows, size):
    path = tmp_path_factory.mktemp("json") / "data.jsonl"
    path.write_text("".join(json.dumps({"n": number, "t": text}) + "\n" for number, text in enumerate(rows)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blockshards, "BLOCK", size)
        assert [row["t"] for row in stream("json", path)] == rows


fields = st.text(st.sampled_from('ab,"\n \t'), max_size=6)


@settings(deadline=None, max_examples=60)
@given(rows=st.lists(st.tuples(fields, fields), max_size=20), size=st.integers(1, 60))
def test_csv_in_blocks_of_any_size(tmp_path_factory, rows, size):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([("x", "y"), *((f"x{left}", f"y{right}") for left, right in rows)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blockshards, "BLOCK", size)
        found = [(row["x"], row["y"]) for row in stream("csv", path)]
    assert found == [(f"x{left}", f"y{right}") for left, right in rows]


def test_quotes_inside_of_csv_fields_open_nothing(tmp_path, small_blocks):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + 'a"b,"1\n2"\n' * 40)
    assert list(stream("csv", path)) == [{"x": 'a"b', "y": "1\n2"}] * 40


@pytest.mark.parametrize("opened", [gzip.open, bz2.open, lzma.open])
def test_compressed_files_stream_and_resume(tmp_path, small_blocks, opened):
    path = tmp_path / {gzip.open: "d.jsonl.gz", bz2.open: "d.jsonl.bz2", lzma.open: "d.jsonl.xz"}[opened]
    with opened(path, "wt") as file:
        file.writelines(json.dumps({"n": number}) + "\n" for number in range(50))
    made = stream("json", path)
    reader = iter(made)
    assert [next(reader)["n"] for _ in range(33)] == list(range(33))
    again = stream("json", path)
    again.load_state_dict(made.state_dict())
    assert [row["n"] for row in again] == list(range(33, 50))


def test_resuming_seeks_instead_of_reading(tmp_path, small_blocks, monkeypatch):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps({"n": number}) + "\n" for number in range(1000)))
    made = stream("json", path)
    reader = iter(made)
    for _ in range(900):
        next(reader)
    again = stream("json", path)
    again.load_state_dict(made.state_dict())
    parsed, read = [], blockshards.BlockShard._of_block

    def noted(shard, text, *given):
        parsed.append(len(text))
        return read(shard, text, *given)

    monkeypatch.setattr(blockshards.BlockShard, "_of_block", noted)
    assert [row["n"] for row in again] == list(range(900, 1000))
    assert path.stat().st_size / 20 < sum(parsed) < path.stat().st_size / 5


def test_the_first_row_needs_no_more_than_a_block(tmp_path, small_blocks, monkeypatch):
    monkeypatch.setattr(config, "STREAMING_PREFETCH_BATCHES", 0)
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps({"n": number}) + "\n" for number in range(1000)))
    made = stream("json", path)
    count = []
    read = blockshards.BlockShard._of_block
    monkeypatch.setattr(blockshards.BlockShard, "_of_block", lambda *given: count.append(1) or read(*given))
    assert next(iter(made)) == {"n": 0}
    assert len(count) == 1


# ---- broken files ----------------------------------------------------------------------------


def good_rows(made):
    rows = []
    with pytest.raises(FileFormatError) as caught:
        for row in made:
            rows.append(row)
    return rows, caught.value


@pytest.mark.parametrize(
    "tail", ['{"n": 1', "{broken}\n", '{"n": 1}\n{"n": tru', "\x00\n", '{"n": "\udcff"}\n{"n": 2}\n']
)
def test_a_broken_tail_comes_after_all_good_rows(tmp_path, small_blocks, tail):
    good = "".join(json.dumps({"n": number}) + "\n" for number in range(40))
    path = tmp_path / "data.jsonl"
    path.write_text(good + tail, errors="surrogateescape")
    rows, error = good_rows(stream("json", path))
    expected = 40 + tail.count('{"n": 1}')
    assert [row["n"] for row in rows[:40]] == list(range(40))
    assert len(rows) == expected
    assert error.path == str(path)
    assert error.offset == len(good) + len('{"n": 1}\n') * tail.count('{"n": 1}')
    if "\udcff" in tail:
        assert (error.row, error.line, error.column) == (40, 41, tail.find("\udcff") + 1)


@pytest.mark.parametrize("bad", ['{"n": oops}', '{"n": [1,', '{"n": "a', '{"n": 1 "m": 2}', "\N{BULLET}"])
def test_a_broken_line_has_its_place_in_the_file_and_can_be_left_out(tmp_path, small_blocks, bad, caplog):
    good = [json.dumps({"n": number, "t": "é" * (number % 7)}, ensure_ascii=False) for number in range(60)]
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join([*good[:20], "", *good[20:41], bad, *good[41:]]))
    with pytest.raises(FileFormatError) as whole:
        ours.load_dataset("json", data_files=str(path), split="train")
    rows, flowing = good_rows(stream("json", path))
    assert len(rows) == 41 and str(whole.value) == str(flowing)
    assert (flowing.line, flowing.row) == (43, 41) and 1 <= flowing.column <= len(bad) + 1
    expected = list(map(json.loads, good))
    assert list(ours.load_dataset("json", data_files=str(path), split="train", on_bad_lines="warn")) == expected
    assert f"{path}, line 43" in caplog.text
    assert list(stream("json", path, on_bad_lines="skip")) == expected


def test_bad_files_are_left_out_on_request(tmp_path, small_blocks):
    (tmp_path / "1.jsonl").write_text('{"n": 1}\n{"n": 2}\n{"n"')
    (tmp_path / "2.jsonl").write_text('{"n": 3}\n')
    made = stream("json", [tmp_path / "1.jsonl", tmp_path / "2.jsonl"], on_bad_files="skip")
    assert [row["n"] for row in made] == [1, 2, 3]


def test_a_cut_off_parquet_file(tmp_path):
    paths = parquet_files(tmp_path, count=2)
    paths[1].write_bytes(paths[1].read_bytes()[:-30])
    rows, error = good_rows(stream("parquet", paths))
    assert [row["n"] for row in rows] == list(range(20))
    assert error.path == str(paths[1])
    assert len(list(stream("parquet", paths, on_bad_files="skip"))) == 20


def test_a_cut_off_compressed_file(tmp_path):
    path = tmp_path / "data.jsonl.gz"
    whole = gzip.compress("".join(json.dumps({"n": number, "t": "x" * 99}) + "\n" for number in range(2000)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    rows, error = good_rows(stream("json", path))
    assert [row["n"] for row in rows] == list(range(len(rows)))
    assert len(rows) > 100
    assert str(path) in str(error)


@pytest.mark.parametrize("name", ["json", "csv", "text"])
def test_a_file_that_becomes_shorter_while_it_is_read_loses_no_rows_silently(tmp_path, small_blocks, name):
    path = tmp_path / "data"
    path.write_text('"n"\n' + "5\n" * 10_000 if name != "json" else '{"n": 5}\n' * 10_000)
    rows = iter(stream(name, path))
    next(rows)
    os.truncate(path, path.stat().st_size // 2 // 18 * 18 + 4 * (name != "json"))  # where a record ends
    found, error = good_rows(rows)
    assert len(found) < 9_999 and "became shorter" in str(error) and error.path == str(path)


def test_a_broken_csv_file_names_the_block(tmp_path, small_blocks):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "1,2\n" * 40 + "1,2,3,4\n")
    rows, error = good_rows(stream("csv", path))
    assert len(rows) == 40
    assert (error.path, 120 < error.offset <= path.stat().st_size) == (str(path), True)


# ---- types that change from file to file -------------------------------------------------------


def test_what_is_no_text_comes_after_all_rows_before_it(tmp_path):
    good = "n,t\n" + "".join(f"{number},word\n" for number in range(2000))
    path = tmp_path / "data.csv"
    path.write_bytes(good.encode() + b"2000,w\xff\n2001,word\n")
    rows, error = good_rows(stream("csv", path))
    assert ([row["n"] for row in rows], error.offset) == (list(range(2000)), len(good) + len("2000,w"))


def test_features_that_are_asked_for_are_kept_to(tmp_path):
    pq.write_table(pa.table({"a": [1], "b": ["x"]}), tmp_path / "1.parquet")
    path = tmp_path / "1.parquet"
    whole = ours.Features({"b": ours.Value("string"), "a": ours.Value("float32"), "c": ours.Value("bool")})
    assert list(stream("parquet", path, features=whole)) == [{"b": "x", "a": 1.0, "c": None}]
    with pytest.raises(FeaturesMismatchError):
        list(stream("parquet", path, features=ours.Features({"a": ours.Value("int64")})))
    with pytest.raises(CastError):
        list(stream("parquet", path, features=ours.Features({"a": ours.Value("int64"), "b": ours.Value("int8")})))


def test_archives_stream_their_files(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("1.jsonl", '{"n": 1}\n{"n": 2}\n')
        archive.writestr("2.jsonl", '{"n": 3}\n')
    made = stream("json", tmp_path / "data.zip")
    assert (made.num_shards, [row["n"] for row in made]) == (2, [1, 2, 3])
    assert files.identified([str(tmp_path / "data.zip")])[0].inner == "1.jsonl"


# ---- columns that nobody asks for ------------------------------------------------------------

NARROWED = {
    "select": lambda stream: stream.select_columns(["c", "a"]),
    "remove": lambda stream: stream.remove_columns(["b", "d"]),
    "behind": lambda stream: (
        stream.shuffle(seed=1, buffer_size=4).repeat(2).skip(3).take(30).select_columns(["c", "a"])
    ),
    "filter": lambda stream: stream.filter(lambda a: a % 2, input_columns=["a"]).select_columns(["c"]),
    "map": lambda stream: stream.map(
        lambda a, c: {"n": a + c}, input_columns=["a", "c"], remove_columns=["a", "b", "c", "d"]
    ),
}


def outcomes(made):
    """All rows, and those that follow some of them after a resume."""
    rows = list(made)
    resumed = []
    for used in range(1, len(rows), 9):
        list(itertools.islice(made, used))
        state = json.loads(json.dumps(made.state_dict()))
        made.load_state_dict(state)
        resumed.append(list(made))
        made.load_state_dict({"epoch": state["epoch"], "place": [None, 0]})
    return rows, resumed


@pytest.mark.parametrize("options", [{}, {"filters": [("d", ">", 2)]}], ids=["all", "filtered"])
def test_columns_that_nobody_needs_are_not_read(tmp_path, monkeypatch, options):
    for number, names in enumerate(["abcd", "cabd", "dcba"]):  # in another order
        numbers = {name: range(number * 10, number * 10 + 10) for name in names}
        pq.write_table(pa.table(numbers), tmp_path / f"{number}.parquet", row_group_size=3)
    read, batches = set(), ParquetPart.batches

    def noted(part, group, names, *more):
        read.update(names)
        return batches(part, group, names, *more)

    monkeypatch.setattr(ParquetPart, "batches", noted)
    for then in NARROWED.values():
        read.clear()
        found = outcomes(then(stream("parquet", tmp_path / "*.parquet", **options)))
        assert {"b", "d"} & read == ({"d"} if options else set())
        with monkeypatch.context() as patch:
            patch.setattr(fileshards.ParquetShard, "only", lambda *_: None)
            assert found == outcomes(then(stream("parquet", tmp_path / "*.parquet", **options)))
        assert {"a", "b", "c", "d"} <= read


def test_a_file_without_any_column_that_is_needed_has_its_rows_all_the_same(tmp_path):
    for number, names in enumerate(["ab", "b"]):
        pq.write_table(pa.table({name: range(5) for name in names}), tmp_path / f"{number}.parquet")
    made = stream("parquet", tmp_path / "*.parquet").select_columns(["a"])
    assert [row["a"] for row in made] == [*range(5), *[None] * 5]
