"""What the bytes and lengths of texts say is what the texts say."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.formats.csv_bytes import may_hold_bytes, surely_lacks

WORDS = ("", "NA", "n/a", "é∞")
long_texts = st.text("aé x", min_size=200, max_size=210)
chunks = st.lists(st.lists(st.sampled_from([*WORDS, "NAN", "é"]) | long_texts, max_size=5), max_size=3)


@given(chunks, st.integers(0, 4), st.sampled_from([pa.string(), pa.large_string()]))
def test_bytes_answer_for_texts(rows, start, kind):
    column = pa.chunked_array([pa.array(chunk, kind) for chunk in rows], kind).slice(start)
    found = column.to_pylist()
    known = surely_lacks(column, WORDS)
    assert not (known and set(found) & set(WORDS))
    if found and all(len(text) >= 200 for text in found):
        assert known, "long texts are told apart from short words"
    assert may_hold_bytes(column, b"xN") == any({"x", "N"} & set(text) for text in found)
