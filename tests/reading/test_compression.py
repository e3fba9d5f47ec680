"""Compressed bytes come back whole, or as far as they are good and then with a typed error."""

from __future__ import annotations

import io
import json
import random
from functools import cache

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.packed import COMPRESSIONS, compressed

from crucible_datasets import config
from crucible_datasets.exceptions import FileFormatError, LimitExceededError
from crucible_datasets.formats.streams import Budget
from crucible_datasets.reading.compression import compression_of, decompressed, plain
from crucible_datasets.reading.files import identified, opened

SEED = 20
_RNG = random.Random(SEED)
DATA = "\n".join(json.dumps({"n": n, "t": _RNG.random()}) for n in range(6_000)).encode()
# What Arrow has decoded in the call in which it finds an error is lost, and so is a block that is cut.
LOST = {"zst": 160 << 10, "lz4": 160 << 10, "bz2": 900_000}


@cache
def packed_data(kind):
    return compressed(DATA, kind)


def stream_of(packed, kind, name="a file"):
    return decompressed(io.BytesIO(packed), kind, name, Budget(name, len(packed)))


def pieces_until_error(stream, size):
    parts = []
    with pytest.raises(FileFormatError) as caught:
        while part := stream.read(size):
            parts.append(part)
    return b"".join(parts), caught.value


@pytest.mark.parametrize("kind", COMPRESSIONS)
@pytest.mark.parametrize("size", [-1, 1, 1000, 1 << 20])
def test_what_was_compressed_comes_back(kind, size):
    data, packed = (DATA[:3000], compressed(DATA[:3000], kind)) if size == 1 else (DATA, packed_data(kind))
    with stream_of(packed, kind) as stream:
        parts = [stream.read(size)] if size < 0 else list(iter(lambda: stream.read(size), b""))
    assert b"".join(parts) == data and all(len(part) == size for part in parts[:-1])


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_the_first_bytes_tell(kind):
    assert compression_of(compressed(b"a", kind)[:10]) == kind
    assert compression_of(compressed(b"", kind)[:14]) == kind
    for text in (b"", b"BZhello,world\n", b"a,b\n1,2\n", b'{"a": 1}'):
        assert compression_of(text) is None


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_readers_of_other_libraries_take_the_stream(kind):
    packed = compressed(b"a,b\n1,x\n2,y\n", kind)
    assert pa.csv.read_csv(stream_of(packed, kind)).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}
    assert list(io.TextIOWrapper(stream_of(packed, kind))) == ["a,b\n", "1,x\n", "2,y\n"]
    assert list(stream_of(packed, kind)) == [b"a,b\n", b"1,x\n", b"2,y\n"]
    buffer = bytearray(5)
    assert io.BufferedReader(stream_of(packed, kind)).readinto(buffer) == 5 and bytes(buffer) == b"a,b\n1"


@settings(deadline=None, max_examples=25)
@given(
    kind=st.sampled_from(COMPRESSIONS),
    parts=st.lists(
        st.sampled_from([b"", b"a", b"long " * 400_000, bytes(range(256)) * 3, DATA]), min_size=1, max_size=4
    ),
)
def test_streams_of_any_size_one_after_the_other_are_one(kind, parts):
    """Highly compressible parts give more at once than is asked for while the next part is at hand already."""
    packed = b"".join(compressed(part, kind) for part in parts)
    budget = Budget("x", 1 << 30)
    assert decompressed(io.BytesIO(packed), kind, "x", budget).read() == b"".join(parts)


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_several_streams_are_one(kind):
    packed = compressed(b"one,", kind) + compressed(b"", kind) + compressed(b"two", kind)
    assert stream_of(packed, kind).read() == b"one,two"


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_zeros_at_the_end_are_nothing_and_anything_else_is_an_error(kind):
    packed = packed_data(kind)
    assert stream_of(packed + bytes(300_000), kind).read() == DATA
    good, error = pieces_until_error(stream_of(packed + b"\0\0rubbish", kind), 1000)
    assert good == DATA and "something else" in str(error)


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_a_cut_stream_gives_its_good_bytes_and_then_says_where_it_breaks_off(kind):
    packed, rng = packed_data(kind), random.Random(SEED)
    for cut in [len(packed) - 1, *(rng.randrange(1, len(packed)) for _ in range(30))]:
        good, error = pieces_until_error(stream_of(packed[:cut], kind, "cut"), rng.choice([7000, 1 << 20]))
        assert DATA.startswith(good), (SEED, cut)
        assert error.path == "cut" and error.offset is not None and error.offset <= cut
    assert len(good) <= len(DATA)
    good, _ = pieces_until_error(stream_of(packed[:-5], kind), 1000)
    assert len(good) >= len(DATA) - LOST.get(kind, 1000)


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_a_damaged_stream_is_right_or_a_typed_error(kind):
    packed, rng, errors = packed_data(kind), random.Random(SEED), 0
    for _ in range(40):
        damaged = bytearray(packed)
        damaged[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
        try:
            with plain(io.BytesIO(bytes(damaged)), "damaged") as stream:
                while stream.read(100_000):
                    pass
        except (FileFormatError, LimitExceededError):
            errors += 1
    assert errors > 0, SEED


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_a_file_that_ends_before_its_first_bytes_say_anything_is_not_taken_for_an_empty_one(kind, tmp_path):
    for length in range(3):
        path = tmp_path / f"a.csv.{kind}"
        path.write_bytes(compressed(b"a\n1\n", kind)[:length])
        with pytest.raises(FileFormatError, match="breaks off"), opened(identified([str(path)])[0]):
            pass


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_more_bytes_than_the_limit_are_refused(kind, monkeypatch):
    monkeypatch.setattr(config, "MAX_UNPACKED_BYTES_AT_ANY_RATIO", 12 << 20)
    monkeypatch.setattr(config, "MAX_UNPACKED_RATIO", 100)
    packed = compressed(bytes(20 << 20), kind)
    with stream_of(packed, kind) as stream, pytest.raises(LimitExceededError, match="MAX_UNPACKED_RATIO"):
        while stream.read(1 << 20):
            assert stream.tell() <= max(config.MAX_UNPACKED_BYTES_AT_ANY_RATIO, 100 * len(packed))


def test_a_dictionary_that_does_not_fit_in_memory_is_refused(monkeypatch):
    monkeypatch.setattr(config, "MAX_UNPACKED_BYTES_AT_ANY_RATIO", 1 << 20)
    with pytest.raises(LimitExceededError, match="memory"):
        stream_of(packed_data("xz"), "xz").read()


def test_a_closed_stream_cannot_be_read():
    stream = stream_of(compressed(b"a", "gz"), "gz")
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.read()
