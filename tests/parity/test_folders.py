"""The same folders of media given to Hugging Face `datasets` and to this library: splits, columns, types, rows, errors."""

import gc
import json
import os
import shutil
import signal
import tempfile
import zipfile
from contextlib import contextmanager

import datasets as hf
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crucible_datasets as ours

# Hugging Face leaves metadata files open.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

hf.disable_progress_bars()
hf.logging.set_verbosity_error()

SECONDS = 60
ERRORS = ("DatasetGenerationError", "FileNotFoundError", "ValueError", "TypeError")


@contextmanager
def limited(seconds):
    """Hugging Face `datasets` may wait for ever."""

    def stop(*_):
        raise TimeoutError(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True, scope="module")
def closed_files():
    """Collect the files that Hugging Face leaves open after errors, or some other test would stumble over them."""
    yield
    gc.collect()


@contextmanager
def grown(files):
    """A folder `mydata` of files: text and bytes as they are, dicts as archives, lists of rows as Parquet."""
    above = tempfile.mkdtemp()
    root = os.path.join(above, "mydata")
    here = os.getcwd()
    try:
        for name, content in files.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write(path, content)
        os.makedirs(root, exist_ok=True)
        os.chdir(root)
        yield root
    finally:
        os.chdir(here)
        shutil.rmtree(above)


def write(path, content):
    if isinstance(content, dict):
        with zipfile.ZipFile(path, "w") as archive:
            for name, inner in content.items():
                archive.writestr(name, inner)
    elif isinstance(content, list):
        pq.write_table(pa.Table.from_pylist(content), path)
    else:
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())


def outcome(library, root, format, streaming=False, **given):
    """The columns and rows of each split, or the error."""
    where = {} if "data_files" in given or format is None else {"data_dir": root}
    if "features" in given:
        given["features"] = library.Features(given["features"](library))
    try:
        with limited(SECONDS), tempfile.TemporaryDirectory() as cache:
            loaded = library.load_dataset(format or root, streaming=streaming, cache_dir=cache, **where, **given)
            found = {str(split): shown(rows, root) for split, rows in splits_of(loaded).items()}
    except Exception as error:
        return error
    return found


def splits_of(loaded):
    return loaded if isinstance(loaded, dict) else {str(loaded.split): loaded}


def shown(rows, root):
    batches = rows.with_format("arrow").iter(1000)
    return str(rows.features), json.loads(
        json.dumps([row for batch in batches for row in batch.to_pylist()], default=str).replace(root, "ROOT")
    )


def assert_alike(files, format="imagefolder", **given):
    with grown(files) as root:
        theirs, mine = outcome(hf, root, format, **given), outcome(ours, root, format, **given)
    said = f"{files} {given}\n theirs {theirs!r}\n mine   {mine!r}"
    if isinstance(theirs, Exception):
        kind = next((kind for kind in ERRORS if kind in names_of(theirs)), "IndexError")
        assert isinstance(mine, Exception), said
        assert kind == "IndexError" or kind in names_of(mine), said
        return
    assert not isinstance(mine, Exception), said
    assert list(mine) == list(theirs), said
    for split, (features, rows) in theirs.items():
        assert mine[split][0] == features, said
        assert comparable(mine[split][1], rows, files) == comparable(rows, rows, files), said


def names_of(error):
    return [kind.__name__ for kind in type(error).__mro__]


def comparable(rows, theirs, files):
    """Rows without what differs on purpose.

    Hugging Face reads several metadata files in the order of a set, and forgets the labels of a first split
    in which only one folder is.
    """
    if any(row.get("label", 0) is None for row in theirs):
        rows = [{**row, "label": None} for row in rows]
    several = sum(os.path.basename(name).startswith("metadata") for name in files) > 1
    several |= sum(isinstance(content, dict) for content in files.values()) > 1
    return sorted(rows, key=json.dumps) if several else rows


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def told(*names):
    return "file_name,t\n" + "".join(f"{name},{number}\n" for number, name in enumerate(names))


