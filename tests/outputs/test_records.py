"""Lists of dicts of texts in frames: what Arrow's own conversion makes of them, made in another way."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from crucible_datasets import Dataset

MESSAGE = pa.struct({"role": pa.string(), "content": pa.string()})
texts = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
messages = st.none() | st.fixed_dictionaries({"role": texts, "content": texts})
chats = st.lists(st.none() | st.lists(messages, max_size=3), max_size=6)


def plain(series):
    """The values and the types that hold them."""
    return [(type(cell), None if cell is None else (cell.dtype, cell.tolist())) for cell in series]


@given(st.lists(chats, max_size=3), st.integers(0, 3), st.sampled_from([pa.list_, pa.large_list]))
@example([], 0, pa.list_)
@example([[]], 0, pa.list_)
def test_frames_hold_what_arrow_makes(chunks, start, kind):
    column = pa.chunked_array([pa.array(chunk, kind(MESSAGE)) for chunk in chunks], kind(MESSAGE)).slice(start)
    dataset = Dataset(pa.table({"n": range(len(column)), "chat": column}))
    frame, expected = dataset.to_pandas(), pa.table({"n": range(len(column)), "chat": column}).to_pandas()
    assert list(frame.columns) == ["n", "chat"]
    assert (frame.dtypes == expected.dtypes).all()
    assert plain(frame["chat"]) == plain(expected["chat"])
    series = dataset.with_format("pandas")["chat"][:]
    assert (series.name, plain(series)) == ("chat", plain(expected["chat"]))


def test_a_list_that_is_null_hides_what_lies_under_it():
    values = pa.array([{"role": text, "content": text} for text in "abc"], MESSAGE)
    hidden = pa.ListArray.from_arrays(pa.array([0, 1, 3]), values, mask=pa.array([False, True]))
    (first, second) = Dataset(pa.table({"chat": hidden})).to_pandas()["chat"]
    assert (first.tolist(), second) == ([{"role": "a", "content": "a"}], None)
