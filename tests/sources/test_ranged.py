"""Files that are read where they are, range by range."""

from __future__ import annotations

import random

import pytest

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