X = b"x"
TWO = {"cat/a.jpg": X, "dog/b.jpg": X}
AB = {"a.jpg": X, "b.jpg": X}

FILES = [
    (AB, {}),
    (TWO, {}),
    (TWO, {"drop_labels": True}),
    (TWO, {"streaming": True}),
    (TWO, {"drop_metadata": False}),
    (TWO, {"filters": [("label", "==", "cat")]}),
    (TWO, {"data_files": "*/*.jpg"}),
    (TWO, {"foo": 1}),
    ({"cat/a.jpg": X, "cat/b.jpg": X}, {"drop_labels": False}),
    ({"cat/a.jpg": X, "dog/x/b.jpg": X, "c.jpg": X}, {}),
    ({"cat/a.jpg": X, "dog/x/b.jpg": X, "c.jpg": X}, {"drop_labels": False}),
    ({"train/cat/a.jpg": X, "train/dog/b.jpg": X, "test/bird/a.jpg": X}, {}),
    ({"train/cat/a.jpg": X, "train/dog/b.jpg": X, "test/a.jpg": X}, {}),
    ({"train/a.jpg": X, "test/b.jpg": X}, {}),
    ({"train/a.jpg": X, "test/b.jpg": X}, {"split": "test"}),
    ({"cat/a.JPG": X, "dog/b.Jpg": X, "dog/x.txt": X, "dog/c.jpg.txt": X, "a/b/c/d.txt": X}, {}),
    ({"b.jpg": X, "a/z.jpg": X, "a.jpg": X, "a/b/c.jpg": X, "a-b.jpg": X, "B.jpg": X}, {}),
    ({"a.jpg": X, "b.txt": X}, {"data_files": ["a.jpg", "b.txt"]}),
    ({"a.txt": X}, {}),
    ({}, {}),
    (TWO, {"features": lambda d: {"image": d.Image(), "label": d.ClassLabel(names=["dog", "cat"])}}),
    (TWO, {"features": lambda d: {"label": d.Value("string"), "z": d.Value("int8"), "image": d.Image(decode=False)}}),
]
METADATA = [
    ({"metadata.csv": "t,file_name\n2,b.jpg\n", **AB}, {}),
    ({"metadata.csv": told("a.jpg", "gone.jpg", "a.jpg"), **AB}, {}),
    ({"metadata.csv": "file_name,t,d,b\na.jpg,1.5,2020-01-01,True\n,,,False\n", **AB}, {}),
    ({"metadata.jsonl": lines({"file_name": "a.jpg", "o": {"b": [1]}}, {"file_name": None, "o": None}), **AB}, {}),
    ({"metadata.parquet": [{"file_name": "a.jpg", "t": 1}], **AB}, {"streaming": True}),
    ({"metadata.csv": told("cat/a.jpg", "dog/b.jpg"), **TWO}, {"drop_labels": False}),
    ({"metadata.csv": told("cat/a.jpg", "dog/b.jpg"), **TWO}, {"drop_metadata": True}),
    ({"metadata.csv": told("b.jpg", "a.jpg"), **AB}, {"filters": [("t", ">", 0)]}),
    ({"x/metadata.csv": told("a.jpg"), "y/metadata.csv": told("b.jpg"), "x/a.jpg": X, "y/b.jpg": X}, {}),
    ({"x/metadata.csv": told("a.jpg"), "y/metadata.jsonl": lines({"file_name": "b.jpg"}), "x/a.jpg": X}, {}),
    ({"train/metadata.csv": told("a.jpg"), "test/metadata.csv": told("b.jpg"), "train/a.jpg": X, "test/b.jpg": X}, {}),
    ({"train/metadata.csv": told("a.jpg"), "train/a.jpg": X, "test/b.jpg": X}, {}),
    ({"train/metadata.csv": told("a.jpg"), "train/a.jpg": X, "test/b.jpg": X}, {"streaming": True}),
    ({"train/metadata.csv": told("a.jpg"), "test/metadata.csv": "file_name\nb.jpg\n", "train/a.jpg": X}, {}),
    ({"metadata.csv": told("train/a.jpg", "test/b.jpg"), "train/a.jpg": X, "test/b.jpg": X}, {}),
    ({"metadata.csv": told("s/a.jpg"), "s/a.jpg": X}, {"data_files": "metadata.csv"}),
    ({"info.csv": told("a.jpg"), "metadata.csv": told("b.jpg"), **AB}, {"metadata_filenames": ["info.csv"]}),
    ({"metadata.csv": "name,t\na.jpg,1\n", **AB}, {}),
    ({"metadata.csv": "file_name,t\n1,1\n", **AB}, {}),
    ({"metadata.csv": "file_name,t\n", **AB}, {}),
    ({"metadata.jsonl": "{bad\n", **AB}, {}),
    ({"metadata.jsonl": "", **AB}, {"streaming": True}),
    ({"metadata.csv": "", **AB}, {"streaming": True}),
    ({"metadata.csv": "file_name,image\na.jpg,1\n", **AB}, {}),
    (
        {"metadata.csv": told("./a.jpg", "s/../a.jpg", "s\\a.jpg", "s//a.jpg", " a.jpg", "a::b.jpg", "C:/a.jpg"), **AB},
        {},
    ),
    (
        {"metadata.jsonl": lines({"file_names": ["a.jpg", "b.jpg"], "t": 1}, {"file_names": ["a.jpg"], "t": 2}), **AB},
        {},
    ),
    (
        {"metadata.jsonl": lines({"left_file_name": "a.jpg", "in_file_names": ["b.jpg"]}), **AB},
        {},
    ),
    ({"metadata.jsonl": lines({"o": {"file_name": "a.jpg", "k": 1}, "l": [{"x_file_name": "b.jpg"}]}), **AB}, {}),
    ({"metadata.jsonl": lines({"file_name": "a.jpg", "image_file_name": "b.jpg"}), **AB}, {}),
    (
        {"metadata.csv": told("a.jpg"), **AB},
        {"features": lambda d: {"t": d.Value("string"), "image": d.Image(mode="RGB")}},
    ),
    ({"metadata.csv": "file_name,t\na.jpg,z\n", **AB}, {"features": lambda d: {"t": d.Value("int32")}}),
]
HOSTILE = [
    "/etc/passwd",
    "../a.jpg",
    "s/../../a.jpg",
    "..\\a.jpg",
    "\\\\s\\a.jpg",
    "http://x/a.jpg",
    "zip://a.jpg::d.zip",
]
CHOSEN = [
    (TWO, {}),
    ({**TWO, "metadata.csv": told("cat/a.jpg")}, {}),
    ({"a.jpg": X, "b.PNG": X, "x.txt": "hi"}, {}),
    ({"x.csv": told("a.jpg"), "y/b.jpg": X, "y/a.jpg": X}, {}),
    ({"x.csv": told("a.jpg"), "y.csv": told("a.jpg"), "a.jpg": X}, {}),
    ({"metadata.csv": told("a.jpg")}, {}),
    ({"cat/a.mp4": X, "dog/b.mkv": X}, {}),
    ({"cat/a.pdf": X, "dog/b.pdf": X, "metadata.jsonl": lines({"file_name": "cat/a.pdf"})}, {}),
    ({"cat/a.glb": X, "dog/b.stl": X, "dog/c.gltf": X, "dog/d.GLB": X}, {}),
    ({"a.nii": X, "b.nii.gz": X}, {}),
    ({"train/a.jpg": X, "test/b.mp4": X}, {}),
    (TWO, {"drop_labels": True}),
    ({"im/cat/a.jpg": X, "im/dog/b.jpg": X, "x.csv": "a\n1\n"}, {"data_dir": "im"}),
    ({"README.md": "---\nconfigs:\n- config_name: c\n  data_dir: im\n  drop_labels: false\n---\n", "im/a.jpg": X}, {}),
    ({"README.md": "---\ndataset_info:\n  features:\n  - name: image\n    dtype: image\n---\n", **TWO}, {}),
]
ZIPS = [
    ({"d.zip": {"b.jpg": X, "a/z.jpg": X, "a.jpg": X, "a/b/c.jpg": X}}, {}),
    ({"d.zip": AB, "e.zip": {"c.jpg": X}, "b.jpg": X, "z.jpg": X}, {}),
    ({"d.zip": {"metadata.csv": told("a.jpg", "z/b.jpg"), "a.jpg": X, "z/b.jpg": X}}, {"streaming": True}),
    ({"d.zip": {"s/metadata.csv": told("a.jpg"), "s/a.jpg": X}, "e.zip": {"metadata.csv": told("a.jpg")}}, {}),
    ({"d.zip": {"metadata.csv": told("../a.jpg"), "a.jpg": X}}, {}),
    ({"train.zip": {"a.jpg": X}, "test.zip": {"b.jpg": X}}, {"format": None}),
    ({"d.zip": {"a.jpg": X, "b.jpg": X, "metadata.jsonl": lines({"file_name": "a.jpg"})}}, {"format": None}),
    ({"d.zip": AB, "a.csv": "a\n1\n"}, {"format": None, "data_files": "*.zip"}),
]


