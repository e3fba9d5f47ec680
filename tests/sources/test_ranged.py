"""Files that are read where they are, range by range."""

from __future__ import annotations

import os
import random

import pytest
from support.faulty import faulty

from crucible_datasets.sources import http
from crucible_datasets.sources.ranged import ranged

CONTENT = random.Random(20261118).randbytes(3 << 20)


@pytest.fixture
def asked():
    return []


@pytest.fixture
def file(asked):
    def ranges(start, stop):
        asked.append((start, stop))
        for at in range(start, stop, 50_000):
            yield CONTENT[at : min(at + 50_000, stop)]

    return ranged(ranges, len(CONTENT), "content")


def test_any_reads_give_what_is_there(file):
    chance = random.Random(1)
    for _ in range(200):
        if chance.random() < 0.5:
            file.seek(chance.randrange(len(CONTENT)))
        at, size = file.tell(), chance.choice([1, 100, 70_000, 1_000_000, -1])
        assert file.read(size) == CONTENT[at : None if size < 0 else at + size]


@pytest.mark.parametrize("size", [10, 65_536, 70_000, 1_003_182])
def test_what_is_read_at_once_is_asked_for_at_once(file, asked, size):
    file.seek(4)
    assert file.read(size) == CONTENT[4 : 4 + size]
    assert asked == [(4, 4 + max(size, 65_536))]


def test_what_is_read_bit_by_bit_is_asked_for_in_growing_ranges(file, asked):
    while file.read(10_000):
        pass
    assert asked[0] == (0, 65_536)
    assert len(asked) == 7  # 3 MiB: each as long as all before it


def test_a_line_is_not_asked_for_with_what_was_read_before(file, asked):
    file.read(2 << 20)
    file.seek(1 << 20)
    file.readline()
    assert all(stop - start <= 1 << 17 for start, stop in asked[1:])


def test_a_server_without_ranges_is_asked_for_the_file_once(online):
    content = random.Random(7).randbytes(3 << 20)
    with faulty(content, "fine", *["whole"] * 100) as server:
        (file,) = http.listed(server.url, {})
        with http.opened(file, {}) as stream:
            assert stream.read(10) == content[:10]
            for start in (2 << 20, 100, 1 << 20):
                stream.seek(start)
                assert stream.read(1000) == content[start : start + 1000]
            stream.seek(0)
            assert stream.read() == content
        with http.opened(file, {}) as stream:
            assert stream.read() == content
    # For its headers, for its start, and for the whole.
    assert [method for method, _ in server.asked] == ["HEAD", "GET", "GET"]


def test_a_range_at_the_end_of_a_server_without_ranges_is_given_up_at_once(online):
    content = random.Random(8).randbytes(1 << 20)
    with faulty(content, "fine", *["whole"] * 100) as server:
        (file,) = http.listed(server.url, {})
        with http.opened(file, {}) as stream:
            stream.seek(-8, os.SEEK_END)
            assert stream.read() == content[-8:]
    assert [(method, bool(asked)) for method, asked in server.asked] == [("HEAD", False), ("GET", True), ("GET", False)]
