"""Files are shared out so that processes have equally much to do, and may differ in their columns."""

import json
import zipfile

import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.packed import tar_of

from crucible_datasets import Dataset, Features, Value, load_dataset
from crucible_datasets.exceptions import ArgumentError, ColumnNotFoundError
from crucible_datasets.formats.base import Format
from crucible_datasets.reading.convert import shared_out
from crucible_datasets.reading.files import DataFile


@given(sizes=st.lists(st.integers(0, 100), min_size=1, max_size=12), parts=st.integers(1, 6))
def test_every_file_goes_to_one_process_in_order(sizes, parts):
    files = [DataFile(str(number), size, (number,)) for number, size in enumerate(sizes)]
    runs = shared_out(files, parts)
    assert [file for run in runs for file in run] == files
    assert len(runs) <= parts
    assert all(runs)


def test_large_files_stand_alone():
    files = [DataFile(str(size), size, (size,)) for size in (100, 3, 3, 3, 91)]
    assert [[file.size for file in run] for run in shared_out(files, 2)] == [[100], [3, 3, 3, 91]]


ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": None}]
HOW = {"files": {}, "memory": {"keep_in_memory": True}, "stream": {"streaming": True}}


@pytest.fixture(params=["parquet", "json", "csv", "arrow", "webdataset", "packed parquet"])
def uneven(request, tmp_path):
    """How to load two files of which one lacks column `b`, and whether the first of them does."""
    kind = request.param.split()[-1]
    some, others = Dataset.from_list(ROWS[:2]), Dataset.from_dict({"a": [3]})
    for number, part in enumerate((some, others)):
        path = tmp_path / f"{number}.{'tar' if kind == 'webdataset' else kind}"
        if kind == "webdataset":
            path.write_bytes(
                tar_of((f"{row['a']}.{name}.json", json.dumps(row[name]).encode()) for row in part for name in row)
            )
        else:
            getattr(part, f"to_{kind}")(str(path))
        if request.param.startswith("packed"):
            with zipfile.ZipFile(f"{path}.zip", "w") as archive:
                archive.write(path, path.name)

    def load(order, **asked):
        end = "tar" if kind == "webdataset" else f"{kind}.zip" if request.param.startswith("packed") else kind
        files = [str(tmp_path / f"{number}.{end}") for number in order]
        found = load_dataset(kind, data_files=files, split="train", cache_dir=str(tmp_path / "cache"), **asked)
        return found.features, [{name: row[name] for name in row if not name.startswith("__")} for row in found]

    load.end = ".json" if kind == "webdataset" else ""
    return load


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_columns_that_some_files_lack_are_chosen_and_filtered_as_if_they_were_null(uneven, order, how):
    a, b = f"a{uneven.end}", f"b{uneven.end}"
    shown = [{a: row["a"], b: row["b"]} for row in (ROWS if order == (0, 1) else ROWS[2:] + ROWS[:2])]
    features, rows = uneven(order, columns=[b, a], **HOW[how])
    assert rows == shown
    assert features is None or (list(features) == [b, a] and features[b] in (Value("string"), Value("large_string")))
    assert uneven(order, columns=[b], **HOW[how])[1] == [{b: row[b]} for row in shown]
    for filters in ([(b, "!=", "x")], pc.field(b) != "x", pc.match_substring(pc.field(b), "y")):
        assert uneven(order, filters=filters, **HOW[how])[1] == [{a: 2, b: "y"}]
    assert uneven(order, filters=pc.field(b).is_null(), columns=[a], **HOW[how])[1] == [{a: 3}]


@pytest.mark.parametrize("how", HOW)
def test_a_column_that_no_file_has_is_told_with_those_that_there_are(uneven, how):
    b = f"b{uneven.end}"
    asked = [
        {"columns": ["zz"]},
        {"columns": [b, "zz"]},
        {"filters": [("zz", "=", 1)]},
        {"filters": pc.field("zz") > 1},
    ]
    for one in (*asked, {"filters": (pc.field(b) == "x") & (pc.field("zz") == 1)}):
        with pytest.raises(ColumnNotFoundError, match="'zz' does not exist") as told:
            uneven((1, 0), **one, **HOW[how])
        assert {f"a{uneven.end}", b} <= {*told.value.available}


@pytest.mark.parametrize("how", HOW)
def test_no_columns_at_all_are_refused(uneven, how):
    with pytest.raises(ArgumentError, match="one at least"):
        uneven((0, 1), columns=[], **HOW[how])


def test_a_stream_has_nulls_for_keys_that_come_late_in_a_file(tmp_path):
    pad = "x" * 1000
    rows = [{"a": number, "pad": pad} for number in range(12_000)] + [{"a": -1, "b": "late", "pad": pad}]
    (tmp_path / "it.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = load_dataset("json", data_files=str(tmp_path / "it.jsonl"), split="train", columns=["b"], streaming=True)
    assert found.features == {"b": Value("string")}
    assert [row["b"] for row in found] == [None] * 12_000 + ["late"]


@pytest.mark.parametrize(("kind", "text"), [("csv", "a,b\n1,2\n"), ("json", '{"a": 1, "b": 2}\n')])
def test_files_that_do_not_hold_a_name_are_not_parsed_to_look_for_it(tmp_path, monkeypatch, kind, text):
    for number in range(40):
        (tmp_path / f"{number}.{kind}").write_text(text)
    parsed = []
    rows = Format.rows
    monkeypatch.setattr(Format, "rows", lambda *given, **more: parsed.append(given) or rows(*given, **more))
    for how in ("memory", "stream"):
        parsed.clear()
        with pytest.raises(ColumnNotFoundError, match="Available: a, b"):
            load_dataset(kind, data_files=str(tmp_path / "*"), split="train", columns=["zz"], **HOW[how])
        assert len(parsed) <= 10


@pytest.mark.parametrize("how", HOW)
def test_names_with_a_nul_stay_as_they_are_where_types_of_files_differ(tmp_path, how):
    rows = [{"\0": 1, "a\0b": 2, "a\0c": "x"}, {"\0": 2.5, "a\0b": None, "a\0c": "y"}]
    for number, row in enumerate(rows):
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(row))
    features = Features({"\0": Value("float64"), "a\0b": Value("int64"), "a\0c": Value("string")})
    options = {"features": features} if how == "stream" else {}
    files = [str(tmp_path / f"{number}.jsonl") for number in range(2)]
    assert list(load_dataset("json", data_files=files, split="train", **HOW[how], **options)) == rows
