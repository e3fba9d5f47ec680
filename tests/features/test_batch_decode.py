"""Decoded media: recordings, films, threads, and values that are bad, large or of another type."""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow
from support import media

import crucible_datasets as cd
from crucible_datasets import Audio, Dataset, Features, Image, List, Nifti, Value, Video, config
from crucible_datasets.exceptions import ArgumentError, BadMediaError, OversizedMediaError

BAD = 11


def shades(num_rows=40, bad=(), left=100):
    """Pictures whose red tells their row."""
    pictures = [media.jpeg((8, 8), (index, 0, 0), quality=95, subsampling=0) for index in range(num_rows)]
    values = [data[:left] if index in bad else data for index, data in enumerate(pictures)]
    columns = {"n": list(range(num_rows)), "image": values}
    return Dataset.from_dict(columns, features=Features({"n": Value("int64"), "image": Image()}))


def shade(picture):
    return round(np.asarray(picture)[0, 0, 0] / 1)


# Sound


def recording(data, **options):
    return Audio(**options).decode_example({"bytes": data, "path": None})


def test_a_recording_answers_as_a_dict_and_as_a_decoder():
    heard = recording(media.sound(0.5, 8000, channels=2))
    whole = heard.get_all_samples()
    assert sorted(heard) == ["array", "path", "sampling_rate"]
    assert (heard["sampling_rate"], heard["path"], heard["array"].shape) == (8000, None, (4000,))
    assert (whole.data.shape, whole.data.dtype, whole.sample_rate) == ((2, 4000), np.float32, 8000)
    assert (whole.pts_seconds, whole.duration_seconds) == (0.0, 0.5)
    np.testing.assert_allclose(heard["array"], whole.data.mean(axis=0))
    with pytest.raises(KeyError):
        heard["sample_rate"]


@settings(max_examples=15)
@given(
    st.sampled_from(["WAV", "FLAC"]), st.integers(0, 1900), st.integers(0, 300), st.sampled_from(["soundfile", "pyav"])
)
def test_a_part_of_a_recording_is_that_part_of_the_whole(format, start, length, decoder):
    data = media.sound(0.25, 8000, format=format)
    before, config.CRUCIBLE_MEDIA_DECODERS = config.CRUCIBLE_MEDIA_DECODERS, f"Audio={decoder}"
    try:
        part = recording(data).get_samples_played_in_range(start / 8000, (start + length) / 8000)
        whole = recording(data).get_all_samples()
    finally:
        config.CRUCIBLE_MEDIA_DECODERS = before
    assert part.pts_seconds == start / 8000
    np.testing.assert_array_equal(part.data, whole.data[:, start : start + length])


def test_sound_is_given_in_the_rate_and_channels_asked_for():
    stereo, mono = media.sound(1, 44100, channels=2), media.sound(1, 8000)
    heard = recording(stereo, sampling_rate=16000)
    assert heard["sampling_rate"] == 16000
    assert heard.get_all_samples().data.shape == (2, 16000)
    # The tone of 220 Hz is where it was.
    assert np.abs(np.fft.rfft(heard.get_all_samples().data[0])).argmax() == 220
    # As FFmpeg mixes: the power is that of both channels.
    left, right = recording(stereo).get_all_samples().data
    mixed = recording(stereo, num_channels=1).get_all_samples().data
    np.testing.assert_allclose(mixed[0], (left + right) * 0.5**0.5, atol=1e-6)
    doubled = recording(mono, num_channels=2).get_all_samples().data
    np.testing.assert_allclose(doubled[1], recording(mono)["array"] * 0.5**0.5, atol=1e-6)
    with pytest.raises(BadMediaError, match="no audio stream with the index 3"):
        recording(mono, stream_index=3)


def test_sound_that_soundfile_does_not_know_is_read_by_pyav():
    heard = recording(media.m4a())
    assert heard["sampling_rate"] == 8000
    assert heard.metadata.codec == "aac"
    assert 0.3 < np.abs(heard["array"]).max() < 0.7


def test_recordings_are_stored_as_what_they_were_made_of():
    wav = media.sound()
    rows = Dataset.from_dict({"audio": [wav]}, features=Features({"audio": Audio()}))
    copied = rows.map(lambda row: {"again": row["audio"], "both": [row["audio"], None]})
    assert copied.features["again"] == Audio()
    assert copied.features["both"] == List(Audio())
    stored = copied.with_format("arrow")[0].to_pylist()[0]
    assert stored["again"] == stored["audio"] == stored["both"][0] == {"bytes": wav, "path": None}


# Video


def film(**options):
    return Video(**options).decode_example({"bytes": media.film(), "path": None})


@pytest.mark.parametrize("option", ["dimension_order", "seek_mode"])
def test_options_of_films_that_mean_nothing_are_refused(option):
    with pytest.raises(ArgumentError, match=f"{option}='other': expected one of"):
        film(**{option: "other"})


