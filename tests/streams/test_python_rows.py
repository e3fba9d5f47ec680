"""Rows of tar shards that become Python without Arrow are those that Arrow gives, to the type."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.packed import tar_of

from crucible_datasets import load_dataset
from crucible_datasets.reading import tarshards
from crucible_datasets.streams.python_rows import ReadyRows

leaves = st.one_of(st.integers(-(2**65), 2**65), st.integers(-3, 3), st.floats(allow_nan=False), st.booleans())
texts = st.one_of(st.none(), st.text(max_size=3))
values = st.one_of(leaves, texts, st.lists(st.integers(-3, 3), max_size=2))
objects = st.one_of(
    st.fixed_dictionaries({"a": st.integers(-3, 3), "b": texts, "c": st.lists(texts, max_size=2)}),
    st.fixed_dictionaries({"a": leaves, "b": texts}),
    st.fixed_dictionaries({"a": st.integers(-3, 3), "b": st.fixed_dictionaries({"c": values})}),
    st.dictionaries(st.sampled_from("abc"), values, max_size=3),
)
samples = st.fixed_dictionaries(
    {"json": objects.map(lambda value: json.dumps(value).encode())},
    optional={
        "txt": st.text(max_size=3).map(str.encode),
        "cls": st.integers(0, 9).map(b"%d".__mod__),
        "bin": st.binary(max_size=3),
    },
)
shards = st.lists(st.lists(samples, min_size=2, max_size=3), min_size=1, max_size=3)


def stream_of(folder):
    return load_dataset("webdataset", data_files=f"{folder}/*.tar", split="train", streaming=True)


def outcome(make):
    """All rows of a stream, with their types; or the kind of the error."""
    try:
        return repr([list(row.items()) for row in make()])
    except Exception as error:
        return type(error)


def by_arrow(monkeypatch, make):
    with monkeypatch.context() as patch:
        patch.setattr(tarshards, "python_rows", lambda *_: None)
        return outcome(make)


@given(shards)
@settings(max_examples=25, deadline=None)
def test_rows_are_those_that_arrow_gives(tmp_path_factory, shards):
    folder = tmp_path_factory.mktemp("shards")
    for number, several in enumerate(shards):
        members = [
            (f"{number}-{key}.{name}", data) for key, files in enumerate(several) for name, data in files.items()
        ]
        (folder / f"{number}.tar").write_bytes(tar_of(members))
    with pytest.MonkeyPatch.context() as patch:
        for change in (lambda stream: stream, lambda stream: stream.select_columns(["__key__", "json"]).skip(1)):
            assert outcome(lambda: change(stream_of(folder))) == by_arrow(patch, lambda: change(stream_of(folder)))


def test_media_that_only_some_shards_have_are_none_in_the_others(tmp_path):
    for number, kinds in enumerate((("png", "txt"), ("txt",))):
        members = [(f"{number}-{row}.{kind}", b"x") for row in range(2) for kind in kinds]
        (tmp_path / f"{number}.tar").write_bytes(tar_of(members))
    rows = list(stream_of(tmp_path).decode(False))
    assert [row["png"] and row["png"]["bytes"] for row in rows] == [b"x", b"x", None, None]
    assert [row["png"] for row in stream_of(tmp_path).skip(2)] == [None, None]


def test_the_same_batch_gives_rows_parts_columns_and_arrow(tmp_path):
    members = [
        (f"{n:03}.{kind}", data) for n in range(250) for kind, data in (("json", b'{"n": %d}' % n), ("txt", b"x"))
    ]
    (tmp_path / "a.tar").write_bytes(tar_of(members))
    stream = stream_of(tmp_path)
    expected = outcome(lambda: stream.with_format("arrow").map(lambda table: table).with_format(None))
    ready = [batch for _, batch in stream._stream.stage.batches()]
    assert all(isinstance(batch, ReadyRows) for batch in ready)
    assert repr([list(row.items()) for batch in ready for row in batch.slice(0).slice(0, 10**6).rows()]) == expected
    # Rows are given away once; what comes later is made of Arrow, and the same.
    assert repr([list(row.items()) for batch in ready for row in batch.rows()]) == expected
    changes = [
        lambda stream: stream.select_columns(["txt", "json"]),
        lambda stream: stream.remove_columns(["json", "__url__"]),
        lambda stream: stream.rename_column("txt", "text").take(120),
        lambda stream: stream.shuffle(seed=3, buffer_size=20),
        lambda stream: stream.batch(7),
        lambda stream: stream.map(lambda row: {"m": row["json"]["n"] + 1}).filter(lambda row: row["m"] % 3),
        lambda stream: stream.map(lambda batch: {"k": batch["__key__"]}, batched=True, remove_columns=["json"]),
        lambda stream: stream.with_format("numpy"),
    ]
    for change in changes:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tarshards, "python_rows", lambda *_: None)
            by_arrow = outcome(lambda: change(stream_of(tmp_path)))
        assert outcome(lambda: change(stream_of(tmp_path))) == by_arrow
