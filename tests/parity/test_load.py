"""The same folders given to Hugging Face `datasets` and to this library: splits, files, order, format, rows, errors."""

import json
import os
import re
import shutil
import sqlite3
import tempfile
from contextlib import closing

import datasets as hf
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.parity import canonical

import crucible_datasets as ours
from crucible_datasets.exceptions import UnavailableError
from crucible_datasets.reading.discover import KEYWORDS

hf.disable_progress_bars()
hf.logging.set_verbosity_error()


@pytest.fixture
def grow(tmp_path, monkeypatch):
    """Make a folder `mydata` of files with their text, and go there."""

    def made(files):
        root = tmp_path / "mydata"
        for name, text in dict.fromkeys(files, "a\n1\n").items() if not isinstance(files, dict) else files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        root.mkdir(exist_ok=True)
        monkeypatch.chdir(root)
        return str(root)

    return made


def found(library, root, path=None, **arguments):
    """Format, configuration, and the files of each split, or the error."""
    try:
        builder = library.load_dataset_builder(path or root, **arguments)
    except UnavailableError as error:
        return "unavailable", str(error)
    except Exception as error:
        return error
    files = builder.config.data_files.items()
    return (
        builder.name,
        builder.config.name,
        {str(s): [os.path.relpath(one, root) for one in many] for s, many in files},
    )


def has_duplicates(files):
    """Whether a file is in a split twice: Hugging Face does so when two words for the split are in its name."""
    return any(len(set(several)) < len(several) for several in files.values())


def assert_found_alike(root, **arguments):
    theirs, mine = found(hf, root, **arguments), found(ours, root, **arguments)
    if isinstance(theirs, tuple) and "data_files" not in arguments and has_duplicates(theirs[2]):
        return
    if isinstance(mine, tuple) and mine[0] == "unavailable":
        assert f" as {theirs[0]} " in mine[1]
    elif isinstance(theirs, Exception):
        kind = next(
            kind for kind in (FileNotFoundError, ValueError, TypeError, RuntimeError) if isinstance(theirs, kind)
        )
        assert isinstance(mine, kind), f"{mine!r} instead of {theirs!r}"
    else:
        assert [mine[:2], list(mine[2].items())] == [theirs[:2], list(theirs[2].items())]


