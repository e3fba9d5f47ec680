"""A plain tar is a dataset where it lies: any rows in any order are those that reading it from front to back gives."""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pictures
from support.faulty import faulty
from support.formats import joined

from crucible_datasets import Dataset, config, disable_caching, enable_caching, load_dataset
from crucible_datasets.exceptions import (
    ArgumentError,
    DatasetsError,
    FeaturesMismatchError,
    FileFormatError,
    LimitExceededError,
)
from crucible_datasets.features import Features, Image, Value
from crucible_datasets.features.decode import decoder
from crucible_datasets.formats.webdataset.rows import read
from crucible_datasets.outputs.python import PythonFormatter
from crucible_datasets.tables import tarfiles
from crucible_datasets.tables.rowgroups import identity_of
from crucible_datasets.tables.tar import TarTable, features_of
from crucible_datasets.tables.tarfiles import LocalArchive
from crucible_datasets.tables.tarindex import index_of

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(allow_nan=False, width=32)
    | st.text("1a", max_size=3)
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=2),
    max_leaves=4,
)
JSON_FILES = st.one_of(VALUES, st.fixed_dictionaries({"n": st.integers(0, 9)}, optional={"s": st.text(max_size=3)}))
FILES = st.fixed_dictionaries(
    {},
    optional={
        "json": JSON_FILES.map(lambda value: json.dumps(value).encode()),
        "txt": st.text("aé \n", max_size=5).map(str.encode),
        "cls": st.integers(-9, 9).map(lambda number: b"%d" % number),
        "bin": st.binary(max_size=600),
        "seg.png": st.binary(max_size=5),
    },
).filter(bool)


def archive(path: Path, samples: dict[str, dict[str, bytes]], mode: str = "w") -> str:
    with tarfile.open(path, mode) as made:
        for key, files in samples.items():
            for extension, content in files.items():
                info = tarfile.TarInfo(f"{key}.{extension}")
                info.size = len(content)
                made.addfile(info, io.BytesIO(content))
    return str(path)


def in_place(*paths: str, **options: Any) -> Dataset:
    return load_dataset("webdataset", data_files=list(paths), split="train", **options)


def from_front_to_back(*paths: str) -> tuple[Features, list[dict[str, Any]]]:
    """The features and the stored rows that the reader of streams gives."""
    tables = []
    for path in paths:
        with open(path, "rb") as stream:
            tables += list(read(stream))
    table, features = joined(tables)
    return features, list(
        PythonFormatter().rows(table, Features({name: _undecoded(features[name]) for name in features}))
    )


def _undecoded(feature: Any) -> Any:
    return Image(decode=False) if isinstance(feature, Image) else feature


@given(st.lists(st.lists(FILES, max_size=5), min_size=1, max_size=3), st.randoms())
def test_any_rows_are_those_of_reading_from_front_to_back(tmp_path_factory, shards, chance):
    folder = tmp_path_factory.mktemp("tars")
    paths = [
        archive(folder / f"{place}.tar", {f"d{place}/{row}": files for row, files in enumerate(shard)})
        for place, shard in enumerate(shards)
    ]
    features, rows = from_front_to_back(*paths)
    dataset = in_place(*paths)
    assert list(dataset.features.items()) == list(features.items())
    stored = [dataset._view.table.row(row) for row in range(len(rows))]
    order = chance.sample(range(len(rows)), len(rows))
    shuffled = dataset.select(order)._view
    for found, wanted in ((stored, rows), (shuffled.read().to_pylist(), [rows[row] for row in order])):
        kinds = Features({name: _undecoded(feature) for name, feature in features.items()})
        shown = [{name: _seen(row[name], kinds[name]) for name in kinds} for row in found]
        assert json.dumps(_filled(shown), default=repr) == json.dumps(_filled(wanted), default=repr)


@pytest.mark.parametrize("streaming", [True, False])
def test_json_of_different_kinds_is_an_error_that_names_its_members_when_json_is_not_wanted(tmp_path, streaming):
    path = archive(tmp_path / "a.tar", {"0": {"json": b"[1]"}, "1": {"json": b'{"a": 1}'}})
    assert [row["json"] for row in in_place(path, streaming=streaming)] == [[1], {"a": 1}]
    with pytest.raises(FileFormatError, match=r"a\.tar, row 1: members '0\.json' to '1\.json' make no column: .*row 1"):
        list(in_place(path, streaming=streaming, on_mixed_types=None))
    with pytest.raises(ArgumentError, match="on_mixed_types='json'"):
        list(in_place(path, streaming=streaming, on_mixed_types="json"))


def _seen(value: Any, feature: Any) -> Any:
    decode = decoder(feature)
    return decode(value) if decode else value


def _filled(value: Any) -> Any:
    """Without fields that are null: where dicts become Json, those read together had the same fields before."""
    if isinstance(value, dict):
        return {name: _filled(item) for name, item in value.items() if item is not None}
    return [_filled(item) for item in value] if isinstance(value, list) else value


