"""Builders: run once, atomically, with types that hold all rows, and errors that say where."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import pyarrow as pa
import pytest

from crucible_datasets import (
    DatasetInfo,
    Features,
    ReadInstruction,
    Split,
    SplitDict,
    SplitGenerator,
    SplitInfo,
    Value,
    Version,
    disable_caching,
    enable_caching,
)
from crucible_datasets.builder import ArrowBasedBuilder, BuilderConfig, DatasetBuilder, GeneratorBasedBuilder
from crucible_datasets.exceptions import (
    ArgumentError,
    ConfigNotFoundError,
    DatasetGenerationError,
    ExpectedMoreSplitsError,
    FeaturesMismatchError,
    FileNotFoundDatasetsError,
    ManualDownloadError,
    NonMatchingChecksumError,
    NonMatchingSplitsSizesError,
    SchemaConflictError,
    UnexpectedSplitsError,
)


@dataclass
class LinesConfig(BuilderConfig):
    times: int = 1


class Lines(GeneratorBasedBuilder):
    """The lines of files, each some times; the runs are counted in a file beside them."""

    VERSION = Version("1.0.0")
    BUILDER_CONFIG_CLASS = LinesConfig
    BUILDER_CONFIGS = [LinesConfig("once"), LinesConfig("twice", times=2)]  # noqa: RUF012 - as users write it
    DEFAULT_CONFIG_NAME = "once"

    def _info(self):
        return DatasetInfo(description="lines")

    def _split_generators(self, dl_manager):
        train = dl_manager.download(["a.txt", "b.txt"])
        return [
            SplitGenerator(Split.TRAIN, {"paths": train}),
            SplitGenerator(name="test", gen_kwargs={"paths": [dl_manager.download("b.txt")]}),
        ]

    def _generate_examples(self, paths):
        with open(os.path.join(self.base_path, "runs"), "a") as runs:
            runs.write("run\n")
        for path in paths:
            with open(path) as file:
                for number, line in enumerate(file):
                    for time in range(self.config.times):
                        yield f"{path}-{number}-{time}", {"line": line.strip(), "number": number}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("three\n")
    return tmp_path


def lines(folder, **more):
    return Lines(cache_dir=str(folder / "cache"), base_path=str(folder), **more)


def runs(folder):
    return len((folder / "runs").read_text().splitlines()) if (folder / "runs").exists() else 0


def prepared(builder, **how):
    builder.download_and_prepare(**how)
    return builder


def one_split(generate, features=None, base=GeneratorBasedBuilder, splits=("train",), info=None):
    name = "_generate_examples" if base is GeneratorBasedBuilder else "_generate_tables"
    body = {
        "_info": lambda self: info or DatasetInfo(features=features),
        "_split_generators": lambda self, manager: [SplitGenerator(split) for split in splits],
        name: lambda self: generate(),
    }
    return type("Made", (base,), body)


# Running and opening


def test_a_builder_is_run_once_and_opened_in_every_way(folder):
    builder = prepared(lines(folder))
    whole = builder.as_dataset()
    assert {name: rows["line"][:] for name, rows in whole.items()} == {
        "train": ["one", "two", "three"],
        "test": ["three"],
    }
    assert builder.as_dataset("train[1:]+test")["line"][:] == ["two", "three", "three"]
    assert builder.as_dataset("all").split == "train+test"
    assert builder.as_dataset(ReadInstruction("train", to=1)).split == "train[:1]"
    assert [rows.num_rows for rows in builder.as_dataset(["train", "test"])] == [3, 1]
    assert builder.as_dataset({"x": "test"})["x"].num_rows == 1
    assert builder.as_dataset("train").cache_files and not builder.as_dataset("train", in_memory=True).cache_files
    info = builder.as_dataset("train").info
    assert info.splits["train"].num_examples == 3 and info.description == "lines"
    assert info.download_size == 14 and info.dataset_size and info.config_name == "once"


def test_the_next_run_and_the_next_process_find_what_was_made(folder):
    for _ in range(3):
        prepared(lines(folder))
    assert runs(folder) == 2
    assert lines(folder).info.splits["train"].num_examples == 3
    assert lines(folder).as_dataset("test").num_rows == 1


@pytest.mark.parametrize("mode", ["force_redownload", "reuse_cache_if_exists"])
def test_it_is_made_again_on_demand(folder, mode):
    prepared(lines(folder))
    prepared(lines(folder), download_mode=mode)
    assert runs(folder) == 4


def test_a_changed_file_or_configuration_is_noticed(folder):
    prepared(lines(folder))
    (folder / "b.txt").write_text("three\nfour\n")
    assert prepared(lines(folder)).as_dataset("test")["line"][:] == ["three", "four"]
    assert prepared(lines(folder, config_name="twice")).as_dataset("test").num_rows == 4
    assert prepared(lines(folder, times=3)).as_dataset("test").num_rows == 6
    assert runs(folder) == 8


def test_two_classes_of_one_module_do_not_share_results(tmp_path):
    for value in (1, 2):
        kind = one_split(lambda value=value: iter([(0, {"a": value})]))
        builder = prepared(kind(cache_dir=str(tmp_path)))
        assert builder.as_dataset("train")[:] == {"a": [value]}


def test_without_caching_nothing_is_left(folder):
    disable_caching()
    try:
        assert prepared(lines(folder)).as_dataset("train+test")["line"][:] == ["one", "two", "three", "three"]
    finally:
        enable_caching()
    assert not (folder / "cache").exists()


def test_it_must_be_prepared_first(folder):
    with pytest.raises(FileNotFoundDatasetsError, match="download_and_prepare"):
        lines(folder).as_dataset()


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_files_have_the_names_that_other_libraries_expect(folder, file_format):
    out = folder / "out"
    builder = lines(folder)
    builder.download_and_prepare(str(out), file_format=file_format)
    assert sorted(os.listdir(out)) == [
        "dataset_info.json",
        f"{builder.name}-test.{file_format}",
        f"{builder.name}-train.{file_format}",
    ]
    assert builder.as_dataset("train")["line"][:] == ["one", "two", "three"]
    prepared(lines(folder), output_dir=str(out), file_format=file_format)
    assert runs(folder) == 2
    assert json.loads((out / "dataset_info.json").read_text())["splits"]["train"]["num_examples"] == 3


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_large_splits_are_several_files(tmp_path, file_format):
    kind = one_split(lambda: ((n, {"a": "x" * 1000}) for n in range(5000)))
    builder = kind(cache_dir=str(tmp_path / "c"), writer_batch_size=500)
    builder.download_and_prepare(str(tmp_path / "out"), max_shard_size="1MB", file_format=file_format)
    lengths = builder.info.splits["train"].shard_lengths
    assert sum(lengths) == 5000 and len(lengths) == 10
    assert f"test_builder-train-00000-of-00010.{file_format}" in os.listdir(tmp_path / "out")
    assert builder.as_dataset("train[4990:]").num_rows == 10


def test_processes_share_lists_out(folder):
    builder = prepared(lines(folder), num_proc=2)
    assert builder.as_dataset("train")["line"][:] == ["one", "two", "three"]
    assert builder.info.splits["train"].shard_lengths == [2, 1]


# Types


def test_types_grow_over_all_rows_and_all_splits(tmp_path):
    def rows():
        yield from ((n, {"a": n}) for n in range(3000))
        yield 3000, {"a": 1.5, "b": "new"}

    data = prepared(one_split(rows, splits=("train", "test"))(cache_dir=str(tmp_path))).as_dataset("train")
    assert data.features == {"a": Value("float64"), "b": Value("string")} and data[3000] == {"a": 1.5, "b": "new"}
    assert data[0] == {"a": 0.0, "b": None}


def test_tables_unite_or_name_the_conflict(tmp_path):
    tables = [pa.table({"a": [1]}), pa.table({"a": [1.5]})]
    kind = one_split(lambda: enumerate(tables), base=ArrowBasedBuilder)
    assert prepared(kind(cache_dir=str(tmp_path / "1"))).as_dataset("train")["a"][:] == [1.0, 1.5]
    tables = [pa.table({"a": [1]}), pa.table({"a": ["x"]})]
    kind = one_split(lambda: enumerate(tables), base=ArrowBasedBuilder)
    with pytest.raises(SchemaConflictError, match="'a'"):
        prepared(kind(cache_dir=str(tmp_path / "2")))


def test_given_features_hold(tmp_path):
    features = Features({"a": Value("int8"), "c": Value("string")})
    rows = one_split(lambda: iter([(0, {"a": 1})]), features)
    assert prepared(rows(cache_dir=str(tmp_path))).as_dataset("train")[:] == {"a": [1], "c": [None]}
    tables = one_split(lambda: iter([(0, pa.table({"a": [1]}))]), features, ArrowBasedBuilder)
    assert prepared(tables(cache_dir=str(tmp_path))).as_dataset("train").features == features
    for extra in (
        one_split(lambda: iter([(0, pa.table({"z": [1]}))]), features, ArrowBasedBuilder),
        one_split(lambda: iter([(0, {"a": 1, "b": 2})]), features),
    ):
        with pytest.raises(DatasetGenerationError) as caught:
            prepared(extra(cache_dir=str(tmp_path)))
        assert isinstance(caught.value.__cause__, FeaturesMismatchError)
    other = Features({"a": Value("int64")})
    assert prepared(rows(cache_dir=str(tmp_path), features=other)).as_dataset("train").features == other


def test_a_split_without_rows(tmp_path):
    kind = one_split(lambda: iter(()), Features({"a": Value("int8")}))
    assert prepared(kind(cache_dir=str(tmp_path))).as_dataset()["train"].num_rows == 0
    with pytest.raises(DatasetGenerationError, match="types are unknown"):
        prepared(one_split(lambda: iter(()))(cache_dir=str(tmp_path)))
    assert prepared(one_split(lambda: iter(()), splits=())(cache_dir=str(tmp_path))).as_dataset() == {}


# Errors


def failing():
    yield "first", {"a": 1}
    raise KeyError("boo")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (failing, r"Made, split 'train', failed at row 1: KeyError: 'boo' \(the last key was 'first'\)"),
        (lambda: iter([{"a": 1}]), "row 0: expected a key and a row"),
        (lambda: iter([(0, 5)]), "row 0: it yielded int instead of a dict"),
    ],
)
@pytest.mark.parametrize("place", ["cache", "folder"])
def test_an_error_names_builder_split_and_row_and_leaves_nothing(tmp_path, rows, said, place):
    builder = one_split(rows)(cache_dir=str(tmp_path / "cache"))
    with pytest.raises(DatasetGenerationError, match=said):
        builder.download_and_prepare(None if place == "cache" else str(tmp_path / "out"))
    left = [name for _, _, names in os.walk(tmp_path) for name in names if not name.endswith(".uses")]
    assert not left and not (tmp_path / "out").exists()


def test_an_error_leaves_what_was_there(tmp_path):
    good, bad = one_split(lambda: iter([(0, {"a": 1})])), one_split(failing)
    prepared(good(cache_dir=str(tmp_path / "c")), output_dir=str(tmp_path / "out"))
    with pytest.raises(DatasetGenerationError):
        prepared(bad(cache_dir=str(tmp_path / "c")), output_dir=str(tmp_path / "out"), download_mode="force_redownload")
    assert prepared(good(cache_dir=str(tmp_path / "c")), output_dir=str(tmp_path / "out")).as_dataset("train")[:] == {
        "a": [1]
    }


def described(**rows):
    return DatasetInfo(splits=SplitDict({name: SplitInfo(name, 0, count) for name, count in rows.items()}))


@pytest.mark.parametrize(
    ("info", "error"),
    [
        (described(train=2), NonMatchingSplitsSizesError),
        (described(train=1, test=1), ExpectedMoreSplitsError),
        (described(), None),
        (described(train=1), None),
    ],
)
def test_splits_are_compared_with_the_description(tmp_path, info, error):
    kind = one_split(lambda: iter([(0, {"a": 1})]), info=info)
    if error is not None:
        with pytest.raises(error):
            prepared(kind(cache_dir=str(tmp_path)))
    assert prepared(kind(cache_dir=str(tmp_path)), verification_mode="no_checks").as_dataset("train").num_rows == 1


def test_a_split_that_is_not_described(tmp_path):
    kind = one_split(lambda: iter([(0, {"a": 1})]), info=described(train=1), splits=("train", "more"))
    with pytest.raises(UnexpectedSplitsError, match="more"):
        prepared(kind(cache_dir=str(tmp_path)))


def test_files_are_compared_with_the_description_when_all_is_checked(folder):
    info = DatasetInfo(download_checksums={name: {"num_bytes": 1, "checksum": "x"} for name in ("a.txt", "b.txt")})
    with pytest.raises(NonMatchingChecksumError, match="a.txt"):
        prepared(lines(folder, info=info), verification_mode="all_checks")
    prepared(lines(folder, info=info))


@pytest.mark.parametrize("splits", [("all",), ("train", "train")])
def test_splits_that_cannot_be(tmp_path, splits):
    with pytest.raises(ArgumentError):
        prepared(one_split(lambda: iter([(0, {"a": 1})]), splits=splits)(cache_dir=str(tmp_path)))


@pytest.mark.parametrize(
    "how", [{"file_format": "zz"}, {"verification_mode": "zz"}, {"download_mode": "zz"}, {"max_shard_size": "zz"}]
)
def test_arguments_that_cannot_be(folder, how):
    with pytest.raises(ValueError, match="zz"):
        prepared(lines(folder), **how)


# Configurations


def test_configurations_are_chosen_by_name(folder):
    assert lines(folder).config.name == "once" and lines(folder, config_name="twice").config.times == 2
    assert lines(folder, times=5).config == LinesConfig("once", times=5)
    assert Lines.BUILDER_CONFIGS[0].times == 1 and lines(folder, times=5).config_id == "once-times=5"
    with pytest.raises(ConfigNotFoundError, match="Did you mean 'twice'"):
        lines(folder, config_name="twise")
    with pytest.raises(ArgumentError, match="times"):
        lines(folder, tims=5)
    assert set(Lines.builder_configs) == {"once", "twice"}


def test_without_a_default_one_of_several_must_be_named(folder):
    class Choice(Lines):
        DEFAULT_CONFIG_NAME = None

    with pytest.raises(ConfigNotFoundError, match="several"):
        Choice(base_path=str(folder))
    assert Choice(base_path=str(folder), times=4).config == LinesConfig("default", version=Version("1.0.0"), times=4)


def test_files_that_only_the_user_can_get_are_asked_for(folder):
    class ByHand(Lines):
        manual_download_instructions = "get them at the library."

    with pytest.raises(ManualDownloadError, match="at the library"):
        ByHand(base_path=str(folder)).download_and_prepare()
    ByHand(base_path=str(folder), data_dir=str(folder)).download_and_prepare()


def test_files_and_folders_reach_the_configuration(folder):
    class Plain(DatasetBuilder):
        def _info(self):
            return DatasetInfo()

    builder = Plain(data_files={"train": "a.txt", "test": [str(folder / "b.txt")]}, base_path=str(folder))
    assert builder.config.data_files == {"train": [str(folder / "a.txt")], "test": [str(folder / "b.txt")]}
    before = builder.cache_dir
    (folder / "a.txt").write_text("changed")
    assert (
        Plain(data_files={"train": "a.txt", "test": [str(folder / "b.txt")]}, base_path=str(folder)).cache_dir != before
    )
    assert Plain(data_dir=str(folder)).config.data_dir == str(folder)
    with pytest.raises(TypeError, match="foo"):
        Plain(foo=1)


def test_configurations_refuse_what_cannot_be():
    for given in ({"name": "a/b"}, {"data_files": "a.csv"}):
        with pytest.raises(ArgumentError):
            BuilderConfig(**given)


def test_rows_also_flow(folder):
    streamed = lines(folder).as_streaming_dataset(split="train")
    builder = lines(folder)
    builder.download_and_prepare()
    assert list(streamed) == builder.as_dataset(split="train").to_list()
