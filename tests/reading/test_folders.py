"""Folders of media: rows are found without opening a file, wherever the files are, and are decoded when looked at."""

from __future__ import annotations

import io
import os
import pickle

import numpy as np
import pytest
from PIL import Image as Pillow
from support.packed import archive_of, zip_of

import crucible_datasets as cd
from crucible_datasets import config
from crucible_datasets.exceptions import LimitExceededError, MediaFolderError, OutOfBoundsError
from crucible_datasets.formats.base import FORMATS
from crucible_datasets.localhub.server import serving

SHADES = {f"{kind}/{number}.png": 40 * number + 100 * (kind == "dog") for kind in ("cat", "dog") for number in range(3)}


def picture(shade: int) -> bytes:
    stream = io.BytesIO()
    Pillow.new("L", (2, 2), shade).save(stream, "PNG")
    return stream.getvalue()


PICTURES = {name: picture(shade) for name, shade in SHADES.items()}
METADATA = "file_name,shade\n" + "".join(f"{name},{shade}\n" for name, shade in SHADES.items())


def write(folder, files):
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
    return str(folder)


def shades(rows) -> list[int]:
    return [int(np.asarray(row["image"])[0, 0]) for row in rows]


def load(where: str, **given):
    files = {"data_files": where} if os.path.isfile(where) else {"data_dir": where}
    return cd.load_dataset("imagefolder", split="train", **files, **given)


@pytest.fixture(params=["folder", ".zip", ".tar", ".tar.gz"])
def place(request, tmp_path):
    """The same pictures with labels, in each kind of place."""
    if request.param == "folder":
        return write(tmp_path / "pictures", PICTURES)
    return os.path.join(
        write(tmp_path, {f"pictures{request.param}": archive_of(PICTURES.items(), request.param)}),
        f"pictures{request.param}",
    )


def test_a_folder_and_an_archive_of_it_are_the_same_dataset(place, tmp_path):
    rows, flow = load(place), load(place, streaming=True)
    assert shades(rows) == shades(flow) == list(SHADES.values())
    assert rows["label"][:] == [row["label"] for row in flow] == [0, 0, 0, 1, 1, 1]
    assert rows.features["label"].names == flow.features["label"].names == ["cat", "dog"]
    assert str(load(place)._fingerprint) == str(rows._fingerprint)
    shuffled = rows.shuffle(seed=1)
    assert [shade >= 100 for shade in shades(shuffled)] == shuffled["label"][:]
    rows.save_to_disk(tmp_path / "saved")
    for name in os.listdir(tmp_path):
        if name.startswith("pictures"):
            os.rename(tmp_path / name, tmp_path / f"moved-{name}")
    again = cd.load_from_disk(tmp_path / "saved")
    assert shades(again) == list(SHADES.values())
    assert again.cast_column("image", cd.Image(decode=False))[0]["image"]["path"] == "0.png"


def test_a_stream_goes_on_from_every_row_and_is_shared_out(place):
    for row in range(7):
        flow = load(place, streaming=True)
        rows = iter(flow)
        before = shades(next(rows) for _ in range(row))
        rest = load(place, streaming=True)
        rest.load_state_dict(flow.state_dict())
        assert before + shades(rest) == list(SHADES.values())
    halves = [cd.distributed.split_dataset_by_node(load(place, streaming=True), rank, 2) for rank in range(2)]
    assert sorted(shades(halves[0]) + shades(halves[1])) == sorted(SHADES.values())
    assert shades(pickle.loads(pickle.dumps(load(place, streaming=True).skip(4)))) == list(SHADES.values())[4:]


def test_rows_of_metadata_come_in_their_order_with_their_columns(tmp_path):
    lines = METADATA.splitlines()
    told = "\n".join([lines[0], *reversed(lines[1:])])
    for place in (
        write(tmp_path / "folder", {**PICTURES, "metadata.csv": told}),
        os.path.join(write(tmp_path, {"a.zip": zip_of([*PICTURES.items(), ("metadata.csv", told.encode())])}), "a.zip"),
    ):
        rows = load(place)
        assert list(rows.features) == ["image", "shade"]
        assert shades(rows) == rows["shade"][:] == list(SHADES.values())[::-1]
        assert load(place, columns=["shade"], filters=[("shade", ">", 100)])["shade"][:] == [180, 140]


def test_no_media_file_is_opened_before_it_is_looked_at(tmp_path):
    where = write(tmp_path / "a", dict.fromkeys(SHADES, b"no picture"))
    rows = load(where)
    assert len(rows) == 6
    with pytest.raises(ValueError, match=r"0\.png"):
        rows[0]


def test_the_fingerprint_follows_the_files(tmp_path):
    where = write(tmp_path / "a", PICTURES)
    before = load(where)._fingerprint
    write(tmp_path / "a", {"cat/0.png": picture(77)})
    assert load(where)._fingerprint != before


def test_errors_name_the_file_the_row_and_what_to_do(tmp_path):
    where = write(tmp_path / "a", {"metadata.csv": "file_name\na.png\n../b.png\n", "a.png": b""})
    with pytest.raises(MediaFolderError, match=r"metadata\.csv, row 1: '\.\./b\.png' .* relative") as caught:
        load(where)
    assert caught.value.row == 1
    assert pickle.loads(pickle.dumps(caught.value)).path == caught.value.path
    halves = {"train/metadata.csv": "file_name\na.png\n", "train/a.png": b"", "test/b.png": b""}
    where = write(tmp_path / "b", halves)
    with pytest.raises(MediaFolderError, match=r"'test': 1 files, as .*b\.png, have no metadata.*drop_metadata"):
        cd.load_dataset(where)
    assert cd.load_dataset(where, drop_metadata=True)["test"].num_rows == 1
    with pytest.raises(MediaFolderError, match=r"no column names files\. It has: name\..*file_name"):
        load(write(tmp_path / "c", {"metadata.csv": "name\na.png\n", "a.png": b""}))
    with pytest.raises(MediaFolderError, match=r"none of 1 files is of imagefolder"):
        load(write(tmp_path / "d", {"a.txt": b""}))


