"""Rows, summaries and downloads say what plain Python says of the same rows, whatever is asked."""

import io
import json
import math
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import urlencode

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.viewers import served

from crucible_datasets import ClassLabel, Dataset, DatasetDict, Features, IterableDataset, List, Value, load_benchmark

COUNT = 400
LABELS = ["no", "yes", "perhaps"]
SOME = ("offset", "limit")
FEATURES = Features(
    {
        "n": Value("int64"),
        "x": Value("float64"),
        "text": Value("string"),
        "label": ClassLabel(names=LABELS),
        "chat": List({"role": Value("string"), "content": Value("string")}),
        "tags": List(Value("string")),
    }
)


def row(number):
    word = ["Alpha", "beta", "GAMMA", None, "delta 🙂"][number % 5]
    return {
        "n": (number * 7919) % 101,
        "x": None if number % 11 == 0 else number / 8,
        "text": word and f"{word} {number % 13}",
        "label": number % 3,
        "chat": [{"role": "user", "content": f"hello {number % 17}"}] * (number % 3),
        "tags": [f"t{number % 4}"] * (number % 2),
    }


ROWS = [row(number) for number in range(COUNT)]


@pytest.fixture(scope="module")
def asking():
    with served(Dataset.from_list(ROWS, features=FEATURES)) as made:
        yield made


def cell(name, value):
    if name == "label":
        return {"t": "label", "v": value, "name": LABELS[value]}
    if name == "text" and value is not None:
        return {"t": "text", "v": value}
    if name == "chat":
        return {"t": "chat", "v": [{**turn, "more": None} for turn in value]}
    return {"t": "json", "v": value} if name == "tags" else value


def texts(each):
    return [each["text"] or "", *each["tags"], *(said for turn in each["chat"] for said in turn.values())]


WHERES = {
    "": lambda each: True,
    "n > 50": lambda each: each["n"] > 50,
    "x is null": lambda each: each["x"] is None,
    "label = 1 and n % 2 = 0": lambda each: each["label"] == 1 and each["n"] % 2 == 0,
    "len(tags) > 0 or text like 'beta%'": lambda each: bool(each["tags"]) or (each["text"] or "").startswith("beta"),
    "n > 1000": lambda each: False,
}
SORTS = {
    "": [],
    "n": [("n", False)],
    "-n": [("n", True)],
    "label,-n": [("label", False), ("n", True)],
}
questions = st.fixed_dictionaries(
    {},
    optional={
        "where": st.sampled_from([*WHERES]),
        "q": st.sampled_from(["alpha", "HELLO 1", "t3", "🙂", "user", "nowhere", ""]),
        "sort": st.sampled_from([*SORTS]),
        "columns": st.lists(st.sampled_from([*FEATURES]), min_size=1, unique=True).map(",".join),
        "offset": st.integers(0, COUNT + 5),
        "limit": st.integers(0, 250),
    },
)


def expected(asked):
    """The places in ROWS, in order."""
    found = [place for place, each in enumerate(ROWS) if WHERES[asked.get("where", "")](each)]
    wanted = asked.get("q", "").lower()
    found = (
        [place for place in found if any(wanted in text.lower() for text in texts(ROWS[place]))] if wanted else found
    )
    for name, down in reversed(SORTS[asked.get("sort", "")]):
        found.sort(key=lambda place: ROWS[place][name], reverse=down)
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(questions)
def test_rows_are_those_of_the_question(asking, asked):
    found = expected(asked)
    query, some = urlencode({name: each for name, each in asked.items() if name not in SOME}), urlencode(asked)
    facts = asking.json(f"/data/0.json?{query}")
    assert (facts["num_rows"], facts["total_rows"]) == (len(found), COUNT)
    names = asked["columns"].split(",") if "columns" in asked else [*FEATURES]
    assert facts["shown"] == names
    offset, limit = asked.get("offset", 0), min(asked.get("limit", 200), 200)
    answer = asking.json(f"/data/0/rows.json?{some}")
    assert (answer["offset"], answer["total"]) == (offset, len(found))
    page, places = answer["rows"], found[offset : offset + limit]
    assert page == [{"row": place, "cells": [cell(name, ROWS[place][name]) for name in names]} for place in places]
    for place in places[:1]:
        assert asking.json(f"/data/0/place/{place}.json?{query}") == {"place": found.index(place)}
        whole = asking.json(f"/data/0/row/{place}.json")
        assert whole["cells"] == [cell(name, ROWS[place][name]) for name in FEATURES]


