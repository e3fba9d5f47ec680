"""`load_dataset`: what it reads, what it leaves alone, what it writes."""

import gzip
import inspect
import json
import os
import pickle
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crucible_datasets as d
from crucible_datasets import config, fingerprint
from crucible_datasets.exceptions import (
    ArgumentError,
    CardError,
    ConfigNotFoundError,
    DataFilesNotFoundError,
    DatasetGenerationError,
    DatasetNotFoundError,
    DatasetScriptError,
    FeaturesMismatchError,
    FileFormatError,
    NonMatchingSplitsSizesError,
    OfflineError,
    SchemaConflictError,
)
from crucible_datasets.formats.base import FORMATS


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", folder)
    return folder


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "train.jsonl").write_text('{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n')
    (folder / "test.jsonl").write_text('{"a": 3, "b": "z"}\n')
    return folder


def written(folder):
    """The files under a folder."""
    return [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]


@pytest.fixture
def reads(monkeypatch):
    """The names of the files that the JSON format was asked to read."""
    seen = []
    json_format = FORMATS["json"]

    def read(stream, *, columns=None, filters=None, features=None, **options):
        seen.append(os.path.basename(stream.name))
        return json_format.read(stream, columns=columns, filters=filters, features=features, **options)

    read.__signature__ = inspect.signature(json_format.read)
    monkeypatch.setitem(FORMATS.entries, "json", replace(json_format, read=read))
    return seen


def test_all_splits_come_as_a_dict(root):
    found = d.load_dataset(str(root))
    assert isinstance(found, d.DatasetDict)
    assert found.num_rows == {"train": 2, "test": 1}
    assert found["train"][1] == {"a": 2, "b": "y"}
    assert found["train"].info.dataset_name == "data"


def test_only_the_split_asked_for_is_read(root, reads):
    (root / "test.jsonl").write_text("{broken")
    assert d.load_dataset(str(root), split="train[:1]")[:] == {"a": [1], "b": ["x"]}
    assert reads == ["train.jsonl"]
    with pytest.raises(FileFormatError, match=r"test\.jsonl"):
        d.load_dataset(str(root), split="test")


def test_a_second_load_reads_no_file(root, reads):
    first = d.load_dataset(str(root), split="train")
    second = d.load_dataset(str(root), split="train")
    assert reads == ["train.jsonl"]
    assert first[:] == second[:]
    assert first._fingerprint == second._fingerprint
    assert d.load_dataset(str(root), split="train", download_mode="force_redownload")[:] == first[:]
    assert reads == ["train.jsonl"] * 2


def test_a_changed_file_is_noticed(root, reads):
    d.load_dataset(str(root), split="test")
    (root / "test.jsonl").write_text('{"a": 30, "b": "new"}\n')
    assert d.load_dataset(str(root), split="test")[:] == {"a": [30], "b": ["new"]}
    assert len(reads) == 2


def test_other_options_are_another_entry(root):
    whole = d.load_dataset(str(root), split="train")
    assert d.load_dataset(str(root), split="train", columns=["b"]).column_names == ["b"]
    assert d.load_dataset(str(root), split="train", filters=[("a", ">", 1)])[:] == {"a": [2], "b": ["y"]}
    assert d.load_dataset(str(root), split="train")[:] == whole[:]


@pytest.mark.parametrize("disabled", [True, False])
def test_in_memory_nothing_is_written(root, own_cache, monkeypatch, disabled):
    monkeypatch.setattr(fingerprint, "_caching_enabled", not disabled)
    found = d.load_dataset(str(root), keep_in_memory=None if disabled else True)
    assert found["train"][:] == {"a": [1, 2], "b": ["x", "y"]}
    assert not written(own_cache)
    assert found["train"].cache_files == []


