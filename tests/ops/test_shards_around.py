"""Shards of a run that goes on where another one, of any size, was stopped."""

from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.ops.mapping.running import _along, _around, bounds, tapered


@st.composite
def cases(draw):
    size, units = draw(st.integers(1, 5)), draw(st.integers(1, 20))
    num_rows = size * units - draw(st.integers(0, size - 1))
    finished = draw(st.lists(st.tuples(st.integers(1, 4), st.booleans()), max_size=units))
    found, at = [], 0
    for length, is_there in finished:
        if is_there and at < num_rows:
            found.append(range(at, min(at + length * size, num_rows)))
        at += length * size
    return size, num_rows, bounds(num_rows, draw(st.integers(1, units)), size), found


@given(cases())
def test_what_was_finished_stays_whole_and_the_rest_is_covered_once(case):
    size, num_rows, rows, found = case
    shards = _around(rows, found)
    assert [row for shard in shards for row in shard] == list(range(num_rows))
    assert set(found) <= set(shards)
    assert all(shard.start % size == 0 for shard in shards)


@given(st.integers(1, 3000), st.integers(1, 40), st.integers(1, 30), st.lists(st.integers(0, 3000), max_size=60))
def test_shards_for_workers_become_smaller_and_begin_at_batches(num_rows, workers, size, ends):
    shards = tapered(num_rows, workers, size)
    seams = sorted({0, *(end for end in ends if end < num_rows)})
    for runs in (shards, _along(shards, seams, size, workers)):
        assert [row for run in runs for row in run] == list(range(num_rows))
        assert all(run.start % size == 0 for run in runs)
    lengths = [len(shard) for shard in shards]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] <= size * -(-num_rows // (size * 4 * workers))
