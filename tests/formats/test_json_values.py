"""JSON: what goes in comes out, wherever blocks, pieces and files begin and end."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import json
import lzma
import math
import struct
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.formats import loaded

from crucible_datasets import (
    ClassLabel,
    Features,
    LargeList,
    List,
    Value,
    disable_caching,
    enable_caching,
    load_dataset,
)
from crucible_datasets.exceptions import DatasetsError
from crucible_datasets.formats.json import FORMAT
from crucible_datasets.reading import blockshards

WORDS = [
    "",
    "é",
    "日本",
    "😀",
    "42",
    "-0",
    "null",
    "true",
    "[1]",
    '{"a": 1}',
    '"x"',
    '\\"k":',
    '"k":',
    "\x00",
    "\u2028",
]
DATES = ["2020-01-01", "2020-01-01T10:00:00", "2020-01-01 10:00", "0001-01-01"]
NEAR_DATES = ["2020-01-01T10:00:00Z", "2020-01-01T10:00:00.5", "2020-01-01T10:00+01:00", "T10-0500", "2020-13-01"]
INTEGERS = [0, 1, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, 10**22, -(10**30)]
FLOATS = [0.0, -0.0, 0.1, 2.5, 1e16, -1e300, 5e-324, 7.0]

texts = st.sampled_from(WORDS + NEAR_DATES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(INTEGERS),
    st.sampled_from(FLOATS),
    texts,
    st.sampled_from(DATES),
)
keys = st.sampled_from(["k", "l", 'a"k', "é"])
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=5
)
# A column is often of one type and then, in some row, of another.
types = [
    st.sampled_from(INTEGERS[:6]),
    st.sampled_from(INTEGERS),
    st.sampled_from(FLOATS),
    st.sampled_from([*FLOATS, *INTEGERS[:8]]),
    texts,
    st.sampled_from(DATES),
    st.lists(st.sampled_from(DATES), max_size=2),
    st.fixed_dictionaries({"k": st.sampled_from(DATES), "l": st.none() | st.sampled_from(FLOATS)}),
    st.fixed_dictionaries({"l": st.sampled_from([None, 1]), "k": texts}),
    st.fixed_dictionaries({"k": texts}, optional={"l": leaves}),
    st.lists(st.fixed_dictionaries({"k": texts, "l": st.dictionaries(keys, leaves, max_size=2)}), max_size=2),
    values,
]
columns = st.sampled_from(types).flatmap(
    lambda usual: st.sampled_from(types).flatmap(
        lambda later: st.tuples(
            st.lists(st.none() | usual, min_size=1, max_size=8), st.lists(usual | later, min_size=1, max_size=4)
        ).map(lambda parts: parts[0] + parts[1])
    )
)


@st.composite
def rows(draw: Any) -> list[dict[str, Any]]:
    first, second = draw(columns), draw(columns)
    size = min(len(first), len(second))
    made = [{"a": first[row], "b": second[row]} for row in range(size)]
    for row in made:
        if draw(st.integers(0, 5)) == 0:
            del row[draw(st.sampled_from(["a", "b"]))]
        elif draw(st.booleans()):
            row["b"] = row.pop("b")
    return [row or {"a": 0} for row in made]


def lines(rows: list[dict[str, Any]], last: str = "\n") -> bytes:
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + last
    return text.encode()


def same(value: Any, original: Any) -> bool:
    """Whether a value is the original one: dates may be times, integers may be equal doubles, nothing else changes."""
    if isinstance(value, dt.datetime) and isinstance(original, str):
        return value == dt.datetime.fromisoformat(original) and value.tzinfo is None
    if isinstance(value, float) and isinstance(original, int) and not isinstance(original, bool):
        return int(value) == original and math.copysign(1, value) == (-1 if original < 0 else 1)
    if type(value) is not type(original):
        return False
    if isinstance(value, float):
        return struct.pack("d", value) == struct.pack("d", original)
    if isinstance(value, dict):
        return value.keys() == original.keys() and all(same(item, original[key]) for key, item in value.items())
    if isinstance(value, list):
        return len(value) == len(original) and all(map(same, value, original))
    return bool(value == original)


def require_same(table: dict[str, list[Any]], rows: list[dict[str, Any]]) -> None:
    assert table.keys() == {key for row in rows for key in row}
    for name, column in table.items():
        for value, row in zip(column, rows, strict=True):
            assert same(value, row.get(name)), (name, value, row.get(name))


ROWS_THAT_CHANGED_ONCE = [
    [{"a": {"k": "q"}}] * 5 + [{"a": {"l": "q"}}],
    [{"a": {"k": "good", "l": "bad"}}] * 3 + [{"a": {"l": "bad", "k": "good"}}],
    [{"a": "text"}] * 3 + [{"a": ["list"]}, {"a": {"k": 1}}],
    [{"a": 2**64 - 1}, {"a": "text"}, {"a": 10**22}],
    [{"a": True}, {"a": 2.5}],
    [{"a": 7}, {"a": 2.5}],
    [{"a": 2**53 + 1}, {"a": 2.5}],
    [{"a": "2020-01-01"}] * 3 + [{"a": "soon"}],
    [{"a": "2020-01-01"}, {"a": 1}],
    [{"a": [{"k": "2020-01-01"}]}, {"a": [{"k": "soon"}]}, {"a": [{"l": 1}]}],
    [{"a": "2020-01-01T10:00:00+01:00"}, {"a": "2020-01-01"}],
    [{"a": "2"}, {"a": 2}],
    [{"a": {}}, {"a": {}}],
    [{"a": {'a"k': 1, "k": None}}, {"a": {'a"k': 1}}],
]


@pytest.mark.parametrize("original", ROWS_THAT_CHANGED_ONCE, ids=lambda rows: json.dumps(rows[-2:])[:40])
def test_values_that_changed_once_stay_as_they_are(original):
    for last in ("\n", ""):
        text = lines(original, last)
        whole = loaded(FORMAT, text)
        require_same(whole[1], original)
        for options in ({"chunksize": 20}, {"chunksize": 20, "use_threads": False}, {"block_size": 10}):
            assert loaded(FORMAT, text, **options) == whole


@settings(max_examples=150, deadline=None)
@given(rows(), st.integers(1, 120), st.integers(1, 60), st.sampled_from(["\n", "", "\r\n", "\n\n"]), st.booleans())
def test_values_and_types_do_not_depend_on_blocks(original, chunksize, block_size, last, use_threads):
    text = lines(original, last)
    features, table = loaded(FORMAT, text, use_threads=False)
    require_same(table, original)
    pieces = {"chunksize": chunksize, "block_size": block_size, "use_threads": use_threads}
    for other in (text, json.dumps(original).encode()):
        features_of_pieces, table_of_pieces = loaded(FORMAT, other, **pieces)
        assert features_of_pieces == features
        require_same(table_of_pieces, original)


PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@settings(max_examples=30, deadline=None)
@given(rows(), st.data())
def test_values_and_types_do_not_depend_on_files(tmp_path_factory, original, data):
    folder = tmp_path_factory.mktemp("files")
    cuts = sorted({0, len(original), *data.draw(st.lists(st.integers(0, len(original)), max_size=2))})
    packed = data.draw(st.sampled_from(sorted(PACKED)))
    paths = []
    for number, (start, stop) in enumerate(pairwise(cuts)):
        paths.append(folder / f"{number}.jsonl{packed}")
        paths[-1].write_bytes(PACKED[packed](lines(original[start:stop], data.draw(st.sampled_from(["\n", ""])))))
    (folder / "all.jsonl").write_bytes(lines(original))
    how = data.draw(st.sampled_from([{}, {"keep_in_memory": True}, {"num_proc": 2}]))
    cache = str(folder / "cache")
    single = load_dataset("json", data_files=str(folder / "all.jsonl"), split="train", cache_dir=cache)
    require_same(single[:], original)
    if data.draw(st.booleans()):
        disable_caching()
    try:
        split = load_dataset("json", data_files=[*map(str, paths)], split="train", cache_dir=cache, **how)
    finally:
        enable_caching()
    require_same(split[:], original)
    assert split.features == single.features


@settings(max_examples=40, deadline=None)
@given(rows(), st.integers(10, 200), st.sampled_from(["\n", ""]))
def test_a_stream_gives_the_values_or_an_error(tmp_path_factory, original, size, last):
    path = tmp_path_factory.mktemp("stream") / "data.jsonl"
    path.write_bytes(lines(original, last))
    whole = load_dataset("json", data_files=str(path), split="train", streaming=True)
    stream = list(whole)
    for row, expected in zip(stream, original, strict=True):
        assert all(same(value, expected.get(name)) for name, value in row.items())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blockshards, "BLOCK", size)
        read = []
        try:
            read.extend(load_dataset("json", data_files=str(path), split="train", streaming=True))
        except DatasetsError as error:
            assert "data.jsonl" in str(error)
            assert len(read) < len(original)
        for row, expected in zip(read, original, strict=False):
            assert all(same(value, expected.get(name)) for name, value in row.items())


def test_the_types_of_a_block_do_not_depend_on_where_its_last_record_ends(tmp_path):
    rows = [{"a": None}] * 9 + [{"a": "2020-01-01"}, {"a": 1}]
    path = tmp_path / "data.jsonl"
    path.write_bytes(lines(rows))
    for chunksize in (1, 20, 1000):
        stream = load_dataset("json", data_files=str(path), split="train", streaming=True, chunksize=chunksize)
        assert list(stream) == rows


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(
    ("text", "feature", "expected"),
    [
        ('"2020-01-01"', Value("large_string"), "2020-01-01"),
        ('{"x": null, "y": "2020-01-01"}', {"x": Value("null"), "y": Value("string")}, {"x": None, "y": "2020-01-01"}),
        ('["2020-01-01"]', LargeList(Value("string")), ["2020-01-01"]),
        ('"2020-01-01"', ClassLabel(names=["x", "2020-01-01"]), 1),
        ('"2020-01-01"', Value("date32"), dt.date(2020, 1, 1)),
        ("99999999999999999.99", Value("decimal128(25, 2)"), Decimal("99999999999999999.99")),
        ('{"x": 0.10}', {"x": Value("decimal128(25, 2)")}, {"x": Decimal("0.10")}),
        ("99999999999999999999", Value("decimal128(25, 2)"), Decimal("99999999999999999999.00")),
        ("0.555", Value("decimal128(25, 2)"), None),
        ("9007199254740993", Value("float64"), None),
        ('"2020-01-01T10:00:00+02:00"', Value("timestamp[s]"), None),
        ('{"x": 1, "y": 2}', {"x": Value("int64")}, None),
        (
            '{"x": {"k": 1}, "y": [true]}',
            {"x": Value("string"), "y": List(Value("string"))},
            {"x": '{"k":1}', "y": ["true"]},
        ),
        (
            '{"x": 1.0, "t": "2020-01-01"}',
            {"x": Value("string"), "t": Value("date32")},
            {"x": "1.0", "t": dt.date(2020, 1, 1)},
        ),
        (
            '{"x": [2], "t": "2020-01-01"}',
            {"x": Value("string"), "t": Value("date32")},
            {"x": "[2]", "t": dt.date(2020, 1, 1)},
        ),
        (
            f'{{"x": {2**64 - 1}, "t": "2020-01-01"}}',
            {"x": Value("uint64"), "t": Value("date32")},
            {"x": 2**64 - 1, "t": dt.date(2020, 1, 1)},
        ),
    ],
)
def test_declared_types_get_what_is_written_or_the_error_names_the_row(tmp_path, text, feature, expected, streaming):
    for number, layout in enumerate(['{{"a": null}}\n{{"a": {0}}}', '[{{"a": null}}, {{"a": {0}}}]']):
        path = tmp_path / f"{number}.json"
        path.write_text(layout.format(text))
        options = {"split": "train", "features": Features({"a": feature}), "streaming": streaming}
        if expected is None:
            with pytest.raises(DatasetsError, match=rf"{number}\.json.*row 1") as caught:
                list(load_dataset("json", data_files=str(path), **options))
            assert "'a'" in str(caught.value)
        else:
            assert list(load_dataset("json", data_files=str(path), **options)) == [{"a": None}, {"a": expected}]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("first", ["NaN", '"t"'])
def test_nan_is_no_text_and_infinity_is_not_null(tmp_path, first, streaming):
    values = [first, "NaN", "-Infinity", "[NaN,1]", '{"x":Infinity}', "null"]
    (tmp_path / "a.jsonl").write_text("".join(f'{{"a": {value}}}\n' for value in values))
    options = {"split": "train", "features": Features({"a": Value("string")}), "streaming": streaming}
    read = [row["a"] for row in load_dataset("json", data_files=str(tmp_path / "a.jsonl"), **options)]
    assert read == [None if first == "NaN" else "t", None, "-Infinity", "[NaN,1]", '{"x":Infinity}', None]


@pytest.mark.parametrize("text", ['{"a": 1}\n{"\\ud800": 1}', '[{"\\ud800": [1]}]', '{"a": {"\\ud800": 1}}'])
def test_a_key_that_utf8_has_no_form_for_is_an_error_that_names_the_file(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    for streaming in (False, True):
        with pytest.raises(DatasetsError, match=r"a\.json"):
            list(load_dataset("json", data_files=str(path), split="train", streaming=streaming))


@pytest.mark.parametrize("how", [{}, {"keep_in_memory": True}, {"num_proc": 2}, {"streaming": True}])
@pytest.mark.parametrize("texts", [("{}\n{}\n", '{"a":1}\n'), ("[{},{}]", '[{"a":1}]'), ('{"a":1}\n', "{}\n{}\n")])
def test_rows_without_keys_count_beside_files_with_columns(tmp_path, texts, how):
    for name, text in zip("bc", texts, strict=True):
        (tmp_path / f"{name}.json").write_text(text)
    paths = [str(tmp_path / f"{name}.json") for name in "bc"]
    result = load_dataset("json", data_files=paths, split="train", cache_dir=str(tmp_path / "cache"), **how)
    values = [row.get("a") for row in result]
    assert values == ([1, None, None] if texts[0].startswith('{"a"') else [None, None, 1])