def samples(count: int = 6, size: int = 100_000) -> dict[str, dict[str, bytes]]:
    buffer = io.BytesIO()
    Pictures.new("RGB", (3, 2)).save(buffer, "PNG")
    return {
        f"{row:03d}": {"png": buffer.getvalue(), "json": b'{"n": %d}' % row, "bin": bytes([row]) * size}
        for row in range(count)
    }


def test_nothing_is_copied_or_unpacked_and_the_index_is_made_once(tmp_path, monkeypatch):
    path = archive(tmp_path / "x.tar", samples())
    dataset = in_place(path, cache_dir=tmp_path / "cache")
    assert isinstance(dataset._view.table, TarTable)
    assert sum(file.stat().st_size for file in (tmp_path / "cache").rglob("*") if file.is_file()) < 10_000
    monkeypatch.setattr("crucible_datasets.tables.tarindex.entries", None)
    again = in_place(path, cache_dir=tmp_path / "cache")
    for each in (
        dataset,
        again,
        pickle.loads(pickle.dumps(dataset)),
        again.rename_column("bin", "b").rename_column("b", "bin"),
    ):
        assert each[4]["json"] == {"n": 4}
        assert each[4]["png"].size == (3, 2)
        assert each[:]["bin"][5] == b"\5" * 100_000
        assert each.shuffle(seed=1).sort("__key__")["__key__"][:] == sorted(samples())
    assert again.map(lambda row: {"m": row["json"]["n"]}, num_proc=2)["m"][:] == [*range(6)]
    assert again.filter(lambda row: row["json"]["n"] > 3, input_columns=None)["__url__"][:] == [path] * 2


def test_options_choose_columns_rows_and_types(tmp_path):
    path = archive(tmp_path / "x.tar", {f"{row}": {"txt": b"%d" % row, "cls": b"%d" % row} for row in range(5)})
    assert in_place(path, columns=["cls"])[:] == {"cls": [0, 1, 2, 3, 4]}
    assert in_place(path, filters=[("cls", ">", 2)], columns=["txt"])[:] == {"txt": ["3", "4"]}
    asked = Features(
        {"txt": Value("int32"), "cls": Value("float32"), "__key__": Value("string"), "__url__": Value("string")}
    )
    typed = in_place(path, features=asked)
    assert (typed.features, typed[1]["txt"], typed[:2]["cls"]) == (asked, 1, [0.0, 1.0])
    with pytest.raises(FeaturesMismatchError):
        in_place(path, features=Features({"txt": Value("string")}))
    with tarfile.open(tmp_path / "empty.tar", "w"):
        pass
    assert len(in_place(str(tmp_path / "empty.tar"))) == 0
    both = in_place(str(tmp_path / "empty.tar"), path, num_proc=2)
    assert both["cls"][:] == [0, 1, 2, 3, 4]
    disable_caching()
    try:
        assert in_place(path)[3]["cls"] == 3
    finally:
        enable_caching()


def test_compressed_archives_are_converted(tmp_path):
    path = archive(tmp_path / "x.tar", samples(3, 10), "w:gz")
    dataset = in_place(path)
    assert not isinstance(dataset._view.table, TarTable)
    assert dataset[2]["json"] == {"n": 2}


def test_an_archive_that_changes_is_an_error_and_no_signal(tmp_path):
    for change in ("cut", "replaced", "gone"):
        path = archive(tmp_path / f"{change}.tar", samples())
        dataset = in_place(path)
        assert dataset[0]["json"] == {"n": 0} or change != "cut"
        if change == "cut":
            os.truncate(path, 1000)
        else:
            os.unlink(path)
            if change == "replaced":
                archive(tmp_path / f"{change}.tar", samples(7))
        if change == "cut":
            for read_rows in (lambda: dataset[5], lambda: dataset[:], lambda: dataset.select([1, 4])[:]):
                with pytest.raises(FileFormatError, match="changed"):
                    read_rows()
        else:
            tarfiles._MAPPED._held.clear()
            with pytest.raises(FileFormatError, match="changed"):
                pickle.loads(pickle.dumps(dataset))[0]


def test_an_archive_that_is_written_again_is_not_read_at_the_old_offsets(tmp_path):
    path = archive(tmp_path / "x.tar", samples())
    dataset = in_place(path)
    assert dataset[0]["json"] == {"n": 0}
    os.utime(path, ns=(1, 1))  # whatever the clock's resolution is
    again = in_place(path)
    with open(path, "r+b") as file:
        data = file.read()
        file.seek(0)
        file.write(data[::-1])
    for read_rows in (lambda: again[0], lambda: dataset[1], lambda: dataset[:]):
        with pytest.raises(FileFormatError, match="changed"):
            read_rows()


