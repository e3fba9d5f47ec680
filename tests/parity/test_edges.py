"""Corners of calls that both libraries have: the same answers, or the better one that docs/migrating.md tells of."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import datasets as hf
import numpy as np
import pandas
import pyarrow as pa
import pytest
from support.parity import same_outcome

import crucible_datasets as ours

ODD = {".": [3, 1, 2], "..": ["b", "a", "c"], "a.b": [1, 1, 2]}


def odd(library: Any) -> Any:
    return library.Dataset.from_dict(ODD)


def half_null(library: Any) -> Any:
    kinds = {"n": library.Value("int32"), "label": library.ClassLabel(names=["no", "yes"])}
    grid = library.Array2D((2, 2), "float32")
    features = library.Features({**kinds, "text": library.Value("large_string"), "grid": grid})
    grids = [np.full((2, 2), place) for place in range(4)]
    columns = {"n": [1, 2, None, 4], "label": [0, 1, 0, None], "text": ["a", None, "c", "d"], "grid": grids}
    return library.Dataset.from_dict(columns, features=features)


def nested(library: Any) -> Any:
    label = library.ClassLabel(names=["no", "yes"])
    features = library.Features({"l": library.LargeList(label), "s": {"v": library.Value("null"), "k": label}})
    return library.Dataset.from_dict({"l": [[0], [1, 0], None], "s": [{"v": None, "k": 1}] * 3}, features=features)


def frames(library: Any, size: int, change: Callable[[Any], Any]) -> Any:
    return half_null(library).with_format("pandas").map(change, batched=True, batch_size=size).with_format(None)


def splits(library: Any) -> Any:
    return library.DatasetDict({"train": odd(library), "test": odd(library).select([2])})


def described(library: Any) -> Any:
    features = dataclasses.asdict(half_null(library).info)["features"]
    return type(features).__name__, [(name, sorted(kind)) for name, kind in features.items()]


CALLS: dict[str, Callable[[Any], Any]] = {
    "splits as a list": lambda library: library.concatenate_datasets(splits(library).values()),
    "splits in turns": lambda library: library.interleave_datasets(splits(library).values()),
    "splits as they are": lambda library: library.concatenate_datasets(splits(library)),
    "splits in turns as they are": lambda library: library.interleave_datasets(splits(library)),
    "no datasets": lambda library: library.concatenate_datasets(None),
    "a dataset without a list": lambda library: library.concatenate_datasets(odd(library)),
    "a stream without a list": lambda library: library.interleave_datasets(odd(library).to_iterable_dataset()),
    "info as a dict": described,
    "labels by text": lambda library: half_null(library).align_labels_with_mapping({"no": "1", "yes": "0"}, "label"),
    "missing values of pandas": lambda library: odd(library).map(lambda row: {"new": pandas.NA}),
    "a.b is a name": lambda library: odd(library).sort("a.b", reverse=True),
    "a column twice": lambda library: odd(library).sort(["a.b", "a.b"], reverse=[True, False]),
    "labels of nothing": lambda library: library.Dataset.from_dict({"a": [None, None]}).class_encode_column("a"),
    "lists of nulls": lambda library: library.Dataset.from_dict({"a": [None] * 5}).batch(2),
    "lists of lists of labels": lambda library: nested(library).batch(2),
    "labels side by side": lambda library: nested(library).select([2, 0]).flatten_indices(),
    "frames of one row": lambda library: frames(library, 1, lambda frame: frame),
    "frames of some rows": lambda library: frames(library, 2, lambda frame: frame),
    "frames with other values": lambda library: frames(library, 2, lambda frame: frame.assign(n=frame.n / 2)),
    "frames in another order": lambda library: frames(library, 1, lambda frame: frame[["text", "n", "label"]]),
}


@pytest.mark.filterwarnings("ignore")  # pandas tells Hugging Face of its plans
def test_corners_are_the_same():
    for name, call in CALLS.items():
        try:
            same_outcome(lambda call=call: call(hf), lambda call=call: call(ours))
        except Exception as error:
            raise AssertionError(name) from error


def test_files_by_split_make_a_dict_of_datasets(tmp_path):
    for kind, text in (("csv", "a\n1\n"), ("json", '{"a":1}\n'), ("text", "a\n")):
        (tmp_path / f"it.{kind}").write_text(text)

        def read(library: Any, kind: str = kind) -> Any:
            files = {"test": str(tmp_path / f"it.{kind}"), "more": [str(tmp_path / f"*.{kind}")]}
            make = getattr(library.Dataset, f"from_{kind}")
            found = make(files, cache_dir=str(tmp_path / library.__name__))
            one = make(files, split="more", cache_dir=str(tmp_path / library.__name__))
            return type(found).__name__, {name: (str(rows.split), rows) for name, rows in found.items()}, one

        same_outcome(lambda read=read: read(hf), lambda read=read: read(ours))


def test_a_field_that_is_not_there(tmp_path):
    (tmp_path / "it.json").write_text(json.dumps({"data": [{"a": 1}]}))
    with pytest.raises(ours.exceptions.FileFieldError, match="data") as found:
        ours.load_dataset("json", data_files=str(tmp_path / "it.json"), field="rows")
    assert isinstance(found.value, (KeyError, ValueError)) and found.value.field == "rows"
    assert isinstance(found.value, ours.exceptions.DatasetGenerationError)


def test_no_rows_are_lost_silently(tmp_path):
    (tmp_path / "it.txt").write_text("a\nb\n")
    for kind, option in (
        ("text", {"chunksize": 0}),
        ("json", {"chunksize": 0}),
        ("json", {"newlines_in_values": True}),
    ):
        with pytest.raises(ours.exceptions.ArgumentError):
            ours.load_dataset(kind, data_files=str(tmp_path / "it.txt"), **option)


def test_a_function_that_leaves_no_row_still_names_its_columns():
    rows = ours.Dataset.from_dict({"a": [1, 2], "b": ["x", "y"]})
    found = rows.map(lambda batch: {"a": [], "new": []}, batched=True, remove_columns=["b"])
    assert (len(found), dict(found.features)) == (0, {"a": ours.Value("int64"), "new": ours.Value("null")})


def test_any_name_sorts():
    assert odd(ours).sort(".")["."][:] == [1, 2, 3]
    assert odd(ours).sort(["a.b", ".."], reverse=[True, False])[".."][:] == ["c", "a", "b"]


def test_a_buffer_of_no_rows_keeps_their_order():
    assert list(odd(ours).to_iterable_dataset().shuffle(seed=1, buffer_size=0)) == odd(ours).to_list()


def test_small_floats_sort_as_large_ones_do():
    values = [1.5, None, -2.0, float("nan"), 0.0]
    features = ours.Features({"x": ours.Value("float16"), "y": ours.Value("float32")})
    rows = ours.Dataset.from_dict({"x": values, "y": values}, features=features)
    for options in ({}, {"reverse": True}, {"null_placement": "at_start"}):
        assert repr(rows.sort("x", **options)[:]) == repr(rows.sort("y", **options)[:])
        assert rows.sort("x", **options).features == features


def test_errors_keep_their_class_where_columns_are_cast(monkeypatch):
    """Some errors of this library are errors of Arrow too; a cast that meets one passes it on."""
    from crucible_datasets.features import cast

    def refuse(*_: Any) -> Any:
        raise ours.exceptions.ValueTypeError("a", 0, "1", "text", "no.")

    monkeypatch.setattr(cast, "_cast", refuse)
    with pytest.raises(ours.exceptions.ValueTypeError):
        ours.Dataset.from_dict({"a": [1]}).cast_column("a", ours.Value("string"))


def test_lines_of_blanks_in_a_csv_of_one_column(tmp_path):
    texts = ("a\n  \n x\n", 'a\n"  "\nx\n', "a\n1\n \t \n2\n", "a,b\n1,2\n  \n3,4\n", "a\n1\n\xa0\n\u3000\n")
    for number, text in enumerate(texts):
        path = tmp_path / f"{number}.csv"
        path.write_text(text, "utf-8")

        def read(library: Any, path: Any = path) -> Any:
            return library.Dataset.from_csv(str(path), cache_dir=str(tmp_path / library.__name__))

        same_outcome(lambda read=read: read(hf), lambda read=read: read(ours))


def test_what_cannot_be_stored_is_told_with_its_file(tmp_path):
    """Hugging Face raises a DatasetGenerationError for all of these, and does not say more."""
    text, arrow = str(tmp_path / "it.csv"), str(tmp_path / "it.arrow")
    (tmp_path / "it.csv").write_text("a\nx\n")
    schema = pa.schema({"a": pa.int64()}, {b"huggingface": b'{"info": {"features": {"a": {"_type": "Zork"}}}}'})
    with pa.OSFile(arrow, "wb") as stream, pa.ipc.new_stream(stream, schema) as writer:
        writer.write_table(pa.table({"a": [1]}, schema=schema))
    numbers = ours.Features({"a": ours.Value("int64")})

    def one() -> Any:
        yield {"a": 1}
        yield {"a": "x"}

    cases: dict[str, Callable[[], Any]] = {
        text: lambda: ours.load_dataset("csv", data_files=text, features=numbers, cache_dir=str(tmp_path / "cache")),
        f"{text} failed": lambda: ours.load_dataset("csv", data_files=text, features=numbers, keep_in_memory=True),
        arrow: lambda: ours.load_dataset("arrow", data_files=arrow),
        f"{arrow}: this is not a readable Arrow file: Zork": lambda: ours.Dataset.from_file(arrow),
        "one failed at row 1": lambda: ours.Dataset.from_generator(one, numbers, str(tmp_path / "cache")),
    }
    for place, call in cases.items():
        with pytest.raises(ours.exceptions.DatasetGenerationError) as found:
            call()
        assert place in str(found.value) and ("'a'" in str(found.value) or "Zork" in str(found.value))


def test_columns_that_files_do_not_have_are_told_with_those_they_have(tmp_path):
    (tmp_path / "it.csv").write_text("a,b\n1,2\n")
    (tmp_path / "it.json").write_text('{"a": 1, "b": 2}\n')
    for kind in ("csv", "json"):
        for asked in ({"columns": ["zz"]}, {"filters": [("zz", "=", 1)]}):
            with pytest.raises(ours.exceptions.ColumnNotFoundError, match="zz.*Available: a, b"):
                ours.load_dataset(kind, data_files=str(tmp_path / f"it.{kind}"), keep_in_memory=True, **asked)


DAY, MISSING = dt.date(2020, 1, 1), pandas.NaT
WITH_NOTHING = [  # values, the type they are given, what is shown
    ([DAY, MISSING], None, [DAY, None]),
    ([MISSING, DAY], None, [None, DAY]),
    ([MISSING], None, [None]),
    ([dt.date(1, 1, 1), MISSING], None, [dt.date(1, 1, 1), None]),
    ([dt.datetime(2020, 1, 1), MISSING], None, [dt.datetime(2020, 1, 1), None]),
    ([dt.timedelta(1), MISSING], None, [dt.timedelta(1), None]),
    ([{"d": DAY, "f": float("inf")}, {"d": MISSING, "f": 1.0}], None, [{"d": DAY, "f": float("inf")}, {"d": None, "f": 1.0}]),
    ([[{"d": [DAY, MISSING]}]], None, [[{"d": [DAY, None]}]]),
    ([pandas.Series([DAY, MISSING])], None, [[DAY, None]]),
    ([MISSING], "date32", [None]),
    ([DAY, MISSING], "date64", [DAY, None]),
    ([DAY, MISSING], "timestamp[s]", [dt.datetime(2020, 1, 1), None]),
    ([DAY, MISSING] * 9000, "timestamp[us]", [dt.datetime(2020, 1, 1), None] * 9000),
    ([[DAY, MISSING]], ["date32"], [[DAY, None]]),
    ([pandas.Series([DAY, MISSING])], ["date32"], [[DAY, None]]),
    ([{"d": DAY}, {"d": MISSING}], {"d": "date32"}, [{"d": DAY}, {"d": None}]),
    ([[{"d": "2020-01-01"}, {"d": MISSING}]], [{"d": "date32"}], [[{"d": DAY}, {"d": None}]]),
    ([1, pandas.NA], None, [1, None]),
    ([["a", pandas.NA]], None, [["a", None]]),
    ([1, pandas.NA], "int64", [1, None]),
    ([{"n": 1.5}, {"n": pandas.NA}], {"n": "float64"}, [{"n": 1.5}, {"n": None}]),
    (["a", pandas.NA, MISSING], "string", ["a", None, None]),
]  # fmt: skip


def typed(kind):
    if isinstance(kind, dict):
        return {name: typed(one) for name, one in kind.items()}
    return ours.List(typed(kind[0])) if isinstance(kind, list) else ours.Value(kind)


@pytest.mark.parametrize(("values", "kind", "shown"), WITH_NOTHING, ids=lambda value: str(value)[:60])
def test_what_pandas_calls_missing_is_null_and_never_a_date_or_a_text(values, kind, shown):
    features = None if kind is None else ours.Features({"a": typed(kind)})
    assert ours.Dataset.from_dict({"a": values}, features=features)["a"][:] == shown
    rows = [{"a": value} for value in values]
    assert ours.Dataset.from_generator(lambda: iter(rows), features=features)["a"][:] == shown


def test_what_is_missing_in_labels_and_json_is_null():
    features = ours.Features({"l": ours.ClassLabel(names=["x"]), "j": ours.Json()})
    found = ours.Dataset.from_dict({"l": ["x", pandas.NA], "j": [{"d": MISSING}, pandas.NA]}, features=features)
    assert found.to_list() == [{"l": 0, "j": {"d": None}}, {"l": None, "j": None}]


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(ours.exceptions.ColumnNamesError, match="same name"):
        ours.Dataset(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))
