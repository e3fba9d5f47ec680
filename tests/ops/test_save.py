"""Saved datasets come back as they were, and a folder holds the old dataset or the new one, nothing in between."""

from __future__ import annotations

import errno
import json
import os
import pickle
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import specs

import crucible_datasets
from crucible_datasets import (
    ClassLabel,
    Dataset,
    DatasetDict,
    Features,
    Image,
    Value,
    config,
    disable_progress_bars,
    enable_progress_bars,
)
from crucible_datasets.exceptions import (
    ArgumentError,
    ArrowFileError,
    DatasetsError,
    FileFormatError,
    FileNotFoundDatasetsError,
    LimitExceededError,
    NotAFolderError,
    StorageError,
    UnsavedIndexError,
)
from crucible_datasets.ops import blocks


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "saved")


def numbers(count: int = 10) -> Dataset:
    return Dataset.from_dict({"n": list(range(count)), "s": [f"text {number}" for number in range(count)]})


def data_files(folder: str) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(".arrow"))


@given(specs(min_columns=0), st.integers(1, 3), st.randoms())
def test_what_is_saved_is_loaded(tmp_path_factory, spec, num_shards, random):
    folder = str(tmp_path_factory.mktemp("saved") / "it")
    dataset = spec.dataset(crucible_datasets)
    dataset = dataset.select(random.sample(range(len(dataset)), len(dataset)))
    dataset.save_to_disk(folder, num_shards=num_shards)
    loaded = Dataset.load_from_disk(folder)
    assert repr(loaded[:]) == repr(dataset[:])
    assert loaded.features == dataset.features
    assert loaded._fingerprint == dataset._fingerprint
    assert len(data_files(folder)) == num_shards


@pytest.mark.parametrize("keep_in_memory", [None, False, True])
def test_format_split_and_description_are_kept(folder, keep_in_memory):
    features = Features({"n": Value("int32"), "l": ClassLabel(names=["no", "yes"])})
    dataset = Dataset.from_dict({"n": [1, 2], "l": [0, 1]}, features=features, split="test")
    dataset.info.description = "two rows"
    dataset.set_format("numpy", ["l"], output_all_columns=True, dtype="int16")
    dataset.save_to_disk(folder)
    loaded = Dataset.load_from_disk(folder, keep_in_memory)
    assert (loaded.split, loaded.description, loaded.format) == ("test", "two rows", dataset.format)
    assert loaded.features == features
    assert bool(loaded.cache_files) is not bool(keep_in_memory)


def test_small_datasets_are_kept_in_memory_when_the_setting_says_so(folder, monkeypatch):
    numbers().save_to_disk(folder)
    assert Dataset.load_from_disk(folder).cache_files
    monkeypatch.setattr(config, "IN_MEMORY_MAX_SIZE", 10**6)
    assert not Dataset.load_from_disk(folder).cache_files


def test_few_large_files_of_media_are_held_at_a_time(folder, tmp_path):
    for number in range(40):
        (tmp_path / f"{number}.png").write_bytes(b"%02d" % number + bytes(2 << 20))
    files = [str(tmp_path / f"{number}.png") for number in range(40)]
    kinds = Features({"i": Image(decode=False)})
    Dataset.from_dict({"i": files[:2]}, features=kinds).save_to_disk(folder)  # what is imported for it
    tracemalloc.start()
    Dataset.from_dict({"i": files}, features=kinds).save_to_disk(folder)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 48 << 20
    assert [row["i"]["bytes"][:2] for row in Dataset.load_from_disk(folder)] == [b"%02d" % n for n in range(40)]