def test_films_are_decoded_by_the_processor_and_other_devices_are_refused():
    assert [len(film(device=device)) for device in ("cpu", None, "cpu:0")] == [12] * 3
    with pytest.raises(ArgumentError, match="device='cuda:1': PyAV decodes on the processor"):
        film(device="cuda:1")


def test_a_film_is_a_sequence_of_frames():
    seen = film()
    frames = list(seen)
    assert (len(seen), frames[0].shape, frames[0].dtype) == (12, (3, 16, 32), np.uint8)
    assert [int(frame.mean().round(-1)) for frame in frames] == sorted(int(frame.mean().round(-1)) for frame in frames)
    for index in (0, 7, 4, 11, -1, -12):
        np.testing.assert_array_equal(seen[index], frames[index])
    np.testing.assert_array_equal(seen[2:9:3], np.stack(frames[2:9:3]))
    np.testing.assert_array_equal(film(dimension_order="NHWC")[5], frames[5].transpose(1, 2, 0))
    batch = seen.get_frames_at([5, 1, 5])
    np.testing.assert_array_equal(batch.data, np.stack([frames[5], frames[1], frames[5]]))
    np.testing.assert_allclose(batch.pts_seconds, [0.5, 0.1, 0.5])
    for wrong in (12, -13):
        with pytest.raises(IndexError):
            seen[wrong]


@pytest.mark.parametrize("format", ["mp4", "matroska", "avi", "mpegts"])
def test_any_frame_is_found_in_any_container(format):
    seen = Video().decode_example({"bytes": media.film(23, fps=25, format=format), "path": None})
    frames = list(seen)
    assert len(frames) == len(seen) == 23
    order = np.random.default_rng(0).permutation(23)
    np.testing.assert_array_equal(np.stack([seen[int(index)] for index in order]), np.stack(frames)[order])
    np.testing.assert_array_equal(seen.get_frames_at(order).data, np.stack(frames)[order])


def test_frames_are_found_by_time():
    seen = film()
    assert seen.get_frame_at(3).pts_seconds == pytest.approx(0.3)
    assert seen.get_frame_played_at(0.55).pts_seconds == pytest.approx(0.5)
    np.testing.assert_allclose(seen.get_frames_played_at([0.1, 0.99]).pts_seconds, [0.1, 0.9])
    np.testing.assert_allclose(seen.get_frames_played_in_range(0.5, 0.8).pts_seconds, [0.5, 0.6, 0.7])
    np.testing.assert_allclose(seen.get_frames_in_range(0, 6, 2).pts_seconds, [0, 0.2, 0.4])
    assert len(seen.get_all_frames()) == 12
    told = seen.metadata
    assert (told.width, told.height, told.codec, told.average_fps, told.num_frames) == (32, 16, "mpeg4", 10, 12)
    with pytest.raises(IndexError):
        seen.get_frame_played_at(5)


def test_formats_give_their_own_tensors():
    torch = pytest.importorskip("torch")
    columns = {"audio": [media.sound()] * 2, "video": [media.film()] * 2, "image": [media.jpeg()] * 2}
    rows = Dataset.from_dict(columns, features=Features({"audio": Audio(), "video": Video(), "image": Image()}))
    row, batch = rows.with_format("torch")[0], rows.with_format("torch")[:]
    assert row["audio"]["array"].dtype == torch.float32
    assert row["audio"].get_all_samples().data.shape == (1, 2000)
    assert (row["video"][0].dtype, tuple(row["video"][0].shape)) == (torch.uint8, (3, 16, 32))
    assert (len(batch["audio"]), tuple(batch["video"][1][2:4].shape)) == (2, (2, 3, 16, 32))
    assert (tuple(batch["image"].shape), batch["image"].dtype) == ((2, 3, 8, 12), torch.uint8)
    arrays = rows.with_format("numpy")[:]
    assert (arrays["image"].shape, arrays["image"].dtype) == ((2, 8, 12, 3), np.uint8)
    assert (arrays["audio"].dtype, arrays["audio"][0]["array"].dtype) == (object, np.float32)


# Threads, and bad values


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_keep_the_order(monkeypatch, threads):
    monkeypatch.setattr(config, "CRUCIBLE_DECODE_THREADS", threads)
    rows = shades()
    expected = [shade(rows[index]["image"]) for index in range(len(rows))]
    ways = [
        [row["image"] for row in rows], rows[:]["image"], list(rows["image"]), rows["image"][:],
        [row["image"] for row in rows.to_iterable_dataset()], list(rows.with_format("numpy")[:]["image"]),
        [row["image"] for row in rows.with_format("numpy")], list(rows.with_format("pandas")[:]["image"]),
        [row["image"] for batch in rows.to_iterable_dataset().iter(7) for row in [{"image": i} for i in batch["image"]]],
    ]  # fmt: skip
    assert [[shade(picture) for picture in pictures] for pictures in ways] == [expected] * len(ways)
    assert rows.map(lambda row: {"shade": shade(row["image"])})["shade"][:] == expected


