"""What every decoder of media promises, whatever the bytes are."""

from __future__ import annotations

import importlib
import pickle
import random
import sys

import pytest
from support import media

from crucible_datasets import Audio, Dataset, Features, Image, Mesh, Nifti, Pdf, Video, config
from crucible_datasets.decoders.base import DECODERS, USUAL, Decoder
from crucible_datasets.exceptions import BadMediaError, MissingMediaError, MissingPackageError

KINDS = {"Image": Image, "Audio": Audio, "Video": Video, "Pdf": Pdf, "Nifti": Nifti, "Mesh": Mesh}
SAMPLES = {
    "Image": ("a.jpg", media.jpeg),
    "Audio": ("a.wav", media.sound),
    "Video": ("a.mp4", media.film),
    "Pdf": ("a.pdf", media.document),
    "Nifti": ("a.nii", media.volume),
    "Mesh": ("a.stl", media.mesh),
}
PACKAGES = {
    "pillow": "PIL.Image", "soundfile": "soundfile", "pyav": "av", "pdfplumber": "pdfplumber", "nibabel": "nibabel",
    "trimesh": "trimesh",
}  # fmt: skip
PAIRS = [(name, kind) for name in DECODERS.names() for kind in DECODERS[name].opens]


@pytest.fixture(params=PAIRS, ids="-".join)
def pair(request, monkeypatch):
    """A decoder and a type of media, which the settings give to it."""
    name, kind = request.param
    monkeypatch.setattr(config, "CRUCIBLE_MEDIA_DECODERS", f"{kind}={name}")
    return name, kind


def essence(kind, value):
    """What makes two decoded values the same."""
    match kind:
        case "Image":
            return value.mode, value.size, value.tobytes()
        case "Audio":
            return value["sampling_rate"], value["array"].tobytes()
        case "Video":
            return [frame.tobytes() for frame in value]
        case "Pdf":
            return [(page.width, page.height) for page in value.pages]
        case "Nifti":
            return value.shape, value.get_fdata().tobytes()
        case _:
            return value.vertices.tolist(), value.faces.tolist()


def test_bytes_and_files_are_the_same_and_come_back(pair, tmp_path):
    _, kind = pair
    feature, (file_name, make) = KINDS[kind](), SAMPLES[kind]
    path = tmp_path / file_name
    path.write_bytes(make())
    from_file = feature.decode_example({"bytes": None, "path": str(path)})
    from_bytes = feature.decode_example({"bytes": path.read_bytes(), "path": file_name})
    assert essence(kind, from_file) == essence(kind, from_bytes)
    again = feature.decode_example(feature.encode_example(from_bytes))
    if kind != "Mesh":  # a scene of glTF holds the mesh
        assert essence(kind, again) == essence(kind, from_bytes)
    if kind in ("Audio", "Video"):
        assert essence(kind, pickle.loads(pickle.dumps(from_file))) == essence(kind, from_file)


def test_what_is_missing_is_told(pair, monkeypatch, tmp_path):
    name, kind = pair
    with pytest.raises(MissingMediaError) as told:
        KINDS[kind]().decode_example({"bytes": None, "path": str(tmp_path / "nothing.nii")})
    assert isinstance(told.value, FileNotFoundError)
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    file_name, _ = SAMPLES[kind]
    with pytest.raises(MissingPackageError, match="pip install"):
        KINDS[kind]().decode_example({"bytes": b"RIFF" * 20, "path": file_name})


def mutants(data, count, seed=0):
    """The same bytes cut off, overwritten, or with a hole."""
    chance = random.Random(seed)
    yield b""
    yield b"junk" * 200
    for _ in range(count):
        changed, place = bytearray(data), chance.randrange(len(data))
        match chance.randrange(3):
            case 0:
                changed = changed[:place]
            case 1:
                for _ in range(chance.randrange(1, 30)):
                    changed[chance.randrange(len(changed))] = chance.randrange(256)
            case _:
                del changed[place : place + chance.randrange(1, 200)]
        yield bytes(changed)


def survive(kind, count):
    feature, (file_name, make) = KINDS[kind](), SAMPLES[kind]
    refused = 0
    for data in mutants(make(), count):
        try:
            value = feature.decode_example({"bytes": data, "path": file_name})
            if kind in ("Audio", "Video"):
                essence(kind, value)
        except BadMediaError as error:
            refused += 1
            assert error.kind == kind
    assert refused >= 2 - (kind == "Audio")


@pytest.mark.filterwarnings("ignore")
def test_bad_bytes_are_one_kind_of_error(pair):
    survive(pair[1], 25)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_many_bad_bytes_are_one_kind_of_error(pair):
    survive(pair[1], 5000)


def test_every_type_has_its_decoder_and_the_settings_choose_another(monkeypatch):
    assert {kind: KINDS[kind]()._type for kind in USUAL} == {kind: kind for kind in USUAL}
    shouting = Decoder("shouting", {"Image": lambda content, feature: content.read().decode().upper()})
    monkeypatch.setattr(DECODERS, "entries", {**DECODERS.entries, "shouting": shouting})
    rows = Dataset.from_dict({"image": [b"abc"]}, features=Features({"image": Image()}))
    monkeypatch.setattr(config, "CRUCIBLE_MEDIA_DECODERS", "Image=shouting, Audio=pyav")
    assert rows[0] == {"image": "ABC"}
    for wrong in ("Image=soundfile", "Image", "Image=nobody"):
        monkeypatch.setattr(config, "CRUCIBLE_MEDIA_DECODERS", wrong)
        with pytest.raises(ValueError, match="Image|nobody"):
            rows[0]


def test_the_modules_of_decoders_are_called_as_they_are():
    for name in DECODERS.names():
        assert importlib.import_module(f"crucible_datasets.decoders.{name}").DECODER is DECODERS[name]
