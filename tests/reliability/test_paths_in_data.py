"""R26: what a column of media names is data. Nothing is opened or asked for outside of the dataset's own folder."""

from __future__ import annotations

import json
import os
import pickle
import sys

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image as Pillow
from support.web import Quiet, served

import crucible_datasets as cd
from crucible_datasets import Audio, Dataset, Features, Image, List, Mesh, Nifti, Pdf, Value, Video, config
from crucible_datasets.exceptions import BadMediaError, OutOfBoundsError

FEATURES = Features({"image": Image()})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "data" / "pictures").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    Pillow.new("RGB", (3, 3)).save(tmp_path / "data" / "pictures" / "own.png")
    Pillow.new("RGB", (2, 2)).save(tmp_path / "secret.png")
    os.symlink(tmp_path / "secret.png", tmp_path / "data" / "link.png")
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path


@pytest.fixture(scope="module")
def server():
    asked = []

    class Handler(Quiet):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        do_HEAD = do_GET

    with served(Handler) as address:
        yield address, asked


def hostile(folder, address):
    secret = folder / "secret.png"
    return [
        str(secret),
        "../secret.png",
        "pictures/../../secret.png",
        "link.png",
        f"file://{secret}",
        f"FILE://{secret}",
        f"{address}/x.png",
        f"hf://datasets/a/b@{address}/x.png",
        "s3://bucket/x.png",
        f"zip://x.png::{secret}",
        f"simplecache::{address}/x.png",
        f"\0{secret}",
        "missing.png",
        "",
    ]


def written(folder, paths):
    """The same rows as Parquet, whose schema says what they are, and as JSON, which is cast."""
    Dataset.from_dict({"image": paths}, features=FEATURES).to_parquet(str(folder / "data" / "rows.parquet"))
    (folder / "data" / "rows.jsonl").write_text("".join(json.dumps({"image": path}) + "\n" for path in paths))
    return {"parquet": str(folder / "data" / "rows.parquet"), "json": str(folder / "data" / "rows.jsonl")}


def loaded(files, format, **options):
    rows = cd.load_dataset(format, data_files=files[format], split="train", **options)
    return rows.cast_column("image", Image()) if format == "json" and not options else rows.cast(FEATURES)


WAYS = {
    "row": lambda rows: rows[0]["image"],
    "slice": lambda rows: rows[:1]["image"],
    "column": lambda rows: rows["image"][0],
    "iteration": lambda rows: next(iter(rows)),
    "numpy": lambda rows: rows.with_format("numpy")[0],
    "map": lambda rows: rows.map(lambda row: {"size": row["image"].size}),
    "filter": lambda rows: rows.filter(lambda batch: [picture.size for picture in batch["image"]], batched=True),
    "shuffled": lambda rows: rows.shuffle(seed=1)[0],
    "renamed": lambda rows: rows.rename_column("image", "other")[0],
    "cast": lambda rows: rows.cast_column("image", Image(mode="L"))[0],
    "concatenated": lambda rows: cd.concatenate_datasets([rows, rows])[0],
    "pickled": lambda rows: pickle.loads(pickle.dumps(rows))[0],
    "to_iterable_dataset": lambda rows: next(iter(rows.to_iterable_dataset())),
    "unique": lambda rows: rows.unique("image"),
}


STREAMED = {
    "rows": lambda rows: rows,
    "map": lambda rows: rows.map(lambda row: {"size": row["image"].size}),
    "shuffled": lambda rows: rows.shuffle(seed=1),
    "decoded": lambda rows: rows.decode(),
    "concatenated": lambda rows: cd.concatenate_datasets([rows, rows]),
    "concatenated, then cast": lambda rows: cd.concatenate_datasets([paths_of(rows)] * 2).cast(FEATURES),
    "interleaved, then cast": lambda rows: cd.interleave_datasets([paths_of(rows)] * 2).cast(FEATURES),
    "made by a function": lambda rows: paths_of(rows).map(as_reference, features=FEATURES).decode(),
}


def paths_of(rows):
    """The rows of a stream with their paths as mere texts."""
    texts = Features({"image": Value("string")})
    return rows.decode(False).map(lambda row: {"image": row["image"]["path"]}, features=texts)


def as_reference(row):
    return {"image": {"path": row["image"], "bytes": None}}


watchers = []


@pytest.fixture(scope="module")
def audited():
    """A hook of the interpreter, one for all tests: it stays for ever, and every call that is audited pays for it."""

    def hook(event, arguments, watchers=watchers):  # bound here: modules lose their names before the interpreter ends
        if event == "open":
            for watch in watchers:
                watch(*arguments)

    sys.addaudithook(hook)