@pytest.mark.parametrize(("threads", "left"), [(1, 100), (3, 100), (3, -4)])  # its header breaks off, or the end
def test_a_bad_value_is_told_by_column_and_row_and_spares_the_others(monkeypatch, threads, left):
    monkeypatch.setattr(config, "CRUCIBLE_DECODE_THREADS", threads)
    rows = shades(bad={BAD}, left=left)
    moved = rows.select(range(BAD, len(rows)))
    for look, row in [
        (lambda: rows[BAD], BAD), (lambda: rows[5:20], BAD), (lambda: rows[[1, BAD]], BAD), (lambda: list(rows), BAD),
        (lambda: rows["image"][BAD], BAD), (lambda: list(rows["image"]), BAD), (lambda: moved[:], 0),
        (lambda: rows.with_format("numpy")[BAD], BAD), (lambda: list(rows.with_format("numpy")), BAD),
        (lambda: rows.with_format("pandas")[5:20], BAD), (lambda: list(rows.to_iterable_dataset()), None),
        (lambda: rows.map(lambda row: {"s": row["image"].size}), BAD),
    ]:  # fmt: skip
        with pytest.raises(BadMediaError) as told:
            look()
        assert (told.value.column, told.value.row, told.value.kind) == ("image", row, "Image")
    for kind in (rows, rows.to_iterable_dataset(), rows.with_format("numpy")):
        seen = []
        with pytest.raises(BadMediaError):
            seen.extend(row["n"] for row in kind)  # `extend` keeps what came before an error
        assert seen == list(range(BAD))


def test_functions_go_on_behind_a_bad_value():
    rows = shades(bad={BAD, 12})
    good = [index for index in range(40) if index not in (BAD, 12)]
    by_row = rows.map(lambda row: {"s": shade(row["image"])}, on_error="skip")
    by_column = rows.map(
        lambda picture, index: {"s": (shade(picture), index)}, input_columns="image", with_indices=True, on_error="skip"
    )
    assert by_row["n"][:] == by_column["n"][:] == [index for _, index in by_column["s"]] == good
    assert by_row["s"][:] == [value for value, _ in by_column["s"]]
    assert rows.map(lambda row: {"s": shade(row["image"])}, on_error="collect").errors["index"][:] == [BAD, 12]
    assert len(rows.map(lambda row: row)) == 40  # nobody looked at the pictures
    few = rows.filter(lambda row: row["n"] < 5 and row["image"].size == (8, 8))
    assert few["n"][:] == [0, 1, 2, 3, 4]


def png(width, height):
    """A picture that says it has this size, and holds next to nothing."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [head, b"IDAT" + zlib.compress(bytes(1000)), b"IEND"]
    written = [struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)


def test_bombs_are_refused_before_they_cost_memory(monkeypatch):
    unpacked = bytearray(media.volume())
    packed = gzip.compress(bytes(unpacked) + bytes(10_000_000))
    monkeypatch.setattr(config, "MAX_UNPACKED_BYTES_AT_ANY_RATIO", 1 << 20)
    monkeypatch.setattr(config, "MAX_MEDIA_BYTES", 1 << 16)
    unpacked[40:56] = np.array([3, 2000, 2000, 2000, 1, 1, 1, 1], "<i2").tobytes()
    for kind, data in [
        (Image(), png(50_000, 50_000)),
        (Nifti(), packed),
        (Nifti(), bytes(unpacked)),
        (Audio(), media.sound(10)),
        (Video(), media.film(60)),
    ]:
        with pytest.raises(OversizedMediaError, match="exceeds the limit of .* raise") as told:
            value = kind.decode_example({"bytes": data, "path": None})
            value["array"] if isinstance(kind, Audio) else value.get_all_frames()
        assert isinstance(told.value, cd.exceptions.LimitExceededError)
        again = told.value.at("m", 3)
        assert (again.column, again.row, again.limit) == ("m", 3, told.value.limit)


def test_open_files_and_relative_paths_are_taken(tmp_path, monkeypatch):
    (tmp_path / "a.jpg").write_bytes(media.jpeg())
    monkeypatch.chdir(tmp_path)
    with open("a.jpg", "rb") as file:
        assert Image().encode_example(file) == {"bytes": media.jpeg(), "path": "a.jpg"}
    assert Image().encode_example(io.BytesIO(b"x")) == {"bytes": b"x", "path": None}
    assert Image().encode_example(Path("a.jpg")) == {"bytes": None, "path": str(tmp_path / "a.jpg")}
    assert isinstance(Image(mode="L").decode_example("a.jpg"), Pillow.Image)
