"""Media as Hugging Face `datasets` has them: storage, schema, encoding, and what decodes without torchcodec."""

from __future__ import annotations

import io

import datasets as theirs
import numpy as np
import pyarrow as pa
import pytest
from PIL import Image as Pillow
from support import media

import crucible_datasets as ours

KINDS = ["Image", "Audio", "Video", "Pdf", "Nifti", "Mesh"]
FILES = {
    "Image": ("a.jpg", media.jpeg),
    "Video": ("a.mp4", media.film),
    "Pdf": ("a.pdf", media.document),
    "Nifti": ("a.nii", media.volume),
    "Mesh": ("a.stl", media.mesh),
}
OPTIONS = {
    "Image": [{}, {"mode": "L"}, {"decode": False}],
    "Audio": [{}, {"sampling_rate": 16000, "num_channels": 1}, {"stream_index": 1, "decode": False}],
    "Video": [{}, {"dimension_order": "NHWC", "num_ffmpeg_threads": 2}, {"decode": False, "seek_mode": "approximate"}],
    "Pdf": [{}, {"decode": False}],
    "Nifti": [{}, {"decode": False}],
    "Mesh": [{}, {"decode": False}],
}
both = pytest.mark.parametrize("kind", KINDS)


@both
def test_schemas_are_written_and_read_by_both(kind):
    for options in OPTIONS[kind]:
        mine, other = (lib.Features({"m": getattr(lib, kind)(**options)}) for lib in (ours, theirs))
        assert repr(mine["m"]) == repr(other["m"])
        assert mine.to_dict() == other.to_dict()
        assert mine._to_yaml_list() == other._to_yaml_list()
        assert mine.arrow_schema.equals(other.arrow_schema, check_metadata=True)
        assert ours.Features._from_yaml_list(other._to_yaml_list()) == mine
        assert ours.Features.from_arrow_schema(other.arrow_schema) == mine
        if "decode" in options:
            assert mine.flatten().to_dict() == other.flatten().to_dict()


@pytest.mark.parametrize("kind", FILES)
def test_values_are_stored_alike(kind, tmp_path):
    name, make = FILES[kind]
    path = tmp_path / name
    path.write_bytes(make())
    values = [str(path), path, path.read_bytes(), {"path": str(path)}, {"bytes": b"x", "path": "gone.bin"}, None]
    tables = []
    for lib in (ours, theirs):
        feature = getattr(lib, kind)
        rows = lib.Dataset.from_dict({"m": values}, features=lib.Features({"m": feature()}))
        tables.append(rows.with_format("arrow")[:])
        folder = str(tmp_path / lib.__name__)
        rows.select([0, 2, 4, 5]).save_to_disk(folder)
        tables.append(theirs.load_from_disk(folder).with_format("arrow")[:])
        tables.append(ours.load_from_disk(folder).with_format("arrow")[:])
    assert tables[0].equals(tables[3])
    assert tables[0].column("m").to_pylist()[1]["path"] == str(path)
    assert all(table.equals(tables[1]) for table in (tables[2], tables[4], tables[5]))
    assert tables[1].column("m").to_pylist()[0] == {"bytes": path.read_bytes(), "path": name}


def shape(kind, value):
    match kind:
        case "Image":
            return value.mode, value.size, np.asarray(value).tolist()
        case "Pdf":
            return [(page.width, page.height, len(page.images)) for page in value.pages]
        case "Nifti":
            return value.shape, value.get_fdata().tolist(), value.affine.tolist(), value.get_data_dtype()
        case _:
            return type(value), value.bounds.tolist(), value.is_empty


@pytest.mark.parametrize("kind", ["Image", "Pdf", "Nifti", "Mesh"])
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_values_are_decoded_alike(kind, tmp_path):
    name, make = FILES[kind]
    cases = [(name, make())]
    if kind == "Nifti":
        cases.append(("a.nii.gz", media.volume(packed=True)))
    if kind == "Mesh":
        cases += [("a.glb", media.mesh("glb")), ("a.PLY", media.mesh("ply"))]
    for each, content in cases:
        (tmp_path / each).write_bytes(content)
        for value in ({"bytes": None, "path": str(tmp_path / each)}, {"bytes": content, "path": each}):
            mine, other = (getattr(lib, kind)().decode_example(value) for lib in (ours, theirs))
            assert shape(kind, mine) == shape(kind, other)
            if kind == "Pdf":
                other.close()


def oriented(orientation):
    picture, exif = Pillow.fromarray(np.arange(96, dtype="uint8").reshape(4, 8, 3)), Pillow.Exif()
    exif[0x0112] = orientation
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", exif=exif)
    return {"bytes": buffer.getvalue(), "path": None}


def test_pictures_stand_alike_whatever_their_orientation():
    for orientation in range(10):
        for options in ({}, {"mode": "L"}):
            mine, other = (lib.Image(**options).decode_example(oriented(orientation)) for lib in (ours, theirs))
            assert shape("Image", mine) == shape("Image", other)
            assert dict(mine.getexif()) == dict(other.getexif())
            assert (type(mine), mine.format) == (type(other), other.format)


def test_what_is_refused_is_refused_by_both(tmp_path):
    good = media.jpeg()
    for kind, value in [
        ("Image", {"bytes": good[:200], "path": None}),
        ("Image", {"bytes": b"junk", "path": None}),
        ("Image", {"bytes": None, "path": str(tmp_path / "gone.png")}),
        ("Image", {"bytes": None, "path": None}),
        ("Pdf", {"bytes": None, "path": str(tmp_path / "gone.pdf")}),
        ("Mesh", {"bytes": b"junk", "path": "a.zip"}),
    ]:
        with pytest.raises(Exception) as other:
            getattr(theirs, kind)().decode_example(value)
        standard = next(each for each in type(other.value).__mro__ if each.__module__ == "builtins")
        with pytest.raises(standard):
            getattr(ours, kind)().decode_example(value)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_become_media_alike(kind):
    columns = [pa.array(["a", None]), pa.array([b"a", None]), pa.array([{"path": "a"}, None]), pa.nulls(2)]
    for storage in columns:
        mine, other = (getattr(lib, kind)(decode=False).cast_storage(storage) for lib in (ours, theirs))
        assert mine.to_pylist() == other.to_pylist()
        assert mine.type == other.type