def test_parquet_is_read_in_place(tmp_path, own_cache):
    pq.write_table(pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]}), tmp_path / "train.parquet")
    found = d.load_dataset(str(tmp_path), split="train")
    assert found[:] == {"a": [1, 2, 3], "b": ["x", "y", "z"]}
    assert found.cache_files == [{"filename": str(tmp_path / "train.parquet")}]
    narrow = d.load_dataset(str(tmp_path), split="train", columns=["b"], filters=[[("a", "=", 1)], [("a", "=", 3)]])
    assert narrow[:] == {"b": ["x", "z"]}
    assert d.load_dataset(str(tmp_path), split="train", keep_in_memory=True)[2] == {"a": 3, "b": "z"}
    assert not written(own_cache)


def test_arrow_is_read_in_place(tmp_path, own_cache):
    table = pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    for name in ("one.arrow", "two.arrow"):
        with pa.ipc.new_stream(tmp_path / name, table.schema) as writer:
            writer.write_table(table)
    found = d.load_dataset("arrow", data_files=str(tmp_path / "*.arrow"), split="train")
    assert found["a"][:] == [1, 2, 3, 1, 2, 3]
    narrow = d.load_dataset("arrow", data_files=str(tmp_path / "*.arrow"), columns=["b"], filters=[("a", ">", 2)])
    assert narrow["train"][:] == {"b": ["z", "z"]}
    floats = d.Features({"b": d.Value("string"), "a": d.Value("float32")})
    assert d.load_dataset("arrow", data_files=str(tmp_path / "one.arrow"), features=floats)["train"].features == floats
    assert not written(own_cache)


def test_processes_give_the_same_rows(tmp_path):
    for number in range(5):
        (tmp_path / f"{number}.jsonl").write_text(f'{{"n": {number}}}\n' * (number + 1))
    paths = str(tmp_path / "*.jsonl")
    alone = d.load_dataset("json", data_files=paths, split="train")
    shared = d.load_dataset("json", data_files=paths, split="train", num_proc=2, download_mode="force_redownload")
    assert shared[:] == alone[:] == {"n": [n for n in range(5) for _ in range(n + 1)]}


def test_a_file_a_format_and_a_compressed_file(tmp_path):
    (tmp_path / "rows.csv").write_text("a;b\n1;2\n")
    with gzip.open(tmp_path / "rows.csv.gz", "wt") as file:
        file.write("a;b\n1;2\n")
    for path in ("rows.csv", "rows.csv.gz"):
        assert d.load_dataset(str(tmp_path / path), split="train", sep=";")[:] == {"a": [1], "b": [2]}
    assert d.load_dataset("csv", data_dir=str(tmp_path), sep=";")["train"].num_rows == 2


def test_tabs_by_extension(tmp_path):
    (tmp_path / "train.tsv").write_text("a\tb\n1\t2\n")
    (tmp_path / "test.csv").write_text("a,b\n3,4\n")
    found = d.load_dataset(str(tmp_path))
    assert (found["train"][0], found["test"][0]) == ({"a": 1, "b": 2}, {"a": 3, "b": 4})


def test_types_are_united_over_files(tmp_path):
    (tmp_path / "1.jsonl").write_text('{"a": 1, "s": {"x": 1}}\n')
    (tmp_path / "2.jsonl").write_text('{"a": 1.5, "s": {"y": "z"}, "n": 1}\n')
    rows = d.load_dataset(str(tmp_path), split="train")
    assert rows.features["a"] == d.Value("float64")
    assert rows[:]["s"] == [{"x": 1}, {"y": "z"}]
    assert rows[:]["n"] == [None, 1]


