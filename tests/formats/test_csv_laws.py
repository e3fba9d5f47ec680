"""What a CSV file holds does not depend on how it is cut into blocks and files, or on how it is read."""

from __future__ import annotations

import csv as standard
import datetime as dt
import decimal
import gzip
import io
import itertools
import json
import math
import zoneinfo

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crucible_datasets as ours
from crucible_datasets.exceptions import StreamTypeError
from crucible_datasets.formats import csv
from crucible_datasets.formats.csv import FORMAT
from crucible_datasets.formats.csv_types import MISSING
from crucible_datasets.reading import blockshards

INTEGERS = ["1", "008", "-3", "9007199254740993", str(2**64 - 1), str(10**22), "+5", " 7"]
NUMBERS = ["0.5", "-0.0", "99999999999999999.99", "1e5", "inf", "0.1000000000000000055511151231257827"]
WORDS = ["", "NA", "nan", "null", "True", "false"]
TEXTS = [
    "x",
    " x ",
    "a,b",
    'say "hi"',
    "two\nlines",
    "two\r\nlines",
    "\r",
    "2020-01-01",
    "né",
    "日本語",
    "👩‍👩‍👧",
    "{}",
    "\ufeffx",
]
columns = st.sampled_from([INTEGERS, NUMBERS, WORDS, TEXTS, INTEGERS[:2] + WORDS[:2], INTEGERS + NUMBERS])
cells = st.one_of(columns, st.just([*INTEGERS, *NUMBERS, *WORDS, *TEXTS])).flatmap(st.sampled_from)


@st.composite
def tables(draw) -> list[list[str]]:
    """Rows of two cells, of which the first column mostly has one kind of text."""
    kind = draw(columns)
    return draw(st.lists(st.tuples(st.sampled_from(kind) | cells, cells).map(list), max_size=12))


def as_text(rows: list[list[str]], line_end: str = "\n", last: bool = True) -> str:
    stream = io.StringIO()
    writer = standard.writer(stream, lineterminator=line_end, quoting=standard.QUOTE_ALL)
    writer.writerows([["a", "b"], *rows])
    return stream.getvalue() if last else stream.getvalue().removesuffix(line_end)


def seen(rows) -> str:
    """Values with their types, and signs of zeros."""
    return repr([list(row.items()) for row in rows])


def alike(value: object) -> object:
    """A value in the form that an integer and the equal float share."""
    if not isinstance(value, float):
        return value
    return int(value) if value.is_integer() and (value or math.copysign(1, value) > 0) else repr(value)


def same_values(rows) -> list[dict]:
    return [{name: alike(value) for name, value in row.items()} for row in rows]


def load(folder, texts: list[str], packed: bool = False, **options):
    paths = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.csv{'.gz' if packed else ''}"
        path.write_bytes(gzip.compress(text.encode(), mtime=0) if packed else text.encode())
        paths.append(str(path))
    options = options if options.get("streaming") else {"keep_in_memory": True, **options}
    return ours.load_dataset("csv", data_files=paths, split="train", **options)


line_ends = st.sampled_from(["\n", "\r\n", "\r"])


