"""Pictures of samples: bytes from the dataset's own folders; a path that data names opens nothing else."""

import json
import os
import sys

import pytest

from crucible_datasets import Dataset, Features, Image, Value, config, load_dataset
from crucible_datasets.benchmarks import (
    FieldMapping,
    Message,
    Part,
    Picture,
    Prompt,
    Sample,
    load_benchmark,
    load_samples,
    samples_from,
)
from crucible_datasets.exceptions import InvalidRecordError, OutOfBoundsError

pil = pytest.importorskip("PIL.Image")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "data" / "pictures").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    pil.new("RGB", (3, 3)).save(tmp_path / "data" / "pictures" / "own.png")
    pil.new("RGB", (2, 2)).save(tmp_path / "secret.png")
    os.symlink(tmp_path / "secret.png", tmp_path / "data" / "link.png")
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path


@pytest.fixture
def opened(folder):
    """How often the file that is none of the dataset's was opened."""
    seen, watching, secret = [], [True], os.path.realpath(folder / "secret.png")

    def audit(event, arguments):
        if watching and event == "open" and isinstance(arguments[0], (str, bytes)):
            if os.path.realpath(os.fsdecode(arguments[0]).replace("\0", "")) == secret:
                seen.append(arguments[0])

    sys.addaudithook(audit)
    yield seen
    watching.clear()


def chat(row):
    return Sample(row["id"], [Message("user", [Part("image", image=Picture(path=row["path"]))])], "cat")


def of_parquet(folder, path, **options):
    """A column of pictures."""
    features = Features({"image": Image(), "label": Value("string")})
    rows = Dataset.from_dict({"image": [{"path": path, "bytes": None}], "label": ["cat"]}, features=features)
    rows.to_parquet(str(folder / "data" / "rows.parquet"))
    return load_samples(str(folder / "data" / "rows.parquet"), FieldMapping(input="image", target="label"), **options)


def of_chats(folder, path, **options):
    """Messages in parts, as JSON has them."""
    message = {"role": "user", "content": [{"type": "text", "text": "What?"}, {"type": "image", "image": path}]}
    (folder / "data" / "rows.jsonl").write_text(json.dumps({"messages": [message], "answer": "cat"}) + "\n")
    return load_samples(str(folder / "data" / "rows.jsonl"), **options)


def of_a_function(folder, path, **options):
    """What a function makes of rows."""
    (folder / "data" / "rows.jsonl").write_text(json.dumps({"id": 1, "path": path}) + "\n")
    return load_samples(str(folder / "data" / "rows.jsonl"), chat, **options)


def of_a_benchmark(folder, path, **options):
    """A benchmark from a folder."""
    features = load_benchmark("caltech101", synthetic=True).raw.features
    rows = Dataset.from_dict({"image": [{"path": path, "bytes": None}], "label": [0]}, features=features)
    rows.to_parquet(str(folder / "data" / "train.parquet"))
    return load_benchmark("caltech101", "train", source=str(folder / "data"), **options)


WAYS = [of_parquet, of_chats, of_a_function, of_a_benchmark]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_outside_of_the_data_is_opened(folder, opened, way, streaming):
    secret = folder / "secret.png"
    for path in (
        str(secret),
        "../secret.png",
        "link.png",
        f"file://{secret}",
        f"http://127.0.0.1:9/{secret}",
        "x\0.png",
    ):
        samples = way(folder, path, streaming=streaming)
        for sample in (*samples, *samples.filter(lambda sample: sample.messages[0].images), *samples.shuffle(seed=1)):
            (picture,) = sample.messages[0].images
            assert picture == Picture(path=path)
            with pytest.raises(OutOfBoundsError):
                picture.decoded()
    assert not opened


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_what_lies_in_the_folder_of_the_data_is_read_and_can_be_sent(folder, way, streaming):
    own = folder / "data" / "pictures" / "own.png"
    for path in ("pictures/own.png", str(own)):
        samples = way(folder, path, streaming=streaming)
        for (sample,) in (samples, samples.take(1), samples.filter(lambda sample: sample.messages[0].images[0].bytes)):
            (picture,) = sample.messages[0].images
            assert picture == Picture(own.read_bytes(), path) and picture.decoded().size == (3, 3)
            assert Prompt().request(sample, "openai")[0]["content"][-1]["image_url"]["url"].startswith("data:image/png")


def test_who_wants_it_allows_more(folder, monkeypatch):
    samples = of_parquet(folder, str(folder / "secret.png"))
    (loose,) = samples[0].messages[0].images
    monkeypatch.setattr(config, "CRUCIBLE_MEDIA_ROOTS", str(folder))
    assert loose.decoded().size == (2, 2)
    assert samples[0].messages[0].images[0].bytes == (folder / "secret.png").read_bytes()


def test_what_a_caller_puts_in_has_no_bounds(folder):
    path = str(folder / "secret.png")
    rows = Dataset.from_dict({"image": [path], "label": ["cat"]}).cast_column("image", Image())
    made = load_samples(rows, FieldMapping(input="image", target="label"))
    given = samples_from([chat({"id": 1, "path": path})])
    assert made[0].messages[0].images == given[0].messages[0].images == [Picture.read(path)]
    assert Picture.read(folder / "secret.png").decoded().size == (2, 2)


def test_an_address_stays_an_address(folder):
    sample = of_chats(folder, "https://example.org/x.png")[0]
    assert Prompt().request(sample)[0]["content"][-1]["image_url"]["url"] == "https://example.org/x.png"
    with pytest.raises(InvalidRecordError, match="neither bytes nor a URL"):
        Prompt().request(of_chats(folder, "../secret.png")[0])


def test_bounds_survive_what_is_done_with_samples(folder, opened):
    samples = of_parquet(folder, str(folder / "secret.png"))
    other = load_samples(
        load_dataset("parquet", data_files=str(folder / "data" / "rows.parquet"), split="train"),
        FieldMapping(input="image", target="label"),
    )
    for some in (samples[:1], samples.sort(), samples.shuffle_choices(1), other):
        with pytest.raises(OutOfBoundsError):
            some[0].messages[0].images[0].decoded()
    assert not opened