def test_a_seed_is_an_order_of_the_same_rows(asking):
    def order(query):
        return [
            each["row"] for at in (0, 200) for each in asking.json(f"/data/0/rows.json?offset={at}&{query}")["rows"]
        ]

    assert order("seed=1") == order("seed=1") != order("seed=2")
    assert sorted(order("seed=1")) == list(range(COUNT))
    assert sorted(order("seed=3&where=n>50")) == expected({"where": "n > 50"})


def test_many_may_ask_at_once(asking):
    asked = [{"where": where, "sort": sort} for where in WHERES for sort in SORTS] * 3
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda each: asking.json(f"/data/0.json?{urlencode(each)}")["num_rows"], asked))
    assert found == [len(expected(each)) for each in asked]


def summary(asking, column, query=""):
    for _ in range(200):
        facts = asking.json(f"/data/0/summary.json?column={column}{query}")
        if facts["done"]:
            return facts
        time.sleep(0.05)
    raise AssertionError("it is never done")


def test_summaries_are_those_of_all_rows():
    draw = np.random.default_rng(3)
    count = 30_000  # more than a sample
    numbers = draw.normal(size=count).round(3)
    numbers[::97] = np.nan
    whole = draw.integers(0, 9, count)
    words = np.array(["a", "bb", "ccc", "dddd"])[draw.integers(0, 4, count)]
    missing = [None if place % 10 == 0 else text for place, text in enumerate(words.tolist())]
    rows = Dataset.from_dict({"x": numbers, "n": whole, "text": missing, "ids": [str(each) for each in range(count)]})
    with served(rows) as asking:
        facts = summary(asking, "x")
        there = numbers[~np.isnan(numbers)]
        assert (facts["seen"], facts["min"], facts["max"]) == (count, there.min(), there.max())
        assert math.isclose(facts["mean"], there.mean(), abs_tol=1e-9)
        assert sum(facts["histogram"]["counts"]) == len(there)
        facts = summary(asking, "n")
        assert (facts["min"], facts["max"], facts["distinct"]) == (0, 8, 9)
        assert facts["histogram"]["counts"] == np.bincount(whole).tolist()
        assert dict(facts["top"]) == dict(enumerate(np.bincount(whole).tolist()))
        facts = summary(asking, "text", "&where=n%20>%204")
        kept = [text for text, number in zip(missing, whole, strict=True) if number > 4]
        assert facts["nulls"] == kept.count(None) and facts["seen"] == len(kept)
        assert dict(facts["top"]) == {text: kept.count(text) for text in ("a", "bb", "ccc", "dddd")}
        lengths = [len(text) for text in kept if text is not None]
        assert math.isclose(facts["lengths"]["mean"], sum(lengths) / len(lengths))
        assert summary(asking, "ids")["top"] is None


@pytest.mark.parametrize("query", ["", "where=n>50&sort=-n&columns=n,text,x", "where=n>1000&columns=n,x"])
def test_downloads_are_the_rows_of_the_question(asking, query):
    asked = dict(part.split("=") for part in query.split("&") if part)
    places = expected({"where": asked.get("where", "").replace(">", " > "), "sort": asked.get("sort", "")})
    names = asked.get("columns", ",".join(FEATURES)).split(",")
    rows = [{name: ROWS[place][name] for name in names} for place in places]
    lines = asking(f"/data/0/download.jsonl?{query}")
    assert lines.headers["content-disposition"] == 'attachment; filename="rows.jsonl"'
    assert [json.loads(line) for line in lines.body.splitlines()] == rows
    table = pyarrow.parquet.read_table(io.BytesIO(asking(f"/data/0/download.parquet?{query}").body))
    assert table.to_pylist() == rows
    if "columns" in asked:
        table = pyarrow.csv.read_csv(io.BytesIO(asking(f"/data/0/download.csv?{query}").body))
        assert table.num_rows == len(rows) and table.column_names == names
        assert not rows or table["n"].to_pylist() == [each["n"] for each in rows]