def test_files_of_media_are_saved_with_them(folder, tmp_path):
    (tmp_path / "own.png").write_bytes(b"own")
    reference = {"bytes": None, "path": str(tmp_path / "own.png")}
    dataset = Dataset.from_dict({"i": [reference]}, features=Features({"i": Image(decode=False)}))
    # In memory, and in a file that has all but the pictures.
    for kind in (dataset, dataset.map(lambda row: {"i": row["i"]}, cache_file_name=str(tmp_path / "cached.arrow"))):
        kind.save_to_disk(folder)
        assert Dataset.load_from_disk(folder)[0] == {"i": {"bytes": b"own", "path": "own.png"}}
    gone = {"bytes": None, "path": str(tmp_path / "gone.png")}
    rows = Dataset.from_dict(
        {"n": [1, 2], "i": [reference, gone]}, features=Features({"n": Value("int8"), "i": Image()})
    )
    with pytest.raises(FileNotFoundError, match="Column 'i'.*gone.png"):
        rows.save_to_disk(folder)


def test_many_small_batches_become_few(folder):
    table = pa.concat_tables([pa.table({"n": [number]}) for number in range(100)])
    Dataset(table).save_to_disk(folder)
    saved = pa.ipc.open_stream(os.path.join(folder, data_files(folder)[0])).read_all()
    assert saved["n"].num_chunks == 1
    assert saved["n"].to_pylist() == list(range(100))


def test_rows_are_written_in_blocks(folder, monkeypatch):
    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 64)
    dataset = numbers(100).shuffle(seed=3)
    dataset.save_to_disk(folder, num_shards=3)
    assert Dataset.load_from_disk(folder)[:] == dataset[:]


# How many files


@pytest.mark.parametrize(
    ("wishes", "count"),
    [
        ({}, 1),
        ({"num_shards": 3}, 3),
        ({"num_shards": 12}, 12),
        ({"num_proc": 4}, 4),
        ({"num_proc": 40}, 10),
        ({"num_shards": 2, "num_proc": 4}, 2),
        ({"max_shard_size": 40}, 3),
        ({"max_shard_size": "1KiB"}, 1),
    ],
)
def test_the_number_of_files_follows_the_wishes(folder, wishes, count):
    dataset = Dataset.from_dict({"n": list(range(10))})
    dataset.save_to_disk(folder, **wishes)
    assert data_files(folder) == [f"data-{index:05d}-of-{count:05d}.arrow" for index in range(count)]
    assert Dataset.load_from_disk(folder)[:] == dataset[:]


@pytest.mark.parametrize(
    "wishes",
    [
        {"num_shards": 0},
        {"num_shards": -1},
        {"num_shards": 2, "max_shard_size": "1MB"},
        {"max_shard_size": "many"},
        {"max_shard_size": "0MB"},
        {"max_shard_size": -1},
    ],
)
def test_impossible_wishes_leave_the_folder_alone(folder, wishes):
    numbers().save_to_disk(folder)
    with pytest.raises(ArgumentError):
        numbers(3).save_to_disk(folder, **wishes)
    assert len(Dataset.load_from_disk(folder)) == 10


# Over what is there