def test_a_conflict_names_both_files(tmp_path):
    (tmp_path / "1.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "2.jsonl").write_text('{"a": "x"}\n')
    with pytest.raises(SchemaConflictError, match=r"'a' is .*int64.* in .*1\.jsonl, but .*string.* in .*2\.jsonl"):
        d.load_dataset(str(tmp_path), on_mixed_types=None)


@pytest.mark.parametrize("choice", ["error", "warn", "skip"])
def test_bad_files(tmp_path, choice, caplog):
    (tmp_path / "1.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "2.jsonl").write_text("{broken\n")
    (tmp_path / "3.jsonl").write_text('{"a": 3}\n')
    if choice == "error":
        with pytest.raises(FileFormatError, match=r"2\.jsonl"):
            d.load_dataset(str(tmp_path), on_bad_files=choice)
    else:
        assert d.load_dataset(str(tmp_path), on_bad_files=choice, split="train")[:] == {"a": [1, 3]}


def test_splits_that_are_read_together_agree_in_their_types(tmp_path):
    (tmp_path / "train.jsonl").write_text('{"a": 1.5}\n')
    (tmp_path / "test.jsonl").write_text('{"a": 1}\n')
    assert d.load_dataset(str(tmp_path))["test"].features == {"a": d.Value("float64")}
    (tmp_path / "test.jsonl").write_text('{"b": 1}\n')
    assert d.load_dataset(str(tmp_path)).column_names == {"train": ["a"], "test": ["b"]}


def test_features_choose_and_cast(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    floats = d.Features({"a": d.Value("float32")})
    assert d.load_dataset(str(tmp_path), features=floats)["train"].features == floats
    (tmp_path / "README.md").write_text("---\ndataset_info:\n  features: [{name: a, dtype: string}]\n---\n")
    with pytest.raises(FeaturesMismatchError, match="not in the features: b"):
        d.load_dataset(str(tmp_path))


def test_an_empty_split_stays_empty(root):
    assert d.load_dataset(str(root), split="train", filters=[("a", ">", 9)]).num_rows == 0


def test_options_of_a_card(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1;2\n")
    card = "configs:\n- config_name: x\n  data_files: a.csv\n  sep: ;\n  features: [{name: b, dtype: string}]\n"
    (tmp_path / "README.md").write_text(f"---\n{card}---\n")
    assert d.load_dataset(str(tmp_path))["train"][:] == {"b": ["2"]}


def test_configurations_are_independent(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "b.json").write_text('{"b": 1}\n')
    card = "configs:\n- {config_name: x, data_files: nope.csv}\n- {config_name: y, data_files: a.csv}\n"
    (tmp_path / "README.md").write_text(f"---\n{card}- {{config_name: z, data_files: b.json}}\n---\n")
    assert d.load_dataset(str(tmp_path), "y", split="train")[:] == {"a": [1]}
    assert d.load_dataset(str(tmp_path), "z", split="train")[:] == {"b": [1]}
    assert d.get_dataset_config_names(str(tmp_path)) == ["x", "y", "z"]
    with pytest.raises(ConfigNotFoundError, match=r"several configurations.*x, y, z"):
        d.load_dataset(str(tmp_path))


def test_a_card_names_only_files_of_its_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "data").mkdir()
    for stated in (
        "../secret.txt", "/etc/hostname", "sub/../../secret.txt", "../*", "~/secret.txt", "~/*", f"file://{tmp_path}/secret.txt",
        "file://../secret.txt", "zip://*::../x.zip", f"zip://x::file://{tmp_path}/x.zip", "gzip://x::~/x.gz", "x::y::../z.zip",
    ):  # fmt: skip
        card = f"---\nconfigs: [{{config_name: x, data_files: {stated!r}}}]\n---\n"
        (tmp_path / "data" / "README.md").write_text(card)
        with pytest.raises(CardError, match="outside"):
            d.load_dataset(str(tmp_path / "data"))


def test_a_card_that_makes_no_sense_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    for stated in (
        "dataset_info: {features: 5}", "dataset_info: {features: [5]}", "dataset_info: {splits: 5}", "dataset_info: {version: [1]}",
        "dataset_info: {config_name: [x]}", "configs: [{config_name: x, data_dir: 5}]", "x: 2001-99-99", f"x: {'1' * 5000}",
    ):  # fmt: skip
        (tmp_path / "README.md").write_text(f"---\n{stated}\n---\n")
        with pytest.raises(CardError, match=r"README\.md"):
            d.load_dataset(str(tmp_path))
    bomb = "{name: a, dtype: {class_label: {names: {'1000000000': x}}}}"
    (tmp_path / "README.md").write_text(f"---\ndataset_info: {{features: [{bomb}]}}\n---\n")
    with pytest.raises(d.exceptions.ArgumentError, match="no name for label 0"):
        d.load_dataset(str(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"path": "no/such/thing"}, DatasetNotFoundError, "neither a folder nor a file"),
        ({"path": "no/such"}, OfflineError, "no/such at revision 'main' is not cached"),
        ({"path": "json", "data_files": "nope.json"}, DataFilesNotFoundError, "no such file"),
        ({"path": "test.jsnl"}, DatasetNotFoundError, r"no such file. In .*Did you mean 'test\.jsonl'"),
        ({"path": "tets.jsonl"}, DatasetNotFoundError, r"no such file. In .*Did you mean 'test\.jsonl'"),
        ({"path": "jsn"}, OfflineError, "no format 'jsn'. Did you mean 'json'"),
        ({"path": "jsn"}, OfflineError, "There is no file or folder 'jsn' here."),
        ({"path": "rows.dat"}, DataFilesNotFoundError, r"load_dataset\('csv', data_files='.*rows\.dat'\)"),
        ({"path": "data", "encodign": "x"}, TypeError, "Did you mean 'encoding'"),
        ({"path": "data", "on_bad_lines": "x"}, ArgumentError, "error, warn, skip"),
        ({"path": "json", "data_files": []}, ArgumentError, "empty"),
        ({"path": "data", "foo": 1}, TypeError, "json takes encoding"),
        ({"path": "data", "foo": 1}, ValueError, "foo=1"),
        ({"path": "data", "name": "z"}, ConfigNotFoundError, "'z'.* Available: default"),
        ({"path": "data", "split": "tset"}, ValueError, "Did you mean 'test'"),
        ({"path": "data", "download_mode": "x"}, ValueError, "DownloadMode"),
        ({"path": "data", "verification_mode": "x"}, ValueError, "VerificationMode"),
        ({"path": "data", "on_bad_files": "x"}, ArgumentError, "error, warn, skip"),
        ({"path": "csv", "data_files": "https://example.com/a.csv"}, OfflineError, "example.com/a.csv"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("root")
def test_errors_say_what_to_do(tmp_path, monkeypatch, arguments, kind, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test.jsonl").touch()
    (tmp_path / "rows.dat").touch()
    with pytest.raises(kind, match=text):
        d.load_dataset(**arguments)


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("names", [["a", "z"], ["z"]], ids=str)
def test_csv_features_that_no_file_has_are_refused(tmp_path, names, streaming):
    # Hugging Face's are a KeyError too, inside of a DatasetGenerationError unless streamed.
    for name, text in {"0": "", "1": "a,b\n1,x\n", "2": "a,c\n2,y\n"}.items():
        (tmp_path / f"{name}.csv").write_text(text)

    def read(files, names):
        features = d.Features({name: d.Value("string") for name in names})
        paths = {"train": str(tmp_path / files)}
        return list(d.load_dataset("csv", data_files=paths, features=features, split="train", streaming=streaming))

    for files in ("1.csv", "*.csv"):
        with pytest.raises(FeaturesMismatchError, match="missing: z"):
            read(files, names)
    some = [{"a": "1", "b": "x", "c": None}, {"a": "2", "b": None, "c": "y"}]
    assert read("*.csv", ["a", "b", "c"]) == some  # each of them is in a file
    assert read("0.csv", names) == []


def test_scripts_are_refused(root):
    (root / "data.py").write_text("raise SystemExit")
    with pytest.raises(DatasetScriptError, match="no program") as caught:
        d.load_dataset(str(root))
    assert isinstance(caught.value, RuntimeError)


def test_trust_is_not_needed(root):
    assert d.load_dataset(str(root), split="test", trust_remote_code=True).num_rows == 1


def test_a_saved_folder_is_opened_in_another_way(tmp_path):
    d.Dataset.from_dict({"a": [1]}).save_to_disk(str(tmp_path / "saved"))
    with pytest.raises(ValueError, match="load_from_disk"):
        d.load_dataset(str(tmp_path / "saved"))
    assert d.load_from_disk(str(tmp_path / "saved"))[:] == {"a": [1]}


def test_a_builder(root):
    builder = d.load_dataset_builder(str(root))
    assert (builder.name, builder.dataset_name, builder.config.name) == ("json", "data", "default")
    assert builder.config.on_mixed_types == "use_json"
    assert builder.info.splits is None
    builder.download_and_prepare()
    assert builder.info.splits["train"].num_examples == 2
    assert builder.as_dataset("test")[:] == {"a": [3], "b": ["z"]}
    assert builder.as_dataset()["train"].num_rows == 2


def test_sizes_can_be_saved_in_the_card(root):
    d.load_dataset(str(root), save_infos=True)
    assert d.get_dataset_config_info(str(root)).splits["train"].num_examples == 2
    (root / "train.jsonl").write_text('{"a": 1, "b": "x"}\n')
    with pytest.raises(NonMatchingSplitsSizesError, match="1 rows instead of 2"):
        d.load_dataset(str(root))


def test_sizes_are_saved_of_all_splits_though_one_is_asked_for(root):
    d.load_dataset(str(root), split="test", save_infos=True)
    assert d.load_dataset(str(root))["train"].num_rows == 2


def test_an_empty_name_is_not_the_working_folder(root, monkeypatch):
    monkeypatch.chdir(root)
    for load in (d.load_dataset, d.get_dataset_config_names):
        with pytest.raises(DatasetNotFoundError, match="the name is empty"):
            load("")


def test_patterns_of_a_configuration_start_at_its_folder(root):
    (root / "one").mkdir()
    (root / "one" / "q.jsonl").write_text('{"a": 7}\n')
    (root / "README.md").write_text("---\nconfigs:\n- {config_name: x, data_dir: one, data_files: '*.jsonl'}\n---\n")
    assert d.load_dataset(str(root), "x", split="train").to_list() == [{"a": 7}]
    (root / "README.md").write_text("---\nconfigs:\n- {config_name: x, data_dir: one, data_files: '../../*'}\n---\n")
    with pytest.raises(CardError, match="outside"):
        d.load_dataset(str(root), "x")


@pytest.mark.parametrize("version", ["1.0", "one"])
def test_a_version_that_is_none_is_told_with_its_card(root, version):
    (root / "README.md").write_text(f"---\nconfigs:\n- {{config_name: x, version: {version}}}\n---\n")
    with pytest.raises(ValueError, match="version") as caught:
        d.load_dataset(str(root))
    assert "README.md" in "".join(caught.value.__notes__)
    assert d.get_dataset_config_names(str(root)) == ["x"]


def test_objects_in_a_column_that_the_card_calls_a_string_are_text(tmp_path):
    (tmp_path / "train.jsonl").write_text('{"a": {"x": 1}}\n{"a": "plain"}\n')
    (tmp_path / "README.md").write_text("---\ndataset_info: {features: [{name: a, dtype: string}]}\n---\n")
    for rows in (d.load_dataset(str(tmp_path)), d.load_dataset(str(tmp_path), streaming=True)):
        assert [row["a"] for row in rows["train"]] == ['{"x":1}', "plain"]


def test_dataset_info_comes_before_the_features_of_a_configuration(root):
    card = "{config_name: x, data_files: test.jsonl, features: [{name: a, dtype: int8}, {name: b, dtype: string}]}"
    stated = "{config_name: x, features: [{name: a, dtype: int16}, {name: b, dtype: string}]}"
    (root / "README.md").write_text(f"---\nconfigs:\n- {card}\n---\n")
    assert d.load_dataset(str(root), split="train").features["a"] == d.Value("int8")
    (root / "README.md").write_text(f"---\nconfigs:\n- {card}\ndataset_info: {stated}\n---\n")
    assert d.load_dataset(str(root), split="train").features["a"] == d.Value("int16")


def test_a_description_that_is_none_is_passed_over(root, caplog):
    (root / "README.md").write_text("---\ndataset_info: soon\n---\n")
    assert d.load_dataset(str(root), split="test").num_rows == 1
    assert "Passed over: 'soon'" in caplog.text


@pytest.mark.parametrize("format", ["csv", "json", "parquet", "arrow"])
def test_other_columns_than_the_card_states_are_an_error_of_the_dataset(tmp_path, format):
    rows = d.Dataset.from_dict({"n": [1], "t": ["x"]})
    (tmp_path / "train").mkdir()
    getattr(rows, f"to_{format}")(str(tmp_path / "train" / f"0.{format}"))
    (tmp_path / "README.md").write_text("---\ndataset_info: {features: [{name: n, dtype: int64}]}\n---\n")
    with pytest.raises(DatasetGenerationError, match="not in the features: t") as caught:
        d.load_dataset(str(tmp_path))
    assert isinstance(caught.value, FeaturesMismatchError)
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), ValueError)


def test_a_builder_tells_the_version_of_its_configuration(root):
    (root / "README.md").write_text("---\nconfigs:\n- {config_name: x, version: 1.2.3}\n---\n")
    builder = d.load_dataset_builder(str(root))
    assert (builder.config.version, builder.info.version) == ("1.2.3", "1.2.3")


def test_a_stream_is_not_read_by_several_processes(root):
    with pytest.raises(NotImplementedError, match="num_proc=2"):
        d.load_dataset(str(root), streaming=True, num_proc=2)


def test_paths_of_any_kind(root, monkeypatch):
    assert d.load_dataset(root, split="test").num_rows == 1
    monkeypatch.chdir(root)
    assert d.load_dataset("json", data_files=root / "test.jsonl", split="train").num_rows == 1
    assert d.Dataset.from_json(os.fsencode(root / "test.jsonl")).num_rows == 1
    assert json.loads(json.dumps(d.load_dataset(".", split="test")[0])) == {"a": 3, "b": "z"}


def test_files_of_no_known_format_say_which_formats_there_are(tmp_path):
    (tmp_path / "sheet.xlsx").write_bytes(b"PK")
    with pytest.raises(FileNotFoundError, match=r"sheet\.xlsx\. If their format is one of arrow, .*from_pandas"):
        d.load_dataset(str(tmp_path / "sheet.xlsx"))


def test_a_misspelt_split_of_a_stream_names_the_splits(tmp_path):
    (tmp_path / "test.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(ValueError, match=r"There is no split 'tets'\. Did you mean 'test'\? Available: test\.$"):
        d.load_dataset(str(tmp_path), split="tets", streaming=True)


@pytest.mark.parametrize("streaming", [False, True])
def test_values_that_are_not_of_the_stated_type_name_their_file_and_column(tmp_path, streaming):
    label = d.ClassLabel(names=["no"])
    for values, feature, reason in ((["1", "x"], d.Value("int64"), "'x'"), ([0, 7], label, "7 is no label")):
        pq.write_table(pa.table({"a": values}), tmp_path / "it.parquet")
        with pytest.raises(d.exceptions.DatasetGenerationError, match=rf"it\.parquet.*column 'a'.*{reason}") as raised:
            list(
                d.load_dataset(
                    "parquet",
                    data_files=str(tmp_path / "it.parquet"),
                    split="train",
                    features=d.Features({"a": feature}),
                    streaming=streaming,
                )
            )
        assert isinstance(raised.value, ValueError)
