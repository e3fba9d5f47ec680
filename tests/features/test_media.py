"""Media: references in, references stored, pictures out."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image as pillow

from crucible_datasets.exceptions import ArgumentError, DecodingDisabledError
from crucible_datasets.features import Audio, BioSequence, BioStructure, Features, Image, Mesh, Nifti, Pdf, Video
from crucible_datasets.features.cast import cast_column
from crucible_datasets.features.encode import column_of

KINDS = [Image, Audio, Video, Pdf, Nifti, Mesh, BioSequence, BioStructure]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_paths_bytes_and_dicts_are_references(kind: Any, tmp_path: Path) -> None:
    values = ["a", b"b", bytearray(b"c"), tmp_path, {"path": "d"}, {"bytes": b"e", "path": "f", "more": 1}]
    stored = column_of(values, kind(decode=False)).to_pylist()
    assert [(row["bytes"], row["path"]) for row in stored] == [
        (None, "a"), (b"b", None), (b"c", None), (None, str(tmp_path)), (None, "d"), (b"e", "f"),
    ]  # fmt: skip
    with pytest.raises(ArgumentError):
        kind().encode_example({"bytes": None})


@pytest.mark.parametrize("arrow", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_columns_of_paths_or_bytes_cast_to_references(kind: Any, arrow: pa.DataType) -> None:
    cast = cast_column(pa.chunked_array([pa.array(["a", None], arrow)]), kind(decode=False))
    cast.validate(full=True)
    assert [row and (row["bytes"] or row["path"].encode()) for row in cast.to_pylist()] == [b"a", None]


def test_files_are_embedded_only_when_asked(kind: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "file.bin")
    Path(path).write_bytes(b"content")
    storage = pa.array([{"bytes": None, "path": path}, {"bytes": b"x", "path": None}, None], kind.pa_type)
    kept = kind().embed_storage(storage, local_files=False)
    assert kept.equals(storage)
    assert kind().embed_storage(storage).to_pylist() == [
        {"bytes": b"content", "path": "file.bin"}, {"bytes": b"x", "path": None}, None,
    ]  # fmt: skip


def test_remote_files_are_read_through_fsspec() -> None:
    import fsspec

    fsspec.filesystem("memory").pipe("/media/a.bin", b"far")
    storage = pa.array([{"bytes": None, "path": "memory://media/a.bin"}], Pdf.pa_type)
    assert Pdf().embed_storage(storage, remote_files=False).equals(storage)
    assert Pdf().embed_storage(storage).to_pylist() == [{"bytes": b"far", "path": "a.bin"}]


def test_undecoded_media_flatten_into_two_columns(kind: Any) -> None:
    assert list(Features({"m": kind(decode=False)}).flatten()) == ["m.bytes", "m.path"]
    with pytest.raises(DecodingDisabledError):
        kind(decode=False).decode_example({"bytes": b"", "path": None})


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I", "F", "I;16"])
def test_pictures_read_back(mode: str) -> None:
    picture = pillow.new(mode, (3, 2))
    again = Image().decode_example(Image().encode_example(picture))
    assert (again.mode, again.size, again.tobytes()) == (picture.mode, picture.size, picture.tobytes())


@pytest.mark.parametrize("dtype", ["bool", "uint8", "uint16", "int32", "float32", "int64", "float64"])
def test_arrays_read_back_as_pictures(dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    assert np.array_equal(np.array(Image().decode_example(Image().encode_example(array))), array)


def test_an_opened_file_stays_a_path(tmp_path: Path) -> None:
    path = str(tmp_path / "a.png")
    pillow.new("L", (1, 1)).save(path)
    with pillow.open(path) as picture:
        assert Image().encode_example(picture) == {"bytes": None, "path": path}
    assert Image(mode="RGB").decode_example({"bytes": None, "path": path}).mode == "RGB"


def test_pictures_stand_upright() -> None:
    picture, buffer = pillow.new("RGB", (4, 2)), io.BytesIO()
    exif = picture.getexif()
    exif[0x0112] = 6
    picture.save(buffer, format="JPEG", exif=exif)
    assert Image().decode_example({"bytes": buffer.getvalue(), "path": None}).size == (2, 4)


def test_pixels_that_no_picture_holds_are_refused() -> None:
    for array in (np.full((1, 1, 3), 256), np.full((1, 1), 2**40), np.array([["a"]]), np.zeros((1, 1, 3))):
        with pytest.raises((ValueError, TypeError)):
            Image().encode_example(array)


def test_samples_become_a_wav_file() -> None:
    soundfile = pytest.importorskip("soundfile", reason="soundfile is not installed")
    samples = np.linspace(-0.5, 0.5, 16).reshape(2, 8)
    reference = Audio().encode_example({"array": samples, "sampling_rate": 8000, "path": "a.wav"})
    heard, rate = soundfile.read(io.BytesIO(reference["bytes"]))
    assert rate == 8000
    np.testing.assert_allclose(heard.T, samples, atol=1e-4)
    with pytest.raises(ArgumentError):
        Audio().encode_example({"array": [0.0]})