def test_files_and_labels():
    for files, options in FILES:
        assert_alike(files, **options)


def test_metadata():
    for files, options in METADATA:
        assert_alike(files, **options)
    for name in HOSTILE:
        assert_alike({"metadata.jsonl": lines({"file_name": name}), "a.jpg": X})


def test_the_format_that_most_files_have():
    for files, options in CHOSEN:
        assert_alike(files, None, **options)


def test_zip_archives():
    for files, options in ZIPS:
        assert_alike(files, **options)


folders = st.sampled_from(["", "", "cat/", "dog/", "train/", "test/", "x/cat/", "train/cat/", "train/dog/", "val/cat/"])
names = st.tuples(folders, st.sampled_from(["a", "b", "c", "dev"]), st.sampled_from(["jpg", "jpg", "PNG", "txt"]))
OPTIONS = {
    "drop_labels": [None, None, True, False],
    "drop_metadata": [None, None, True],
    "format": [None, "imagefolder"],
    "streaming": [False, False, True],
}


@st.composite
def layouts(draw):
    files = {f"{folder}{stem}.{end}": X for folder, stem, end in draw(st.lists(names, min_size=1, max_size=7))}
    for folder in draw(st.lists(folders, max_size=2, unique=True)):
        below = [name.removeprefix(folder) for name in files if name.startswith(folder) and "metadata" not in name]
        if below and draw(st.booleans()):
            files[f"{folder}metadata.csv"] = told(*draw(st.lists(st.sampled_from(below), min_size=1, max_size=3)))
    chosen = {name: draw(st.sampled_from(values)) for name, values in OPTIONS.items()}
    return files, {name: value for name, value in chosen.items() if name == "format" or value is not None}


def differs_on_purpose(files, format):
    """Hugging Face lists a file twice when two words in its path name the split, and where only some splits have
    metadata it decides split by split, so that what a folder means depends on the order of its splits.
    """
    with grown(files) as root:
        try:
            where = {"data_dir": root} if format else {}
            found = hf.load_dataset_builder(format or root, **where).config.data_files.values()
        except Exception:
            return False
    told = {any(path.endswith("metadata.csv") for path in several) for several in found}
    return len(told) > 1 or any(len(set(several)) < len(several) for several in found)


def assert_layout_is_alike(layout):
    if not differs_on_purpose(layout[0], layout[1]["format"]):
        assert_alike(layout[0], **layout[1])


@given(layouts())
@settings(max_examples=12)
def test_any_layout(layout):
    assert_layout_is_alike(layout)


@pytest.mark.slow
@given(layouts())
@settings(max_examples=300, derandomize=False)
def test_many_layouts(layout):
    assert_layout_is_alike(layout)