def test_metadata_without_rows_are_named(tmp_path):
    write(tmp_path, {"train/a.png": picture(1), "train/metadata.csv": "file_name,shade\na.png,1\n"})
    write(tmp_path, {"test/metadata.csv": "file_name,shade\n"})
    with pytest.raises(MediaFolderError, match=r"test/metadata\.csv: the metadata have no rows"):
        cd.load_dataset("imagefolder", data_dir=str(tmp_path))
    assert cd.load_dataset("imagefolder", data_dir=str(tmp_path), split="train")["shade"][:] == [1]


def test_gaps_are_told_of(tmp_path, caplog):
    cd.logging.enable_propagation()
    try:
        load(write(tmp_path / "a", {"metadata.csv": "file_name\na.png\ngone.png\n", "a.png": b"", "b.png": b""}))
    finally:
        cd.logging.disable_propagation()
    assert "1 files have no metadata and are left out, as" in caplog.text
    assert "gone.png" in caplog.text


def test_data_reach_nothing_outside_of_their_folder(tmp_path):
    """R26, for links in a folder and for members of archives."""
    write(tmp_path, {"secret.png": PICTURES["cat/0.png"], "secret.zip": zip_of(PICTURES.items())})
    where = write(tmp_path / "a", PICTURES)
    os.symlink(tmp_path / "secret.png", tmp_path / "a" / "cat" / "link.png")
    rows = load(where)
    with pytest.raises(OutOfBoundsError):
        rows[3]
    for path in (f"zip://cat/0.png::{tmp_path}/secret.zip", f"zip://cat/0.png::file://{tmp_path}/a/../secret.zip"):
        view = rows._view
        with pytest.raises(OutOfBoundsError):
            view.readable["image"].decode_example({"bytes": None, "path": path})


def test_a_bomb_in_an_archive_is_refused(tmp_path, monkeypatch):
    """R24."""
    monkeypatch.setattr(config, "MAX_UNPACKED_BYTES_AT_ANY_RATIO", 100_000)
    monkeypatch.setattr(config, "MAX_UNPACKED_RATIO", 10)
    where = write(tmp_path, {"a.zip": zip_of([("a.png", bytes(1 << 20)), ("pad.bin", os.urandom(200_000))])})
    rows = load(os.path.join(where, "a.zip"))
    with pytest.raises(LimitExceededError):
        rows.features["image"].decode_example({"bytes": None, "path": f"zip://a.png::{where}/a.zip"})


def test_every_folder_format_takes_its_files_and_chooses_itself(tmp_path):
    for name in (name for name in FORMATS if FORMATS[name].folder is not None):
        format = FORMATS[name]
        ends = [*format.extensions[:2], format.extensions[0].upper()]
        where = write(tmp_path / name, {f"{kind}/{n}{end}": b"x" for kind in "ab" for n, end in enumerate(ends)})
        for rows in (cd.load_dataset(name, data_dir=where, split="train"), cd.load_dataset(where, split="train")):
            assert list(rows.features) == [format.folder.column, "label"]
            assert isinstance(rows.features[format.folder.column], format.folder.feature)
            assert rows["label"][:] == [0] * len(ends) + [1] * len(ends)


@pytest.fixture
def hub(online, tmp_path, monkeypatch):
    repos = tmp_path / "hub" / "acme"
    write(
        repos / "pictures", {f"{split}/{name}": data for split in ("train", "test") for name, data in PICTURES.items()}
    )
    write(repos / "told", {**PICTURES, "metadata.csv": METADATA})
    write(repos / "packed", {"train.zip": zip_of(PICTURES.items())})
    with serving(str(tmp_path / "hub")) as server:
        monkeypatch.setattr(config, "HF_ENDPOINT", server.endpoint)
        yield server


def test_folders_on_the_hub_and_at_addresses(hub, requests):
    flow = cd.load_dataset("acme/told", split="train", streaming=True)
    labels = cd.load_dataset("acme/told", split="train", streaming=True, columns=["shade"])
    assert [row["shade"] for row in labels] == list(SHADES.values())
    later = [flow.select_columns("shade"), flow.shuffle(seed=1, buffer_size=2).remove_columns("image").take(9)]
    assert [sorted(row["shade"] for row in one) for one in later] == [sorted(SHADES.values())] * 2
    assert not [path for path in requests if path.endswith(".png")]
    assert shades(flow) == [row["shade"] for row in flow] == list(SHADES.values())
    assert next(iter(flow.cast_column("image", cd.Image(decode=False))))["image"]["path"].startswith("hf://datasets/")
    for name in ("pictures", "told", "packed"):
        rows = cd.load_dataset(f"acme/{name}", split="train")
        assert shades(rows) == list(SHADES.values()), name
    assert not [path for path in requests if "/test/" in path and path.endswith(".png")]
    url = f"{hub.endpoint}/datasets/acme/packed/resolve/main/train.zip"
    assert shades(cd.load_dataset("imagefolder", data_files=url, split="train")) == list(SHADES.values())