LAYOUTS = """
a.csv
train.csv test.csv
train.csv b.csv
train/a.csv test/b.csv
train/a.csv test.csv
data/train-00000-of-00001.csv data/test-00000-of-00001.csv
data/train-00000-of-00001.csv data/foo-00000-of-00001.csv data/validation-00000-of-00001.csv data/b.x-00000-of-00001.csv
data/train-00000-of-00001.csv data/a-b-00000-of-00001.csv
data/train-00000-of-00001-abcdef.csv
data/train-0-of-1.csv
data/foo-00000-of-00001_x.csv
data/foo-00000-of-00001 b.csv
data/foo-000000-of-000001.csv
data/.hid-00000-of-00001.csv data/train-00000-of-00001.csv
data/__x__-00000-of-00001.csv
sub/data/train-00000-of-00001.csv
data/sub/train-00000-of-00001.csv
data/train/a.csv data/dev/b.csv
train/test/a.csv
train/test.csv
my_train_file.csv my-test-file.csv
training.csv testing.csv dev.csv
valid.csv val.csv validation.csv
eval.csv evaluation.csv test.csv
trained.csv
mytrain.csv test1.csv
train+.csv test.csv
1train.csv
TRAIN.csv Test.csv
.hidden/train.csv a.csv
.train.csv b.csv
__pycache__/train.csv b.csv
_x/train.csv b.csv
__x/a.csv b.csv
README.md a.csv
config.json a.csv
sub/config.json sub/README.md
a.json b.csv
a.json b.csv c.csv
a.parquet b.csv
a.arrow b.jsonl
train.csv test.json
train.foo test.csv
train.foo a.csv
train/x a.csv
train a.csv
a.foo
a.foo b.csv
a.txt LICENSE
a.csv.gz
a.csv b.csv.gz
a.gz
a.csv.txt
a.csv.txt b.txt
x.csv.foo
b.csv a.csv B.csv _a.csv sub/a.csv sub-2/c.csv a/x.csv a-b.csv
metadata.csv x.csv
metadata.csv b.txt
metadata.jsonl
metadata.parquet b.csv
a.CSV
a.jsonl b.json
a.csv b.json c.csv
a.py b.csv
mydata.py b.csv
a.tsv
a.tsv b.csv
a.txt b.xml
logs/x.eval a.csv
a.png a.csv
a.png b.png c.csv
a.wav b.png
a.tar.gz
task.toml a.csv
dataset_dict.json train/a.csv
dummy_data.zip a.csv
train.csv a_train.csv b/train.csv train_x.csv b/x_train.csv
train/x.csv b/train/a.csv z_train/c.csv a-train-y/q.csv train_2/z.csv training/a.csv
valid/a.csv dev/b.csv val/x.csv
10.csv 9.csv a-10.csv a-9.csv
a[1].csv a*.csv a?.csv
é-train.csv
""".split("\n")[1:-1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_folder_is_seen_alike(grow, layout):
    assert_found_alike(grow(layout.split(" ")))


def test_an_empty_folder(grow):
    assert_found_alike(grow([]))


words = st.sampled_from(
    ["train", "training", "test", "eval", "val", "dev", "valid", "data", "x", "a", "0", "é", "Test"]
)
joints = st.sampled_from(["-", "_", ".", " ", "", "2", "+"])
stems = st.one_of(words, st.builds("{}{}{}".format, words, joints, words), st.sampled_from([".h", "__p", "_u"]))
numbered = st.builds("data/{}-0000{}-of-00002".format, words, st.integers(0, 1))
extensions = st.sampled_from([".csv", ".csv", ".csv", ".json", ".jsonl", ".txt", ".parquet", ".foo", ".csv.gz", ""])
names = st.one_of(
    st.builds("{}{}".format, st.one_of(stems, stems, numbered), extensions),
    st.builds("{}/{}{}".format, stems, stems, extensions),
    st.builds("{}/{}/{}{}".format, stems, stems, stems, extensions),
)


def says_a_split_twice(name):
    """Hugging Face then reads the file twice, and counts it twice when it chooses the format."""
    found = [
        split
        for split, several in KEYWORDS.items()
        for word in several
        for _ in re.findall(rf"(?:^|(?<=[-._ 0-9/])){word}(?=[-._ 0-9/]|$)", name)
    ]
    return len(set(found)) < len(found)


@settings(max_examples=60)
@given(names=st.lists(names, min_size=1, max_size=7, unique=True))
def test_any_tree_is_seen_alike(names):
    assume(not any(map(says_a_split_twice, names)))
    root = os.path.join(tempfile.mkdtemp(), "mydata")
    os.makedirs(root)
    try:
        for name in names:
            path = os.path.join(root, name)
            if not os.path.exists(path) and _can_hold(root, name):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write("a\n1\n")
        assert_found_alike(root)
    finally:
        shutil.rmtree(os.path.dirname(root))


def _can_hold(root, name):
    parts = name.split("/")[:-1]
    return not any(os.path.isfile(os.path.join(root, *parts[: depth + 1])) for depth in range(len(parts)))


FILES = [
    *("a.csv", "b.csv", "sub/c.csv", "sub/deep/d.csv", "train.csv", "test.csv", ".h.csv", ".hid/x.csv"),
    *("__d/y.csv", "e{1}.csv", "a1.csv", "a2.csv", "a10.csv", "sub/.h/z.csv", "sub/__p/z.csv", "sub/.dot.csv"),
    *("config.json", "sub/config.json", "README.md"),
]


@pytest.mark.parametrize("path", [None, "csv"])
@pytest.mark.parametrize(
    "data_files",
    [
        *("a.csv", "*.csv", "**", "**/*.csv", "sub/*", "sub/**", "*", "**.csv", "sub", "[ab].csv", "{a,b.csv"),
        *("a?.csv", "a[!1].csv", "a[0-9].csv", ".h.csv", ".*", ".hid/*", "__d/*", "**/.*", "*/c.csv", "nope.csv"),
        *("./a.csv", "../mydata/a.csv", "sub//c.csv", "sub/../a.csv", "e{1}.csv", "a[12]*.csv", "sub/*/*.csv"),
        *("**/d.csv", "sub/.h/*", "sub/.*/*", "**/.h/*", "sub/.d*", "**/__p/*", "*/**", "**/**/*.csv", "**/deep/**"),
        *("/a.csv", "config.json", "**/config.json", "s?b/*.csv", "[!s]*", "a[.]csv", "a].csv", ""),
        ["a.csv", "b.csv"],
        ["b.csv", "a.csv"],
        ["a*.csv", "b.csv"],
        ("a.csv", "b.csv"),
        ["a.csv", "*.nope"],
        {"train": "a.csv", "test": ["b.csv", "sub/c.csv"]},
        {"test": "a.csv", "train": "b.csv"},
        {"foo": "*.csv"},
        {"train": "a.csv", "validation": "nope.csv"},
        {hf.Split.TEST: "a.csv"},
        {1: "a.csv"},
        [{"split": "train", "path": "a.csv"}, {"split": "test", "path": ["b.csv", "sub/c.csv"]}],
        [{"split": "train", "pattern": "a.csv"}],
        5,
    ],
    ids=str,
)
def test_data_files_name_the_same_files(grow, data_files, path):
    assert_found_alike(grow(FILES), data_files=data_files, path=path)


@pytest.mark.parametrize(
    ("braces", "names"), [("{a,b}.csv", ["a.csv", "b.csv"]), ("a{1..2}.csv", ["a1.csv", "a2.csv"])]
)
def test_braces_stand_for_several_names_here_and_are_refused_there(grow, braces, names):
    root = grow(FILES)
    assert isinstance(found(hf, root, data_files=braces, path="csv"), FileNotFoundError)
    assert found(ours, root, data_files=braces, path="csv") == ("csv", "default", {"train": names})


@pytest.mark.parametrize("data_dir", ["sub", "sub/", "./sub", "nope", "..", "", "sub/deep", ".hid", "__d"])
@pytest.mark.parametrize("more", [{}, {"data_files": "*.csv"}, {"path": "csv"}], ids=str)
def test_data_dir_names_the_same_files(grow, data_dir, more):
    assert_found_alike(grow([name for name in FILES if "json" not in name]), data_dir=data_dir, **more)


TWO = "configs:\n- {config_name: x, data_files: a.csv}\n- {config_name: y, data_files: b.csv}\n"
CARDS = [
    ("configs:\n- config_name: default\n  data_files: a.csv\n", {}),
    (TWO, {}),
    (TWO, {"name": "y"}),
    (TWO, {"name": "z"}),
    (TWO.replace("y,", "default,"), {}),
    (TWO.replace("y,", "y, default: true,"), {}),
    (TWO.replace("y,", "y, default: true,").replace("x,", "x, default: true,"), {}),
    (TWO.replace("y,", "default,").replace("x,", "x, default: true,"), {}),
    ("configs:\n- config_name: x\n  data_dir: sub\n", {}),
    ("configs:\n- config_name: x\n  data_dir: sub\n  data_files: '*.csv'\n", {}),
    ("configs:\n- config_name: x\n  data_dir: sub\n", {"name": "x", "data_files": "a.csv"}),
    ("configs:\n- config_name: x\n  data_files: a.csv\n", {"data_files": "b.csv"}),
    ("configs:\n- config_name: x\n  data_files: a.csv\n", {"data_dir": "sub"}),
    ("configs:\n- config_name: x\n  data_files: [a.csv, b.csv]\n", {}),
    ("configs:\n- config_name: x\n  data_files: [{split: train, path: a.csv}, {split: t, path: [b.csv, sub/*]}]\n", {}),
    ("configs:\n- config_name: x\n  data_files: [{split: train, path: a.csv}, {split: train, path: b.csv}]\n", {}),
    ("configs:\n- config_name: x\n  data_files: [{split: a-b, path: a.csv}]\n", {}),
    ("configs:\n- config_name: x\n  data_files: {train: a.csv}\n", {}),
    ("configs:\n- config_name: x\n  data_files: a.csv\n  sep: ';'\n", {}),
    ("configs:\n- config_name: x\n  data_files: a.csv\n  foo: ';'\n", {}),
    ("configs:\n- config_name: x\n  data_files: nope.csv\n", {}),
    ("configs:\n- config_name: x\n  data_files: '*.nope'\n", {}),
    ("configs:\n- config_name: x\n  data_files: []\n", {}),
    ("configs:\n- config_name: x\n  data_files: 5\n", {}),
    ("configs:\n- config_name: x\n", {}),
    ("configs:\n- data_files: a.csv\n", {}),
    ("configs:\n  config_name: x\n", {}),
    ("configs: a.csv\n", {}),
    ("configs: []\n", {}),
    ("configs:\n- a.csv\n", {}),
    ("configs:\n- {config_name: x, data_files: a.csv}\n- {config_name: x, data_files: b.csv}\n", {}),
    ("configs:\n- config_name: a/b\n  data_files: a.csv\n", {}),
    ("configs:\n- config_name: x\n  data_files: ../mydata/a.csv\n", {}),
    ("license: mit\n", {}),
    ("- x\n", {}),
    ("hello\n", {}),
    ("", {}),
    ("dataset_info:\n  features:\n  - name: a\n    dtype: string\n", {}),
    ("dataset_info:\n  splits:\n  - name: train\n    num_examples: 3\n", {}),
    (
        "configs:\n- {config_name: x, data_files: a.csv}\n- {config_name: y, data_files: b.csv}\n",
        {"data_files": "b.csv"},
    ),
]


@pytest.mark.parametrize(("card", "arguments"), CARDS)
def test_a_card_is_understood_alike(grow, card, arguments):
    files = dict.fromkeys(["a.csv", "b.csv", "sub/c.csv"], "a\n1\n")
    root = grow({**files, "README.md": f"---\n{card}---\n# hi\n"})
    assert_found_alike(root, **arguments)
    if not arguments:
        for function in ("get_dataset_config_names", "get_dataset_default_config_name", "get_dataset_split_names"):
            theirs = outcome(getattr(hf, function), root)
            # Names of configurations are known here also when their files are missing.
            assert theirs is FileNotFoundError or outcome(getattr(ours, function), root) == theirs


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return FileNotFoundError if isinstance(error, FileNotFoundError) else ValueError


@pytest.mark.parametrize(
    "readme",
    ["\ufeff---\n{}---\n", "---\n{}", "hello\n---\n{}---\n", "---  \n{}---\n", "\n---\n{}---", "---\n{}---\n---\n"],
)
def test_the_yaml_is_found_alike(grow, readme):
    text = readme.format("configs:\n- config_name: y\n  data_files: b.csv\n")
    assert_found_alike(grow({"a.csv": "a\n1\n", "b.csv": "a\n1\n", "README.md": text}))


def test_the_hidden_yaml_overrides_the_card(grow):
    card = "configs:\n- config_name: {}\n  data_files: {}.csv\n"
    files = {"a.csv": "a\n", "b.csv": "a\n", "README.md": f"---\n{card.format('a', 'a')}---\n"}
    assert_found_alike(grow({**files, ".huggingface.yaml": card.format("b", "b")}))


def tell(library, path, **arguments):
    """What a load gives, or the kind of its error."""
    try:
        loaded = library.load_dataset(path, **arguments)
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return kinds[0] if "SplitsVerificationError" in kinds else [kind for kind in kinds if kind == "ValueError"]
    several = loaded if isinstance(loaded, (list, tuple)) else [loaded]
    labels = [str(one.split) for one in several if not isinstance(one, dict)]
    return canonical(loaded), labels


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The same rows in several formats."""
    root = tmp_path_factory.mktemp("folders")
    for kind in ("csv", "jsonl", "parquet"):
        (root / kind).mkdir()
        for split, rows in (("train", 30), ("test", 7)):
            table = pa.table({"n": range(rows), "s": [f"{split} {n}" for n in range(rows)]})
            _write(table, root / kind / f"{split}.{kind}", kind)
    return root


def _write(table, path, kind):
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=4)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        path.write_text("n,s\n" + "".join(f"{row['n']},{row['s']}\n" for row in table.to_pylist()))


SPLITS = [
    *(None, "train", "test", "train+test", "all", "train[:10%]+test[-2:]", "train[5:7]", "train[:3]+train[:3]"),
    *("test[20%:](pct1_dropremainder)", "nope", "train[", "train[40:]", "train+nope"),
    ["train", "test[:1]"],
    ("train", "test"),
    {"a": "train[:2]", "b": "test"},
]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("split", SPLITS, ids=str)
def test_splits_give_the_same_rows(folders, kind, split):
    path = str(folders / kind)
    assert tell(ours, path, split=split) == tell(hf, path, split=split)


@pytest.mark.parametrize("instruction", [{"to": 10, "unit": "%"}, {"from_": 3, "unit": "abs"}])
def test_read_instructions_give_the_same_rows(folders, instruction):
    theirs, mine = (
        tell(library, str(folders / "csv"), split=library.ReadInstruction("train", **instruction))
        for library in (hf, ours)
    )
    assert mine == theirs


INFO = """---
dataset_info:
  features:
  - name: a
    dtype: string
  splits:
  - name: train
    num_bytes: 10
    num_examples: {}
---
"""


@pytest.mark.parametrize("mode", [None, "all_checks", "basic_checks", "no_checks"])
@pytest.mark.parametrize("files", [["train.csv"], ["train.csv", "test.csv"], ["test.csv"]], ids=str)
@pytest.mark.parametrize("rows", [1, 2])
def test_described_splits_are_checked_alike(grow, mode, files, rows):
    root = grow({**dict.fromkeys(files, "a\n1\n"), "README.md": INFO.format(rows)})
    assert tell(ours, root, verification_mode=mode) == tell(hf, root, verification_mode=mode)


def test_what_is_known_of_a_load_is_the_same(grow):
    root = grow({"train.csv": "a\n1\n2\n", "test.csv": "a\n3\n"})
    theirs, mine = (library.load_dataset(root)["train"].info for library in (hf, ours))
    for field in ("builder_name", "dataset_name", "config_name", "download_size", "dataset_size", "size_in_bytes"):
        assert getattr(mine, field) == getattr(theirs, field), field
    assert str(mine.version) == str(theirs.version)
    assert {name: vars(split) for name, split in mine.splits.items()} == {
        name: vars(split) for name, split in theirs.splits.items()
    }


@pytest.mark.parametrize("name", ["My-Data.v1", "MyData", "my data", "ABCThing", "x-y_z", "Data2024"])
def test_a_folder_gives_the_dataset_its_name(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "a.csv").write_text("a\n1\n")
    theirs, mine = (library.load_dataset_builder(str(tmp_path / name)).dataset_name for library in (hf, ours))
    assert mine == theirs


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "text"])
def test_files_named_one_by_one(folders, kind):
    folder = folders / {"json": "jsonl", "text": "csv"}.get(kind, kind)
    paths = {split: str(next(folder.glob(f"{split}.*"))) for split in ("train", "test")}
    for call in (
        lambda library: getattr(library.Dataset, f"from_{kind}")(paths["train"]),
        lambda library: getattr(library.Dataset, f"from_{kind}")(list(paths.values()), split="both"),
        lambda library: getattr(library.Dataset, f"from_{kind}")(paths, split="test"),
        lambda library: getattr(library.DatasetDict, f"from_{kind}")(paths),
    ):
        theirs, mine = call(hf), call(ours)
        assert canonical(mine) == canonical(theirs)
        assert str(getattr(mine, "split", None)) == str(getattr(theirs, "split", None))


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("select * from t", {}),
        ("select a, b from t where a > ?", {"params": (1,)}),
        ("select * from t", {"index_col": "a"}),
        ("select a from t", {"features": {"a": "float32"}}),
    ],
)
def test_a_query_gives_the_same_rows(tmp_path, query, options):
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute("create table t(a integer, b text, c real, d blob)")
        connection.executemany("insert into t values(?, ?, ?, ?)", [(1, "x", 1.5, b"z"), (2, None, None, None)])
        connection.commit()
        theirs, mine = (
            library.Dataset.from_sql(query, connection, **{**options, **_features(library, options)})
            for library in (hf, ours)
        )
    assert canonical(mine) == canonical(theirs)
    assert str(mine.split) == str(theirs.split)


def _features(library, options):
    kinds = options.get("features")
    return {} if kinds is None else {"features": library.Features({n: library.Value(k) for n, k in kinds.items()})}