def test_the_chart_of_a_sorted_column_is_even():
    """The first rows that are read hold the smallest values only."""
    count = 120_000
    columns = {"n": range(count), "text": ["x" * (number * 40 // count + 1) for number in range(count)]}
    with served(Dataset.from_dict(columns)) as asking:
        for facts in (summary(asking, "n"), summary(asking, "text")["lengths"]):
            counts = facts["histogram"]["counts"]
            assert sum(counts) == count and max(counts) < 1.1 * min(counts)


def test_integers_that_floats_cannot_tell_apart_have_a_summary():
    with served(Dataset.from_dict({"n": [2**60, 2**60 + 1, 2**60 + 2]})) as asking:
        facts = summary(asking, "n")
        assert (facts["min"], facts["max"], sum(facts["histogram"]["counts"])) == (2**60, 2**60 + 2, 3)


def test_a_stream_shows_its_head():
    taken = []

    def endless():
        for number in range(10**9):
            taken.append(number)
            yield {"n": number}

    with served(IterableDataset.from_generator(endless)) as asking:
        facts = asking.json("/data/0.json")
        assert facts["total_rows"] is None and facts["num_rows"] == 1000 and len(taken) <= 5000
        assert [each["cells"] for each in asking.json("/data/0/rows.json?offset=998")["rows"]] == [[998], [999]]
        facts = asking.json("/data/0.json?where=n<10")
        assert (facts["num_rows"], facts["read_rows"], facts["total_rows"]) == (10, 1000, None)
        assert asking.json("/data/0/rows.json?where=n<10")["total"] is None


def test_a_stream_that_has_ended_has_a_length():
    with served(IterableDataset.from_list([{"n": number} for number in range(5)])) as asking:
        assert asking.json("/data/0.json")["total_rows"] == 5
        assert asking.json("/data/0/rows.json?limit=2")["total"] == 5
        assert asking.json("/data/0/rows.json?where=n<3")["total"] == 3


def test_names_lead_to_configurations_and_splits(tmp_path):
    for config, split, count in (("one", "train", 3), ("one", "test", 2), ("two", "train", 4)):
        (tmp_path / config).mkdir(exist_ok=True)
        Dataset.from_dict({"n": list(range(count))}).to_parquet(tmp_path / config / f"{split}.parquet")
    card = "---\nconfigs:\n- config_name: one\n  data_dir: one\n- config_name: two\n  data_dir: two\n---\n"
    (tmp_path / "README.md").write_text(card)
    saved = tmp_path / "saved"
    DatasetDict({"a": Dataset.from_dict({"n": [1]}), "b": Dataset.from_dict({"n": [2, 3]})}).save_to_disk(saved)
    with served(str(tmp_path), saved, load_benchmark("gsm8k", synthetic=True)) as asking:
        facts = asking.json("/data/0.json?config=one")
        assert facts["configs"] == ["one", "two"]
        assert {each["name"]: each["rows"] for each in facts["splits"]} == {"train": 3, "test": 2}
        assert asking.json("/data/0.json?config=two")["num_rows"] == 4
        assert asking.json("/data/0.json?config=one&split=test")["num_rows"] == 2
        assert asking("/data/0.json?config=three").status == 400
        assert asking("/data/0.json?config=one&split=dev").status == 404
        told = asking("/data/0.json?config=one&split=tets").body.decode()
        assert "There is no split 'tets'. Did you mean 'test'? Available: " in told
        assert [each["rows"] for each in asking.json("/data/1.json")["splits"]] == [1, 2]
        assert asking.json("/data/2.json")["dataset"] == "gsm8k" and asking.json("/data/2.json")["split"] == "test"
        assert {"input", "target"} <= {*asking.json("/data/2.json")["shown"]}


def test_the_name_of_a_benchmark_leads_to_its_samples(monkeypatch):
    made = load_benchmark("gsm8k", synthetic=True)
    monkeypatch.setattr("crucible_datasets.load_benchmark", partial(load_benchmark, synthetic=True))
    with served("gsm8k") as asking:
        facts = asking.json("/data/0.json")
        assert (facts["dataset"], facts["split"], facts["num_rows"]) == ("gsm8k", "test", len(made))