def test_a_broken_archive_gives_its_whole_samples_if_that_is_asked_for(tmp_path):
    path = archive(tmp_path / "x.tar", samples())
    os.truncate(path, 450_000)
    with pytest.raises(FileFormatError, match="breaks off"):
        in_place(path)
    for _ in range(2):
        kept = in_place(path, on_bad_files="skip")
        assert kept["__key__"][:] == ["000", "001", "002", "003"][: len(kept)]
        assert 0 < len(kept) < 6
        assert kept[len(kept) - 1]["bin"] == bytes([len(kept) - 1]) * 100_000


@pytest.mark.parametrize("how", ["gnu", "pax"])
def test_files_with_gaps_are_whole(tmp_path, how):
    with open(tmp_path / "a.bin", "wb") as file:
        file.write(b"begin")
        file.truncate(3 << 20)
        file.seek(0, 2)
        file.write(b"end")
    (tmp_path / "a.txt").write_text("t")
    shutil.copyfile(tmp_path / "a.txt", tmp_path / "b.txt")
    subprocess.run(
        ["tar", f"--format={how}", "--sparse", "-cf", "x.tar", "a.bin", "a.txt", "b.txt"], cwd=tmp_path, check=True
    )
    assert os.path.getsize(tmp_path / "x.tar") < 1 << 20
    dataset = in_place(str(tmp_path / "x.tar"))
    assert isinstance(dataset._view.table, TarTable)
    wanted = (tmp_path / "a.bin").read_bytes()
    assert dataset[0]["bin"] == wanted
    assert dataset[:]["bin"] == [wanted, None]
    assert dataset[1]["bin"] is None


def mutants(tmp_path: Path, count: int, seed: int) -> set[str]:
    """What becomes of archives in which some bytes are others, or are gone."""
    whole = Path(
        archive(tmp_path / "x.tar", {**samples(3, 700), "k": {"mp": b"\x93\x01\x02\x03", "cls": b"7", "txt": b"t"}})
    ).read_bytes()
    chance, seen = random.Random(seed), set()
    for number in range(count):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            at = (
                chance.randrange(len(data))
                if number % 2
                else chance.randrange(len(data) // 512) * 512 + chance.randrange(160)
            )
            data[at % len(data)] = chance.choice((0, 1, 48, 55, 120, 255, chance.randrange(256)))
        path = tmp_path / "mutant.tar"
        path.write_bytes(data[: chance.randrange(len(data)) if number % 5 == 0 else len(data)])
        try:
            with path.open("rb") as stream:
                index, broken = index_of(stream, str(path))
            table = TarTable.of(
                LocalArchive(str(path), identity_of(str(path)), "x", index.end), index, features_of(index)
            )
            assert table.read(range(table.num_rows)).to_pylist() == [table.row(row) for row in range(table.num_rows)]
            seen.add("whole" if broken is None else "in part")
        except DatasetsError as error:
            seen.add(type(error).__name__)
    return seen


def test_damaged_archives_give_typed_errors_only(tmp_path):
    assert {"whole", "in part"} <= mutants(tmp_path, 150, 1)


@pytest.mark.slow
def test_many_damaged_archives_give_typed_errors_only(tmp_path):
    assert {"whole", "in part"} <= mutants(tmp_path, 50_000, 2)


def test_few_archives_are_mapped_at_a_time_and_members_may_not_be_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(tarfiles, "_MOST_MAPPED", 3)
    paths = [archive(tmp_path / f"{number}.tar", {f"{number}": {"bin": b"%d" % number}}) for number in range(8)]
    dataset = in_place(*paths)
    assert [row["bin"] for row in dataset.shuffle(seed=3).sort("__key__")] == [b"%d" % number for number in range(8)]
    assert len(tarfiles._MAPPED._held) <= 3
    monkeypatch.setattr(config, "MAX_MEMBER_BYTES", 0)
    for read_rows in (lambda: dataset[5], lambda: dataset[:]):
        with pytest.raises(LimitExceededError):
            read_rows()


def test_elsewhere_only_the_ranges_of_the_rows_are_fetched(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
    content = Path(archive(tmp_path / "x.tar", samples(12, 2 << 20))).read_bytes()
    with faulty(content) as server:
        url = server.url.replace("/data", "/x.tar")
        dataset = in_place(url, download=False, cache_dir=tmp_path / "cache")
        indexed = server.sent
        assert indexed < len(content) / 4, "only headers and JSON are read to find where members lie"
        assert dataset[7]["json"] == {"n": 7}
        assert server.sent - indexed < 3 << 20
        before = server.sent
        assert dataset.select_columns(["json", "__key__"]).select([11, 2])[:]["json"] == [{"n": 11}, {"n": 2}]
        assert server.sent - before < 1 << 20
        assert dataset.select([3, 9, 1])["bin"][:] == [bytes([row]) * (2 << 20) for row in (3, 9, 1)]
        assert pickle.loads(pickle.dumps(dataset))[2]["__url__"] == url
