"""Tar shards hold the rows, in the same bytes each time; others read them; each appears whole or not at all."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tarfile
import tracemalloc
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pictures

from crucible_datasets import (
    Array2D,
    Audio,
    ClassLabel,
    Dataset,
    DatasetDict,
    Features,
    Image,
    Json,
    List,
    Value,
    Video,
    load_dataset,
)
from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError, OutOfBoundsError, ValueTypeError
from crucible_datasets.ops.webdataset.columns import planned
from crucible_datasets.webdataset import ShardWriter, parse

PARTS = st.text("ab0_-é ", min_size=1, max_size=60).filter(str.strip)
KEYS = st.lists(st.lists(PARTS, min_size=1, max_size=3).map("/".join), unique=True, max_size=12)


def picture(kind: str = "PNG", shade: int = 0) -> bytes:
    buffer = io.BytesIO()
    Pictures.new("RGB", (4, 3), (shade, 0, 9)).save(buffer, kind)
    return buffer.getvalue()


def of_all_types(count: int = 7) -> Dataset:
    kinds = {
        "jpg": Image(),
        "question": Value("string"),
        "answer": Value("string"),
        "label": ClassLabel(names=["no", "yes"]),
        "meta": {"n": Value("int64"), "words": List(Value("string"))},
        "grid": Array2D((2, 2), "float32"),
        "raw": Value("binary"),
        "score": Value("float64"),
        "any": Json(),
    }
    rows = [
        {
            "jpg": {"bytes": picture("JPEG", number), "path": None},
            "question": f"What é {number}?",
            "answer": f"Line\n{number}",
            "label": number % 2,
            "meta": {"n": number, "words": ["a", None]},
            "grid": [[0.5, number], [1, 2]],
            "raw": b"\0%d" % number,
            "score": number / 4,
            "any": {"x": [1, "two"]},
        }
        for number in range(count)
    ]
    return Dataset.from_list(rows, features=Features(kinds))


def members(path: str) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


@given(KEYS, st.lists(st.binary(max_size=3000), min_size=12, max_size=12), st.integers(1, 60_000))
def test_shards_hold_the_rows_in_order_and_are_no_larger_than_asked(tmp_path_factory, keys, contents, most):
    folder = tmp_path_factory.mktemp("shards")
    table = pa.table({"__key__": pa.array(keys, pa.string()), "bin": pa.array(contents[: len(keys)], pa.binary())})
    dataset = Dataset.from_dict(
        table.to_pydict(), features=Features({"__key__": Value("string"), "bin": Value("binary")})
    )
    paths = dataset.to_webdataset(folder / "out-%04d.tar", max_shard_size=most)
    assert paths == [str(folder / f"out-{number:04d}.tar") for number in range(len(paths))]
    found = [members(path) for path in paths]
    together = [pair for shard in found for pair in shard.items()]
    assert together == [(f"{key}.bin", content) for key, content in zip(keys, contents, strict=False)]
    assert all(
        os.path.getsize(path) <= most or len(shard) == 1 for path, shard in zip(paths, found, strict=True) if keys
    )
    again = dataset.to_webdataset(folder / "again-%04d.tar", max_shard_size=most)
    assert [Path(path).read_bytes() for path in paths] == [Path(path).read_bytes() for path in again]


# The webdataset package leaves its files open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_others_read_what_was_written(tmp_path):
    dataset = of_all_types()
    (path,) = dataset.to_webdataset(tmp_path / "all.tar")
    names = ["jpg", "question.txt", "answer.txt", "cls", "meta.json", "npy", "bin", "score.json", "any.json"]
    assert list(members(path))[:9] == [f"000000.{name}" for name in names]
    import webdataset

    samples = list(webdataset.WebDataset(path, shardshuffle=False).decode("pil"))
    assert [sample["__key__"] for sample in samples] == [f"{number:06d}" for number in range(7)]
    for number, (sample, row) in enumerate(zip(samples, dataset, strict=True)):
        assert {*names} <= sample.keys()
        assert sample["jpg"].tobytes() == row["jpg"].tobytes()
        assert (sample["question.txt"], sample["answer.txt"]) == (row["question"], row["answer"])
        assert (sample["cls"], sample["meta.json"], sample["score.json"]) == (number % 2, row["meta"], row["score"])
        assert sample["npy"].dtype == np.float32
        assert sample["npy"].tolist() == row["grid"]
        assert sample["any.json"] == {"x": [1, "two"]}
    listed = subprocess.run(["tar", "--list", "--verbose", "--file", path], capture_output=True, text=True, check=True)
    assert listed.stderr == ""
    assert len(listed.stdout.splitlines()) == 7 * len(names)
    assert all("1970-01-01" in line or "1969-12-31" in line for line in listed.stdout.splitlines())


def test_types_decide_extensions_unless_the_caller_does():
    image, text = Image(), Value("string")
    cases = [
        ({"picture": image, "caption": text, "label": ClassLabel(names=["a"])}, None, ["", "txt", "cls"]),
        ({"left": image, "right": image}, None, ["left.", "right."]),
        ({"seg.png": image, "jpg": image, "text": text, "json": {"a": text}}, None, ["seg.png", "jpg", "text", "json"]),
        ({"picture": image, "png": Value("binary")}, None, ["picture.", "png"]),
        ({"id": text, "cls": Value("int8"), "n": Value("int8")}, None, ["txt", "cls", "json"]),
        ({"film": Video(), "data": Value("binary"), "list": List(text)}, None, ["", "bin", "json"]),
        ({"picture": image, "a": text}, {"picture": ".webp", "a": "a.html"}, ["webp", "a.html"]),
        ({"__key__": text, "__url__": text, "a": text}, None, ["txt"]),
    ]
    for features, extensions, wanted in cases:
        plan = planned(Features(features), None, extensions)
        assert [each.prefix + (each.extension or "") for each in plan] == wanted, features


def test_pictures_keep_their_bytes_and_have_the_extension_of_their_format(tmp_path):
    held = [picture("PNG"), picture("JPEG"), picture("GIF"), picture("WEBP")]
    (tmp_path / "x.tif").write_bytes(picture("TIFF"))
    rows = [
        *({"bytes": each, "path": "named.otherwise"} for each in held),
        {"bytes": None, "path": str(tmp_path / "x.tif")},
    ]
    dataset = Dataset.from_dict({"picture": rows}, features=Features({"picture": Image()}))
    (path,) = dataset.to_webdataset(tmp_path / "own.tar")
    found = members(path)
    assert list(found) == [f"00000{row}.{kind}" for row, kind in enumerate(["png", "jpg", "gif", "webp", "tif"])]
    assert list(found.values()) == [*held, picture("TIFF")]
    (path,) = dataset.to_webdataset(tmp_path / "drawn.tar", extensions={"picture": "jpg"})
    found = members(path)
    assert {Pictures.open(io.BytesIO(content)).format for content in found.values()} == {"JPEG"}
    assert found["000001.jpg"] == held[1]


def test_nulls_have_no_file_and_streams_and_dicts_are_written_alike(tmp_path):
    dataset = Dataset.from_dict({"txt": ["a", None, "c"], "json": [None, {"n": 1}, {"n": None}]})
    (path,) = dataset.to_webdataset(tmp_path / "rows.tar")
    wanted = {"000000.txt": b"a", "000001.json": b'{"n":1}', "000002.txt": b"c", "000002.json": b'{"n":null}'}
    assert members(path) == wanted
    for stream in (dataset.to_iterable_dataset(), dataset.to_iterable_dataset().map(lambda row: row)):
        (flowed,) = stream.to_webdataset(tmp_path / "flowed.tar.gz")
        assert list(members(flowed).values()) == list(wanted.values())
    both = DatasetDict({"a": dataset, "b": dataset.take(1)}).to_webdataset(
        tmp_path / "{split}" / "%d.tar", num_shards=2
    )
    assert both == {"a": [f"{tmp_path}/a/0.tar", f"{tmp_path}/a/1.tar"], "b": [f"{tmp_path}/b/0.tar"]}
    assert {**members(both["a"][0]), **members(both["a"][1])} == wanted
    assert members(Dataset.from_dict({"txt": []}).to_webdataset(tmp_path / "none.tar")[0]) == {}


def test_errors_name_row_and_column_and_leave_whole_shards_only(tmp_path):
    text = Features({"__key__": Value("string"), "txt": Value("string")})
    for row, key in enumerate(["a.b", "", "../x", "/x", "a//b", ".x", "a/__MACOSX/b", "__meta__", "a\nb"]):
        keys = [f"k{number}" for number in range(row)] + [key]
        dataset = Dataset.from_dict({"__key__": keys, "txt": ["x"] * len(keys)}, features=text)
        with pytest.raises(ValueTypeError, match=f"'__key__', row {row}"):
            dataset.to_webdataset(tmp_path / "keys.tar")
    twice = Dataset.from_dict({"__key__": ["a", "b", "a"], "txt": ["1", "2", "3"]})
    with pytest.raises(ValueTypeError, match="'__key__', row 2.*another sample"):
        twice.to_webdataset(tmp_path / "keys.tar")
    with pytest.raises(ValueTypeError, match="row 1: a row of nulls"):
        Dataset.from_dict({"txt": ["a", None]}).to_webdataset(tmp_path / "keys.tar")
    broken = Dataset.from_dict({"meta": [{"n": [1.5]}, {"n": [1.5, float("nan")]}]})
    for written in (broken, broken.to_iterable_dataset()):
        with pytest.raises(ValueTypeError, match="'meta', row 1.*NaN"):
            written.to_webdataset(tmp_path / "keys.tar")
    with pytest.raises(ValueTypeError, match="'n', row 0.*pickled"):
        Dataset.from_dict({"n": [[1]]}).to_webdataset(tmp_path / "keys.tar", extensions={"n": "pkl"})
    outside = Dataset.from_dict({"i": [str(tmp_path / "gone.png")]}, features=Features({"i": Image()}))
    with pytest.raises(FileNotFoundError) as caught:
        outside.to_webdataset(tmp_path / "keys.tar")
    assert "column 'i', row 0" in str(caught.value.__notes__)
    wrong = Dataset.from_dict({"a": ["x"], "b": ["y"]})
    for error, options in [
        (ColumnNotFoundError, {"columns": ["c"]}),
        (ColumnNotFoundError, {"extensions": {"c": "txt"}}),
        (ArgumentError, {"extensions": {"a": "x", "b": "x"}}),
        (ArgumentError, {"extensions": {"a": "../x"}}),
        (ArgumentError, {"num_shards": 2, "max_shard_size": 1}),
        (ArgumentError, {"max_shard_size": 0}),
        (ArgumentError, {"num_shards": 0}),
    ]:
        with pytest.raises(error):
            wrong.to_webdataset(tmp_path / "keys.tar", **options)
    with pytest.raises(ArgumentError, match="several shards"):
        of_all_types().to_webdataset(tmp_path / "keys.tar", num_shards=2)
    with pytest.raises(ArgumentError, match="inside of lists"):
        Dataset.from_dict({"i": [[]]}, features=Features({"i": List(Image())})).to_webdataset(tmp_path / "keys.tar")
    assert os.listdir(tmp_path) == ["keys.tar"], "of several shards the first was finished"


def test_a_writer_takes_samples_and_leaves_what_was_finished(tmp_path):
    samples = [{"__key__": f"d/{n}", "png": Pictures.new("L", (2, 2)), "json": {"n": n}, "cls": n} for n in range(5)]
    samples[3] |= {"npy": np.arange(3), "txt": "é", "msgpack": [n := 1], "cbor": {"a": n}, "json": None, "__url__": "x"}
    with ShardWriter(tmp_path / "%d.tar", max_shard_rows=2) as writer:
        for sample in samples:
            writer.write(sample)
    found = {name: content for path in writer.paths for name, content in members(path).items()}
    assert len(writer.paths) == 3
    assert json.loads(found["d/4.json"]) == {"n": 4}
    assert (found["d/3.txt"], found["d/3.cls"]) == ("é".encode(), b"3")
    assert np.load(io.BytesIO(found["d/3.npy"])).tolist() == [0, 1, 2]
    assert "d/3.json" not in found
    target = tmp_path / "stopped"
    with (
        pytest.raises(ValueTypeError, match="'cls', row 3"),
        ShardWriter(target / "%d.tar", max_shard_rows=2) as writer,
    ):
        for n in (1, 2, 3, "x"):
            writer.write({"cls": n})
    assert os.listdir(target) == ["0.tar"]
    with pytest.raises(ArgumentError, match="closed"):
        writer.write({"cls": 1})


def test_a_store_gets_whole_shards_only():
    place = "memory://shards/out-%d.tar"
    paths = of_all_types().to_webdataset(place, num_shards=2)
    files = fsspec.filesystem("memory")
    assert paths == ["memory://shards/out-0.tar", "memory://shards/out-1.tar"]
    assert len(tarfile.open(fileobj=io.BytesIO(files.cat(paths[1]))).getnames()) == 4 * 9
    with pytest.raises(ValueTypeError), ShardWriter("memory://stopped/%d.tar", max_shard_rows=1) as writer:
        writer.write({"txt": "a"})
        writer.write({"txt": "b"})
        writer.write({"cls": "c"})
    assert [os.path.basename(path) for path in files.find("memory://stopped")] == ["0.tar"]


def test_media_of_foreign_data_are_not_written_from_elsewhere(tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(picture())
    (tmp_path / "data").mkdir()
    rows = Dataset.from_dict({"i": [str(secret)]}, features=Features({"i": Image()}))
    rows.to_parquet(tmp_path / "data" / "x.parquet")
    foreign = Dataset.from_parquet(str(tmp_path / "data" / "x.parquet"))
    with pytest.raises(OutOfBoundsError):
        foreign.to_webdataset(tmp_path / "out.tar")
    assert not (tmp_path / "out.tar").exists()


def test_media_files_are_read_one_at_a_time(tmp_path):
    for number in range(40):
        (tmp_path / f"{number}.wav").write_bytes(b"%02d" % number + bytes(1 << 20))
    names = [str(tmp_path / f"{number}.wav") for number in range(40)]
    rows = Dataset.from_dict({"wav": names}, features=Features({"wav": Audio()}))
    rows.select(range(2)).to_webdataset(tmp_path / "first.tar")  # what is imported for it
    tracemalloc.start()
    rows.to_webdataset(tmp_path / "x.tar")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 << 20
    assert [content[:2] for content in members(str(tmp_path / "x.tar")).values()] == [b"%02d" % n for n in range(40)]


@pytest.mark.parametrize(
    "program", ["tar --format=ustar", "tar --format=gnu", "tar --format=pax", "bsdtar", "bsdtar --format=gnutar"]
)
def test_archives_of_other_programs(tmp_path, program):
    command = program.split()
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    contents = {
        "a/x.txt": b"1",
        "a/x.json": b"[1]",
        "b/x.txt": b"2",
        "b/x.seg.bin": bytes(700),
        f"{'k' * 90}/y.txt": b"3",
    }
    if "ustar" not in program:
        contents[f"{'long' * 60}.txt"] = b"4"
        contents["ünï.txt"] = b"5"
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    path = str(tmp_path / "x.tar")
    surroundings = {**os.environ, "LC_ALL": "C.UTF-8"}
    subprocess.run([*command, "-cf", path, *contents], cwd=tmp_path, check=True, env=surroundings)
    found = {
        f"{each['__key__']}.{name}": each[name] for each in parse(path, decode=False) for name in each if name[0] != "_"
    }
    assert found == contents
    rows = load_dataset("webdataset", data_files=path, split="train")
    texts = {f"{row['__key__']}.txt": row["txt"].encode() for row in rows}
    assert texts == {name: content for name, content in contents.items() if name.endswith(".txt")}


@pytest.mark.skipif(shutil.which("bsdtar") is None, reason="bsdtar is not installed")
def test_bsdtar_reads_it(tmp_path):
    of_all_types().to_webdataset(tmp_path / "x.tar")
    ran = subprocess.run(["bsdtar", "-tf", str(tmp_path / "x.tar")], capture_output=True, text=True, check=True)
    assert len(ran.stdout.splitlines()) == 7 * 9