@settings(deadline=None)
@given(tables(), line_ends, st.booleans(), st.integers(20, 200), st.integers(1, 5))
def test_rows_depend_neither_on_blocks_nor_on_the_last_newline(rows, line_end, last, size, chunksize):
    def read(text: str, **options):
        found = list(FORMAT.rows(io.BytesIO(text.encode()), **options))
        return pa.concat_tables(found, promote_options="permissive")

    whole = read(as_text(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv, "_BLOCK", size)
        patch.setattr(csv, "_PIECE", size)
        cut = read(as_text(rows, line_end, last), chunksize=chunksize)
    assert cut.schema == whole.schema and seen(cut.to_pylist()) == seen(whole.to_pylist())


@settings(deadline=None)
@given(tables(), st.data(), line_ends, st.booleans(), st.booleans())
def test_rows_do_not_depend_on_how_they_are_cut_into_files(tmp_path_factory, rows, data, line_end, last, packed):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    parts = [rows[start:stop] for start, stop in itertools.pairwise([0, *cuts, len(rows)])]
    folder = tmp_path_factory.mktemp("parts")
    whole = load(folder, [as_text(rows)])
    cut = load(folder, [as_text(part, line_end, last) for part in parts], packed)
    assert same_values(cut) == same_values(whole)


@settings(deadline=None)
@given(tables(), st.data(), st.booleans(), st.booleans(), st.integers(1, 60))
def test_a_stream_has_the_values_that_are_loaded_or_names_the_row_at_fault(
    tmp_path_factory, rows, data, last, packed, size
):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    parts = [as_text(rows[start:stop], last=last) for start, stop in itertools.pairwise([0, *cuts, len(rows)])]
    folder = tmp_path_factory.mktemp("parts")
    expected = same_values(load(folder, parts, packed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blockshards, "BLOCK", size)
        stream = load(folder, parts, packed, streaming=True)
        read, states, error = [], [], None
        try:
            for row in stream:
                read.append(row)
                states.append(json.loads(json.dumps(stream.state_dict())))
        except StreamTypeError as caught:
            error = caught
        for number in range(0, len(states), 3):  # every reader sees the same types, wherever it begins
            again = load(folder, parts, packed, streaming=True)
            again.load_state_dict(states[number])
            rest = []
            try:
                rest.extend(again)
            except StreamTypeError as caught:
                assert str(caught) == str(error)
            assert seen(rest) == seen(read[number + 1 :])
    if error is None:
        assert same_values(read) == expected
        return
    part = next(number for number in range(len(parts)) if f"{number}.csv" in error.path)
    assert [0, *cuts][part] + error.row == len(read)
    assert error.column in ("a", "b") and "features={" in str(error)


D = decimal.Decimal
PARIS = zoneinfo.ZoneInfo("Europe/Paris")
moments = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30))
HELD = {
    "bool": st.booleans(),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "float64": st.floats(allow_nan=False),
    "float32": st.floats(allow_nan=False, width=32),
    "float16": st.floats(allow_nan=False, width=16),
    "decimal128(38, 10)": st.decimals(D(-(10**20)), D(10**20), places=10),
    "date32": st.dates(),
    "timestamp[s]": moments.map(lambda moment: moment.replace(microsecond=0)),
    "timestamp[us]": moments,
    "timestamp[us, tz=Europe/Paris]": st.datetimes(
        dt.datetime(1950, 1, 1), dt.datetime(2037, 1, 1), timezones=st.just(PARIS)
    ),
    "time64[us]": st.times(),
    "duration[us]": st.timedeltas(dt.timedelta(-(10**5)), dt.timedelta(10**5)),
    "string": st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: text not in MISSING),
}
FEATURES = {dtype: ours.Value(dtype) for dtype in HELD} | {
    "labels": ours.ClassLabel(names=["1", "0", "NA", "", "x,y"]),
    "json": ours.Json(),
}
HELD |= {
    "labels": st.integers(-1, 4),
    "json": st.recursive(
        st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
        max_leaves=4,
    ),
}


@pytest.mark.parametrize("name", HELD)
@given(st.data())
def test_what_is_written_is_read_back_with_its_features(tmp_path_factory, name, data):
    values = data.draw(st.lists(st.none() | HELD[name], max_size=5))
    features = ours.Features({"a": FEATURES[name], "n": ours.Value("int64")})
    written = ours.Dataset.from_dict({"a": values, "n": range(len(values))}, features=features)
    path = str(tmp_path_factory.mktemp("csv") / "data.csv")
    written.to_csv(path)
    for streaming in (False, True):
        read = ours.load_dataset(
            "csv",
            data_files=path,
            split="train",
            features=features,
            streaming=streaming,
            **({} if streaming else {"keep_in_memory": True}),
        )
        assert seen(read) == seen(written)


@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(MISSING), max_size=5))
def test_a_word_for_nulls_tells_them_from_empty_texts_and_words(tmp_path_factory, values):
    features = ours.Features({"a": ours.Value("string")})
    path = str(tmp_path_factory.mktemp("csv") / "data.csv")
    ours.Dataset.from_dict({"a": values}, features=features).to_csv(path, na_rep="<null>")
    options = {"na_values": ["<null>"], "keep_default_na": False, "features": features}
    assert ours.load_dataset("csv", data_files=path, split="train", keep_in_memory=True, **options)["a"][:] == values