@pytest.fixture
def opened(folder, audited):
    """The files outside of the dataset that are opened while it is read."""
    seen, secret = [], os.path.realpath(folder / "secret.png")

    def watch(path, *_):
        if isinstance(path, (str, bytes)):
            if os.path.realpath(os.fsdecode(path).replace("\0", "")) == secret:
                seen.append(path)

    watchers.append(watch)
    yield seen
    watchers.remove(watch)


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_nothing_outside_is_opened(folder, server, opened, format):
    address, asked = server
    for path in hostile(folder, address):
        rows = loaded(written(folder, [path]), format)
        for way in WAYS.values():
            with pytest.raises(OutOfBoundsError):
                way(rows)
    assert (opened, asked) == ([], [])
    (folder / "secret.png").read_bytes()
    assert len(opened) == 1  # it would have been seen


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_nothing_outside_is_opened_by_a_stream(folder, server, opened, format):
    address, asked = server
    for path in hostile(folder, address):
        rows = loaded(written(folder, [path]), format, streaming=True)
        for way in STREAMED.values():
            with pytest.raises(OutOfBoundsError):
                next(iter(way(rows)))
    assert (opened, asked) == ([], [])


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_what_lies_in_the_folder_of_the_data_is_shown(folder, format):
    own = ["pictures/own.png", str(folder / "data" / "pictures" / "own.png")]
    files = written(folder, own)
    assert [row["image"].size for row in loaded(files, format)] == [(3, 3)] * 2
    assert [row["image"].size for row in loaded(files, format, streaming=True)] == [(3, 3)] * 2


def test_nested_media_have_the_same_bounds(folder):
    path = str(folder / "data" / "rows.parquet")
    features = Features({"images": List({"of": Image()})})
    nested = {"images": [[{"of": {"path": str(folder / "secret.png"), "bytes": None}}]]}
    Dataset.from_dict(nested, features=features).to_parquet(path)
    with pytest.raises(OutOfBoundsError):
        cd.load_dataset("parquet", data_files=path, split="train")[0]


@pytest.mark.parametrize("kind", [Image, Audio, Video, Pdf, Nifti, Mesh])
def test_no_type_of_media_opens_anything_outside(folder, server, opened, kind):
    """Of files that were loaded, saved or opened; with and without decoding nothing is read by an embedding either."""
    address, asked = server
    paths = hostile(folder, address)
    references = {"m": [{"path": path, "bytes": None} for path in paths]}
    table = Dataset.from_dict(references, features=Features({"m": kind()}))._view.read()
    place = folder / "saved"
    Dataset.from_dict({"m": [{"path": "x", "bytes": b"x"}]}, features=Features({"m": kind()})).save_to_disk(place)
    schema = Features({"m": kind()}).arrow_schema
    with pa.ipc.new_stream(str(place / "data-00000-of-00001.arrow"), schema) as writer:  # as if somebody else saved it
        writer.write_table(table.cast(schema))
    datasets = [cd.load_from_disk(place), Dataset.from_file(str(place / "data-00000-of-00001.arrow"))]
    for rows in [*datasets, datasets[0].to_iterable_dataset()]:
        for index in range(len(paths)):
            with pytest.raises(OutOfBoundsError):
                next(iter(rows.skip(index).take(1)))
    with pytest.raises(OutOfBoundsError):
        datasets[0].select([0]).save_to_disk(folder / "again")
    assert (opened, asked) == ([], [])


@pytest.mark.parametrize("kind", [Video, Audio])
def test_lists_of_other_files_are_no_media(folder, server, opened, kind):
    """FFmpeg knows such lists, and would open what they name."""
    address, asked = server
    secret = folder / "secret.png"
    for text in (
        f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{address}/a.ts\n#EXTINF:1,\nfile://{secret}\n#EXT-X-ENDLIST\n",
        f"ffconcat version 1.0\nfile '{secret}'\n",
        "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000\n",
    ):
        with pytest.raises(BadMediaError):
            kind().decode_example({"bytes": text.encode(), "path": None})
    assert (opened, asked) == ([], [])


def test_meshes_open_only_what_lies_beside_them(folder, opened):
    accessor = '"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,1]}]'
    for uri, is_own in (("own.bin", True), ("../secret.png", False), (str(folder / "secret.png"), False)):
        (folder / "data" / "own.bin").write_bytes(np.eye(3, dtype="float32").tobytes())
        (folder / "data" / "mesh.gltf").write_text(
            f'{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[0]}}],"scene":0,"nodes":[{{"mesh":0}}],'
            f'"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],{accessor},'
            f'"bufferViews":[{{"buffer":0,"byteLength":36}}],"buffers":[{{"uri":"{uri}","byteLength":36}}]}}'
        )
        reference = {"bytes": None, "path": str(folder / "data" / "mesh.gltf")}
        if is_own:
            assert len(Mesh().decode_example(reference).geometry) == 1
        else:
            with pytest.raises(ValueError):
                Mesh().decode_example(reference)
    assert opened == []


def test_who_wants_it_allows_more(folder, monkeypatch):
    rows = loaded(written(folder, [str(folder / "secret.png")]), "parquet")
    monkeypatch.setattr(config, "CRUCIBLE_MEDIA_ROOTS", os.pathsep.join(["/nowhere", str(folder)]))
    assert rows[0]["image"].size == (2, 2)
    monkeypatch.setattr(config, "CRUCIBLE_MEDIA_ROOTS", "*")
    assert rows[0]["image"].size == (2, 2)


def test_what_a_caller_puts_in_has_no_bounds(folder):
    rows = Dataset.from_dict({"image": [str(folder / "secret.png")]}).cast_column("image", Image())
    assert rows[0]["image"].size == (2, 2)


def test_nothing_outside_is_embedded(folder):
    from crucible_datasets.features.embed import embedded

    rows = loaded(written(folder, [str(folder / "secret.png")]), "parquet")
    with pytest.raises(OutOfBoundsError):
        embedded(rows._view.read(), rows._view.readable)
