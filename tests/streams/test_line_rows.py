"""Rows of JSON Lines that become Python without Arrow are those that Arrow gives, to the type, whoever asks for what."""

from __future__ import annotations

import json
from itertools import islice
from operator import methodcaller

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets import config, load_dataset
from crucible_datasets.exceptions import LimitExceededError
from crucible_datasets.formats.json.typed_lines import TypedLines
from crucible_datasets.reading import blockshards, linerows
from crucible_datasets.streams.python_rows import ReadyRows

numbers = st.one_of(st.integers(-3, 3), st.floats(allow_nan=False, allow_infinity=False), st.just("-0"))
texts = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=3))
messages = st.lists(st.fixed_dictionaries({"role": texts, "n": st.integers(-3, 3)}), max_size=2)
usual = st.fixed_dictionaries({"s": texts, "f": st.floats(-2, 2)}, optional={"m": messages, "i": st.integers(0, 9)})
unusual = st.one_of(
    st.fixed_dictionaries({"s": texts, "f": numbers, "i": st.integers(-(2**65), 2**65)}),
    st.fixed_dictionaries({"f": st.floats(-2, 2), "s": texts, "m": st.none()}),
    st.fixed_dictionaries({"s": st.one_of(texts, st.integers(0, 9)), "m": st.lists(st.none(), max_size=2)}),
    st.fixed_dictionaries({"m": st.just([{"role": "a"}]), "new": texts}),
)
files = st.tuples(st.lists(usual, min_size=2, max_size=6), st.lists(st.one_of(usual, usual, unusual), max_size=8))


def lines_of(rows):
    return "".join(json.dumps(row).replace('"-0"', "-0") + "\n" for row in rows)


def stream_of(path, **options):
    return load_dataset("json", data_files=str(path), split="train", streaming=True, **options)


def outcome(path, then=lambda stream: stream):
    """All rows, with their types, before the error, and its kind."""
    rows = []
    try:
        rows.extend(list(row.items()) for row in then(stream_of(path)))
    except Exception as error:
        return repr(rows), type(error)
    return repr(rows), None


@settings(max_examples=12, deadline=None)
@given(files, st.integers(1, 7))
def test_rows_are_those_that_arrow_gives(tmp_path_factory, rows, batch_size):
    path = tmp_path_factory.mktemp("lines") / "data.jsonl"
    path.write_text(lines_of(rows[0] + rows[1]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linerows, "_PIECE", 60)
        in_batches = methodcaller("batch", batch_size)
        found, batches = outcome(path), outcome(path, in_batches)
        patch.setattr(TypedLines, "is_possible", False)
        assert found == outcome(path)
        assert batches == outcome(path, in_batches)


@settings(max_examples=12, deadline=None)
@given(files, st.integers(60, 900), st.data())
def test_it_does_not_matter_who_wants_arrow_and_where_one_goes_on(tmp_path_factory, rows, size, data):
    path = tmp_path_factory.mktemp("lines") / "data.jsonl"
    path.write_text(lines_of(rows[0] + rows[0] + rows[1]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linerows, "_PIECE", 60)
        patch.setattr(blockshards, "BLOCK", size)
        whole = outcome(path)
        if whole[1] is None:
            stream = stream_of(path)
            before = list(islice(stream, data.draw(st.integers(0, len(rows[0]) * 2 + len(rows[1])))))
            resumed = stream_of(path)
            resumed.load_state_dict(stream.state_dict())
            assert repr([list(row.items()) for row in [*before, *resumed]]) == whole[0]
        wanted = property(lambda rows: True, lambda rows, value: None)
        patch.setattr(linerows.LineRows, "is_arrow_wanted", wanted, raising=False)
        assert outcome(path) == whole


def test_arrow_is_read_from_where_it_is_wanted(tmp_path, monkeypatch):
    monkeypatch.setattr(linerows, "_PIECE", 60)
    monkeypatch.setattr(blockshards, "BLOCK", 2000)
    monkeypatch.setattr(config, "STREAMING_PREFETCH_BATCHES", 0)
    made, init = [], ReadyRows.__init__
    monkeypatch.setattr(
        ReadyRows, "__init__", lambda self, rows, *more: made.append(len(rows)) or init(self, rows, *more)
    )
    path = tmp_path / "data.jsonl"
    path.write_text(lines_of({"s": f"text {number}", "f": 0.5} for number in range(500)))
    assert len(list(stream_of(path))) == 500
    assert sum(made) >= 500  # all of them, some as parts of others
    made.clear()
    assert len(list(stream_of(path).batch(7))) == 72
    assert sum(made) < 20


def test_what_looks_like_a_date_only_later_stays_text(tmp_path, monkeypatch):
    monkeypatch.setattr(blockshards, "BLOCK", 50)
    texts = ["no date", "neither this", *["2024-05-01T10:00:00Z"] * 20]
    path = tmp_path / "data.jsonl"
    path.write_text(lines_of({"s": text} for text in texts))
    assert [row["s"] for row in stream_of(path)] == texts
    assert [text for batch in stream_of(path).batch(4) for text in batch["s"]] == texts


def test_a_limit_of_depth_still_holds(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text(lines_of([{"m": [[["a"]]]}] * 3))
    assert list(stream_of(path, max_depth=4)) == [{"m": [[["a"]]]}] * 3
    with pytest.raises(LimitExceededError):
        list(stream_of(path, max_depth=3))
