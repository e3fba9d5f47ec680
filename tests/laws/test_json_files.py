"""What is in a JSON file comes out, however it is cut into files and read in blocks."""

from __future__ import annotations

import json

import pytest
from hypothesis import strategies as st

from crucible_datasets import Features, Json, Value
from crucible_datasets.exceptions import DatasetsError, StreamTypeError
from crucible_datasets.features.types import with_leaves
from crucible_datasets.reading import blockshards
from laws import equality, values
from laws.law import law
from laws.ways import CONSTRUCTORS, json_files

_BLOCKS = st.sampled_from([None, 1, 20, 100, 1000, 10_000])


@st.composite
def rows_and_files(draw, number=1, leaves=values.ODD_JSON_LEAVES, mixed=True):
    rows = draw(values.rows(leaves, mixed=mixed and draw(st.booleans())))
    text = json.dumps([row for row, _ in rows.runs], ensure_ascii=False)
    return rows, *(draw(json_files(rows, has_surrogates=not equality.is_utf8(text))) for _ in range(number))


def _columns(source):
    return list(dict.fromkeys(name for row in source for name in row))


def _read(stream, source, files, size):
    """The rows of a stream whose blocks have this size, up to an error, and the error."""
    rows = []
    with pytest.MonkeyPatch.context() as patch:
        if size is not None:
            patch.setattr(blockshards, "BLOCK", max(size, files.size_of(source) // 300))
        try:
            rows.extend(stream)
        except DatasetsError as error:
            return rows, error
    return rows, None


@law(examples=15, weight=3, case=rows_and_files())
def test_json_files_give_back_their_rows(case, folder):
    rows, files = case
    source = rows.list()
    equality.same(source, files.load(source, folder).to_list())


@law(examples=10, weight=2, case=rows_and_files(number=2))
def test_json_values_and_types_do_not_depend_on_blocks_files_and_layout(case, folder):
    rows, first, second = case
    source = rows.list()
    expected = first.load(source, f"{folder}/first")
    result = second.load(source, f"{folder}/second")
    equality.same(expected.to_list(), result.to_list())
    assert result.features == expected.features


@law(examples=15, weight=3, case=rows_and_files(), size=_BLOCKS)
def test_a_stream_of_json_gives_the_rows_or_says_how_to_read_them(case, size, folder):
    rows, files = case
    source = rows.list()
    result, error = _read(files.load(source, folder, streaming=True), source, files, size)
    source = source[: len(result)] if error else source
    # A column that is null from its first row on is not in the rows of a stream that began without it.
    expected = [
        {name: value for name, value in row.items() if value is not None or name in shown}
        for row, shown in zip(source, result, strict=True)
    ]
    equality.same(expected, result)
    if error is not None:
        assert isinstance(error, StreamTypeError), f"{type(error).__name__}: {error}"
        for fact in (".json", f"row {error.row}", repr(error.column), f"features={{…, {error.column!r}: "):
            assert fact in str(error), f"{fact} is not in {error}"


@law(examples=15, weight=2, case=rows_and_files(), size=_BLOCKS, streaming=st.booleans())
def test_json_columns_hold_every_json_value(case, size, streaming, folder):
    rows, files = case
    source = rows.list()
    features = Features(dict.fromkeys(_columns(source), Json()))
    result, error = _read(files.load(source, folder, streaming=streaming, features=features), source, files, size)
    if error is not None:
        raise error
    equality.same([{name: row.get(name) for name in features} for row in source], result, {})


_NO_STREAMS = sorted(name for name in CONSTRUCTORS if "stream" not in name)


def _with_text_for_times(feature):
    return with_leaves(feature, lambda leaf: Value("string") if "timestamp" in str(leaf) else leaf)


@law(
    examples=20,
    weight=2,
    case=rows_and_files(leaves=values.JSON_LEAVES, mixed=False),
    constructor=st.sampled_from(_NO_STREAMS),
)
def test_constructors_agree_with_the_json_reader(case, constructor, folder):
    rows, files = case
    source = rows.list()
    try:
        expected = CONSTRUCTORS[constructor](source)
    except DatasetsError:
        return  # types without a common one, which the reader of JSON makes Json
    result = files.load(source, folder)
    equality.same(expected.to_list(), result.to_list())
    assert {name: _with_text_for_times(feature) for name, feature in result.features.items()} == expected.features


@law(examples=15, case=rows_and_files(), number=st.integers(0, 5), streaming=st.booleans())
def test_requested_columns_of_json_are_those_of_all_columns(case, number, streaming, folder):
    rows, files = case
    source = rows.list()
    names = list(dict.fromkeys([_columns(source)[number % len(_columns(source))], _columns(source)[-1]]))
    result, error = _read(files.load(source, folder, columns=names, streaming=streaming), source, files, None)
    expected = [{name: row.get(name) for name in names} for row in source]
    equality.same(expected[: len(result)] if error else expected, result)
    assert error is None or (streaming and isinstance(error, StreamTypeError)), f"{type(error).__name__}: {error}"