def test_a_file_is_not_replaced_by_a_dataset(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(NotAFolderError, match="notes.txt is a file"):
        Dataset.from_dict({"a": [1]}).save_to_disk(file)
    assert file.read_text() == "mine"


def test_saving_over_its_own_source(folder):
    numbers().save_to_disk(folder, num_shards=2)
    source = Dataset.load_from_disk(folder)
    source.select([3, 1]).save_to_disk(folder)
    assert Dataset.load_from_disk(folder)["n"] == [3, 1]
    assert data_files(folder) == ["data-00000-of-00001.arrow"]
    assert source["n"] == list(range(10)), "what is open stays readable"


def test_saving_an_old_view_after_its_files_were_replaced(folder, tmp_path):
    numbers().save_to_disk(folder)
    source = Dataset.load_from_disk(folder)
    source.select([3]).save_to_disk(folder)
    source.save_to_disk(tmp_path / "other")
    assert Dataset.load_from_disk(tmp_path / "other")["n"] == list(range(10))
    source.save_to_disk(folder)
    assert Dataset.load_from_disk(folder)["n"] == list(range(10))


def test_an_old_view_travels_with_its_own_rows(folder):
    """A mapped dataset is pickled as a reference to its files, but not to files that came after them."""
    numbers().save_to_disk(folder)
    source = Dataset.load_from_disk(folder)
    reference = pickle.dumps(source)
    assert pickle.loads(reference)["n"] == list(range(10))
    source.select(range(9, -1, -1)).save_to_disk(folder)
    assert pickle.loads(pickle.dumps(source))["n"] == list(range(10))
    assert pickle.loads(pickle.dumps(source.select_columns("n").rename_column("n", "m")))["m"] == list(range(10))
    with pytest.raises(ArrowFileError, match="taken the place"):
        pickle.loads(reference)


def test_readers_see_one_dataset_or_the_other(folder):
    numbers(100).save_to_disk(folder, num_shards=3)
    done = threading.Event()

    def save_in_turns() -> None:
        try:
            for turn in range(30):
                numbers(100 if turn % 2 else 50).save_to_disk(folder, num_shards=3 if turn % 2 else 2)
        finally:
            done.set()

    with ThreadPoolExecutor(1) as pool:
        saving = pool.submit(save_in_turns)
        lengths = set()
        while not done.is_set():
            loaded = Dataset.load_from_disk(folder)
            assert loaded["n"][:] == list(range(len(loaded)))
            lengths.add(len(loaded))
        saving.result()
    assert lengths <= {50, 100}


def test_unchanged_files_are_copied_where_there_are_no_links(folder, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    numbers(3).save_to_disk(folder)
    monkeypatch.setattr(os, "link", refuse)
    Dataset.load_from_disk(folder).save_to_disk(folder)
    assert len(Dataset.load_from_disk(folder)) == 3


def test_unchanged_files_are_linked_in_place_and_copied_elsewhere(folder, tmp_path):
    numbers().save_to_disk(folder, num_shards=2)
    source = Dataset.load_from_disk(folder)
    first = os.path.join(folder, data_files(folder)[0])
    inode = os.stat(first).st_ino
    source.save_to_disk(folder)
    assert os.stat(first).st_ino == inode, "a second name for the same bytes"
    source.save_to_disk(tmp_path / "other")
    copy = tmp_path / "other" / data_files(folder)[0]
    assert copy.read_bytes() == Path(first).read_bytes()
    assert copy.stat().st_ino != inode, "writing to one must not change the other"
    assert copy.stat().st_nlink == 1


def test_files_of_others_are_copied_where_they_are_as_ours(folder, tmp_path):
    """Never where rewriting gives another file: one without compression, or of few batches, or under its own schema."""
    table = pa.table({"n": list(range(100)), "s": [f"text {number}" for number in range(100)]})
    plain, packed = pa.ipc.IpcWriteOptions(), pa.ipc.IpcWriteOptions(compression="zstd")
    kinds = {
        "as ours": (pa.ipc.new_stream, table, plain, None),
        "compressed": (pa.ipc.new_stream, table, packed, None),
        "another layout": (pa.ipc.new_file, table, plain, None),
        "many batches": (pa.ipc.new_stream, table, plain, 2),
        "its own notes": (pa.ipc.new_stream, table.replace_schema_metadata({"note": "ours"}), plain, None),
    }
    copied = set()
    for kind, (make, rows, options, size) in kinds.items():
        source = tmp_path / f"{kind}.arrow"
        with make(str(source), rows.schema, options=options) as writer:
            writer.write_table(rows, size)
        Dataset.from_file(str(source)).save_to_disk(folder)
        assert Dataset.load_from_disk(folder)[:] == table.to_pydict(), kind
        written = Path(folder, data_files(folder)[0])
        copied |= {kind} if written.read_bytes() == source.read_bytes() else set()
        assert written.stat().st_ino != source.stat().st_ino, kind
    assert copied == {"as ours"}


def test_a_file_beside_a_saved_dataset_is_not_shared_with_it(folder):
    numbers().save_to_disk(folder)
    stranger = Path(folder, "mine.arrow")
    with pa.ipc.new_stream(str(stranger), pa.schema({"n": pa.int64()})) as writer:
        writer.write_table(pa.table({"n": [7]}))
    Dataset.from_file(str(stranger)).save_to_disk(folder)
    assert Dataset.load_from_disk(folder)["n"] == [7]
    assert stranger.stat().st_ino != Path(folder, data_files(folder)[0]).stat().st_ino


@pytest.mark.parametrize(
    "change",
    [
        lambda dataset: dataset.rename_column("n", "m"),
        lambda dataset: dataset.select_columns("n"),
        lambda dataset: dataset.cast_column("n", Value("int32")),
        lambda dataset: dataset.add_column("x", [0] * 10),
        lambda dataset: dataset.select(range(9)),
        lambda dataset: dataset.repeat(2),
    ],
)
def test_changed_datasets_are_written_anew(folder, change):
    numbers().save_to_disk(folder)
    changed = change(Dataset.load_from_disk(folder))
    expected = changed[:]
    changed.save_to_disk(folder)
    loaded = Dataset.load_from_disk(folder)
    assert (loaded[:], loaded.features) == (expected, changed.features)


def test_appending(folder):
    numbers(2).save_to_disk(folder)
    more = crucible_datasets.concatenate_datasets([Dataset.load_from_disk(folder), numbers(1)])
    more.save_to_disk(folder)
    assert Dataset.load_from_disk(folder)["n"] == [0, 1, 0]


def test_other_files_in_the_folder_stay(folder):
    DatasetDict({"train": numbers()}).save_to_disk(folder)
    strangers = ["notes.txt", os.path.join("deep", "notes.txt"), os.path.join("train", "notes.txt")]
    os.makedirs(os.path.join(folder, "deep"))
    for name in strangers:
        with open(os.path.join(folder, name), "w") as file:
            file.write("mine")
    DatasetDict({"train": numbers(1), "test": numbers(2)}).save_to_disk(folder)
    assert all(os.path.exists(os.path.join(folder, name)) for name in strangers)
    assert DatasetDict.load_from_disk(folder).num_rows == {"train": 1, "test": 2}
    numbers(5).save_to_disk(folder)
    assert all(os.path.exists(os.path.join(folder, name)) for name in strangers)
    assert len(Dataset.load_from_disk(folder)) == 5
    assert sorted(os.listdir(os.path.join(folder, "train"))) == ["notes.txt"]


def test_a_folder_of_other_things_takes_a_dataset(folder):
    os.makedirs(os.path.join(folder, "other"))
    inode = os.stat(folder).st_ino
    DatasetDict({"train": numbers()}).save_to_disk(folder)
    assert os.stat(folder).st_ino == inode, "what is in use as a working folder stays one"
    assert sorted(os.listdir(folder)) == ["dataset_dict.json", "other", "train"]
    assert DatasetDict.load_from_disk(folder)["train"][:] == numbers()[:]


def test_a_dataset_in_place_of_a_dict_and_the_reverse(folder):
    DatasetDict({"train": numbers(), "test": numbers(1)}).save_to_disk(folder)
    numbers(2).save_to_disk(folder)
    assert sorted(os.listdir(folder)) == ["data-00000-of-00001.arrow", "dataset_info.json", "state.json"]
    DatasetDict({"a": numbers(3)}).save_to_disk(folder)
    assert sorted(os.listdir(folder)) == ["a", "dataset_dict.json"]


def test_a_failure_leaves_the_old_dataset(folder, monkeypatch):
    numbers().save_to_disk(folder)
    dataset = numbers(5).with_transform(lambda batch: batch)
    with pytest.raises(TypeError, match="transform"):
        dataset.save_to_disk(folder)

    def fail(*args, **kwargs):
        raise OSError("no more")

    monkeypatch.setattr("crucible_datasets.ops.save.write_text", fail)
    with pytest.raises(OSError, match="no more"):
        numbers(5).save_to_disk(folder)
    assert Dataset.load_from_disk(folder)[:] == numbers()[:]
    assert os.listdir(os.path.dirname(folder)) == ["saved"]


def test_search_indexes_are_refused(folder):
    dataset = Dataset.from_dict({"v": [[1.0, 0.0], [0.0, 1.0]]})
    dataset.add_exact_index("v")
    with pytest.raises(UnsavedIndexError, match="drop_index"):
        dataset.save_to_disk(folder)
    with pytest.raises(ValueError, match="v"):
        DatasetDict({"train": dataset}).save_to_disk(folder)
    assert not os.path.exists(folder)


# Dicts


def test_dicts_come_back_split_by_split(folder):
    dataset = DatasetDict({"train": numbers(), "test": numbers().select([])})
    dataset.save_to_disk(folder, num_shards={"train": 2, "test": 1})
    loaded = DatasetDict.load_from_disk(folder)
    assert list(loaded) == ["train", "test"]
    assert loaded["train"][:] == numbers()[:]
    assert loaded["test"].features == numbers().features
    assert [len(data_files(os.path.join(folder, name))) for name in loaded] == [2, 1]
    with pytest.raises(ArgumentError, match="each split"):
        dataset.save_to_disk(folder, num_shards=2)
    DatasetDict().save_to_disk(folder)
    assert DatasetDict.load_from_disk(folder) == {}


def test_splits_that_stay_are_linked(folder):
    DatasetDict({"train": numbers(), "test": numbers(3)}).save_to_disk(folder)
    train = os.path.join(folder, "train", "data-00000-of-00001.arrow")
    inode = os.stat(train).st_ino
    loaded = DatasetDict.load_from_disk(folder)
    loaded["test"] = loaded["test"].select([2])
    loaded.save_to_disk(folder)
    assert os.stat(train).st_ino == inode
    assert DatasetDict.load_from_disk(folder)["test"]["n"] == [2]


# What is not a saved dataset


def test_missing_folders_are_named(folder, tmp_path):
    for load in (Dataset.load_from_disk, DatasetDict.load_from_disk):
        with pytest.raises(FileNotFoundDatasetsError, match="saved"):
            load(folder)
    numbers().save_to_disk(folder)
    with pytest.raises(FileNotFoundError, match="one Dataset"):
        DatasetDict.load_from_disk(folder)
    os.unlink(os.path.join(folder, "state.json"))
    with pytest.raises(FileNotFoundError, match=r"state\.json missing"):
        Dataset.load_from_disk(folder)


@pytest.mark.parametrize("name", ["../outside.arrow", "/etc/passwd", "", ".."])
def test_files_outside_of_the_folder_are_not_opened(folder, name):
    numbers().save_to_disk(folder)
    with open(os.path.join(folder, "state.json"), "r+") as file:
        state = {**json.load(file), "_data_files": [{"filename": name}]}
        file.seek(0)
        file.truncate()
        json.dump(state, file)
    with pytest.raises(FileFormatError, match="out of the folder"):
        Dataset.load_from_disk(folder)


def test_files_that_make_no_sense_are_named(folder):
    DatasetDict({"train": numbers()}).save_to_disk(folder)
    train = Path(folder, "train")
    classes = {"n": {"_type": "ClassLabel", "num_classes": 10**9}}
    nonsense: list[tuple[Path, list[bytes | dict[str, object]]]] = [
        (
            train / "state.json",
            [b"{", b"[1]", b"\xff", b"[" * 100_000, {}, {"_data_files": None}, {"_data_files": [5]}],
        ),
        (train / "state.json", [{"_data_files": [{"filename": name}]} for name in (5, None, [], "x\0y")]),
        (train / "dataset_info.json", [b"{", b"5", {"splits": 5}, {"version": {"x": 1}}, {"features": classes}]),
        (
            Path(folder, "dataset_dict.json"),
            [b"{", b"[1]", {}, {"splits": None}, {"splits": [5]}, {"splits": ["x\0y"]}],
        ),
    ]
    for path, contents in nonsense:
        before = path.read_bytes()
        for content in contents:
            path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
            with pytest.raises((FileFormatError, LimitExceededError), match="saved|number of classes"):
                DatasetDict.load_from_disk(folder)
        path.write_bytes(before)
    (train / "data-00000-of-00001.arrow").unlink()
    os.mkfifo(train / "data-00000-of-00001.arrow")
    with pytest.raises(FileNotFoundDatasetsError, match=r"data-00000"):
        DatasetDict.load_from_disk(folder)
    (train / "state.json").write_bytes(b'{"_data_files": [5]}')
    numbers().save_to_disk(folder)
    assert len(Dataset.load_from_disk(folder)) == len(numbers())


# Elsewhere


def test_remote_folders(tmp_path):
    files = fsspec.filesystem("memory")
    dataset = numbers().shuffle(seed=1)
    dataset.save_to_disk("memory://deep/saved", num_shards=2)
    assert sorted(os.path.basename(name) for name in files.find("/deep/saved")) == [
        *("data-00000-of-00002.arrow", "data-00001-of-00002.arrow"),
        *("dataset_info.json", "state.json"),
    ]
    loaded = Dataset.load_from_disk("memory://deep/saved")
    assert loaded[:] == dataset[:]
    loaded.select([1]).save_to_disk("memory://deep/saved")
    assert Dataset.load_from_disk("memory://deep/saved", keep_in_memory=True)[:] == dataset[1:2]
    assert len(files.find("/deep/saved")) == 3
    assert loaded[:] == dataset[:]
    DatasetDict({"train": loaded}).save_to_disk("memory://deep/dict")
    assert DatasetDict.load_from_disk("memory://deep/dict")["train"][:] == dataset[:]
    with pytest.raises(FileNotFoundError):
        Dataset.load_from_disk("memory://deep")
    files.rm("/deep", recursive=True)


def test_paths_of_all_kinds(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (tmp_path / "a", os.fsencode(tmp_path / "b"), f"file://{tmp_path}/c", "~/d"):
        numbers().save_to_disk(path)
        assert Dataset.load_from_disk(path)[:] == numbers()[:]
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c", "d"]
    (tmp_path / "link").symlink_to(tmp_path / "a")
    numbers(1).save_to_disk(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert len(Dataset.load_from_disk(tmp_path / "a")) == 1


def test_bars_on_a_terminal_only(folder, monkeypatch, capsys):
    monkeypatch.setattr(config, "HF_DATASETS_DISABLE_PROGRESS_BARS", None)
    enable_progress_bars()
    try:
        numbers().save_to_disk(folder)
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        numbers().save_to_disk(folder)
        assert "10/10" in capsys.readouterr().err
    finally:
        disable_progress_bars()


def test_a_state_that_says_nonsense_of_the_format_is_an_error_that_names_it(folder):
    numbers().with_format("numpy").save_to_disk(folder)
    state = Path(folder, "state.json")
    whole = json.loads(state.read_text())
    for nonsense in ({"_format_kwargs": [1]}, {"_format_kwargs": "x"}, {"_format_type": 1.5}, {"_format_type": []}):
        state.write_text(json.dumps(whole | nonsense))
        with pytest.raises(DatasetsError) as caught:
            Dataset.load_from_disk(folder)
        assert str(state) in " ".join([str(caught.value), *getattr(caught.value, "__notes__", ())])


def test_a_folder_whose_name_is_not_utf_8_is_read_and_refused_for_writing(tmp_path):
    named = os.path.join(tmp_path, os.fsdecode(b"\xff"))
    with pytest.raises(StorageError, match=r"\\udcff"):
        numbers().save_to_disk(named)
    assert os.listdir(tmp_path) == []
    numbers().save_to_disk(tmp_path / "plain")
    os.rename(tmp_path / "plain", named)
    assert Dataset.load_from_disk(named)[:] == numbers()[:]


def test_a_file_is_no_saved_dataset(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(FileNotFoundError, match="it is a file; read it with load_dataset"):
        crucible_datasets.load_from_disk(tmp_path / "rows.jsonl")
