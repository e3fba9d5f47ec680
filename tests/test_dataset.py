"""What `Dataset` adds to Hugging Face's, and the promises that hold for every method of it."""

from __future__ import annotations

import html.parser
import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import INTEGERS, specs

import crucible_datasets
from crucible_datasets import ClassLabel, Dataset, DatasetDict, Features, List, Value
from crucible_datasets.exceptions import ColumnNotFoundError, DatasetsError


def numbered(size: int = 6) -> Dataset:
    return Dataset.from_dict({"n": list(range(size)), "s": [str(n % 3) for n in range(size)]})


METHODS = {
    "select": lambda dataset: dataset.select([2, 0]),
    "take": lambda dataset: dataset.take(2),
    "skip": lambda dataset: dataset.skip(2),
    "repeat": lambda dataset: dataset.repeat(2),
    "shard": lambda dataset: dataset.shard(2, 0),
    "shuffle": lambda dataset: dataset.shuffle(seed=1),
    "sort": lambda dataset: dataset.sort("s"),
    "sample": lambda dataset: dataset.sample(3, seed=1),
    "select_columns": lambda dataset: dataset.select_columns(["s"]),
    "remove_columns": lambda dataset: dataset.remove_columns("s"),
    "rename_column": lambda dataset: dataset.rename_column("s", "t"),
    "rename_columns": lambda dataset: dataset.rename_columns({"s": "t"}),
    "add_column": lambda dataset: dataset.add_column("new", list(range(len(dataset)))),
    "add_item": lambda dataset: dataset.add_item({"n": 9}),
    "cast_column": lambda dataset: dataset.cast_column("n", Value("int8")),
    "cast": lambda dataset: dataset.cast(Features({"n": Value("int8"), "s": Value("large_string")})),
    "class_encode_column": lambda dataset: dataset.class_encode_column("s"),
    "flatten": lambda dataset: dataset.flatten(),
    "with_format": lambda dataset: dataset.with_format("numpy"),
    "with_transform": lambda dataset: dataset.with_transform(lambda batch: batch),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_leave_the_dataset_as_it_was(name):
    dataset = numbered()
    before = dataset.to_list(), dataset.features, dataset.format, dataset._fingerprint
    METHODS[name](dataset)
    assert (dataset.to_list(), dataset.features, dataset.format, dataset._fingerprint) == before


@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("flatten", "with_format", "with_transform")])
def test_the_same_steps_have_the_same_fingerprint(name):
    once, again, other = (METHODS[name](numbered(size))._fingerprint for size in (6, 6, 7))
    assert once == again
    assert once != numbered()._fingerprint
    assert once != other


@pytest.mark.parametrize("name", METHODS)
def test_methods_work_without_rows(name):
    empty = numbered().take(0)
    if name in ("select", "sample"):
        with pytest.raises((IndexError, ValueError)):
            METHODS[name](empty)
    else:
        assert len(METHODS[name](empty)) == (1 if name == "add_item" else 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda dataset: dataset["lable"],
        lambda dataset: dataset.sort("lable"),
        lambda dataset: dataset.unique("lable"),
        lambda dataset: dataset.remove_columns("lable"),
        lambda dataset: dataset.select_columns(["lable"]),
        lambda dataset: dataset.rename_column("lable", "x"),
        lambda dataset: dataset.cast_column("lable", Value("int8")),
        lambda dataset: dataset.class_encode_column("lable"),
        lambda dataset: dataset.set_format("numpy", columns=["lable"]),
        lambda dataset: dataset.group_by("lable"),
        lambda dataset: dataset.train_test_split(stratify_by_column="lable"),
    ],
)
def test_a_missing_column_is_one_error_everywhere(call):
    dataset = Dataset.from_dict({"label": [1, 2], "text": ["a", "b"]})
    with pytest.raises(ColumnNotFoundError, match="Did you mean 'label'") as caught:
        call(dataset)
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, ValueError)
    assert caught.value.available == ["label", "text"]
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda dataset: dataset.shard(2, 5),
        lambda dataset: dataset.repeat(None),
        lambda dataset: list(dataset.iter(0)),
        lambda dataset: dataset.sort("n", null_placement="middle"),
        lambda dataset: dataset.shuffle(seed=1, generator=5),
        lambda dataset: dataset[999],
        lambda dataset: dataset.select([999]),
        lambda dataset: dataset.add_column("n", [1]),
        lambda dataset: dataset.add_column("m", [1]),
        lambda dataset: dataset.rename_column("n", "s"),
        lambda dataset: dataset.with_format("nunpy"),
        lambda dataset: DatasetDict(train=dataset)["tset"],
    ],
)
def test_errors_are_of_one_family_and_survive_pickling(call):
    with pytest.raises(DatasetsError) as caught:
        call(numbered(500))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), vars(again)) == (type(caught.value), str(caught.value), vars(caught.value))
    assert len(pickle.dumps(caught.value)) < 1000, "the data does not travel with the error"


# Columns that are added to rows in another order are stored beside them, not copied.


@given(
    st.lists(st.sampled_from(["shuffle", "add", "select", "rename", "remove", "cast", "swap"]), max_size=8),
    st.integers(0, 99),
)
def test_columns_stay_with_their_rows(steps, seed):
    """Columns added between row operations move with the rows from then on."""
    dataset, rows, count = numbered(9), [{"n": n, "s": str(n % 3)} for n in range(9)], 0
    for step in steps:
        if step == "shuffle":
            order = np.random.default_rng(seed).permutation(len(rows))
            dataset, rows = dataset.shuffle(seed=seed), [rows[place] for place in order]
        elif step == "select":
            dataset, rows = dataset.select(range(0, len(rows), 2)), rows[::2]
        elif step == "add":
            count += 1
            values = [f"{count}-{place}" for place in range(len(rows))]
            dataset = dataset.add_column(f"c{count}", values)
            rows = [{**row, f"c{count}": value} for row, value in zip(rows, values, strict=True)]
        elif step == "rename":
            old = dataset.column_names[-1]
            count += 1
            dataset = dataset.rename_column(old, f"r{count}")
            rows = [{(f"r{count}" if name == old else name): value for name, value in row.items()} for row in rows]
        elif step == "remove" and dataset.num_columns > 1:
            gone = dataset.column_names[0]
            dataset = dataset.remove_columns(gone)
            rows = [{name: value for name, value in row.items() if name != gone} for row in rows]
        elif step == "cast" and isinstance(dataset.features[dataset.column_names[0]], Value):
            name = dataset.column_names[0]
            dataset = dataset.cast_column(name, Value("large_string"))
            rows = [{**row, name: str(row[name])} for row in rows]
        elif step == "swap":
            names = dataset.column_names[::-1]
            dataset, rows = dataset.select_columns(names), [{name: row[name] for name in names} for row in rows]
    assert dataset.to_list() == rows
    assert [list(row) for row in dataset] == [list(row) for row in rows]
    assert [dataset[place] for place in range(len(rows))] == rows
    assert dataset.with_format("arrow")[:].to_pylist() == rows


def test_labels_are_aligned_in_lists_too():
    features = Features({"y": List(ClassLabel(names=["a", "b"]))})
    dataset = Dataset.from_dict({"y": [[0, 1, -1], None, [1]]}, features=features)
    aligned = dataset.align_labels_with_mapping({"B": 0, "A": 1}, "y")
    assert aligned["y"][:] == [[1, 0, -1], None, [0]]
    assert aligned.features["y"].feature.names == ["B", "A"]


# Other libraries


@given(specs(st.sampled_from(INTEGERS), min_rows=1))
def test_data_frames_read_datasets_directly(spec):
    dataset = spec.dataset(crucible_datasets).shuffle(seed=1)
    assert pa.table(dataset).to_pylist() == list(dataset)
    assert pl.DataFrame(dataset).to_dicts() == list(dataset)


class Tags(html.parser.HTMLParser):
    """Which tags a page has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)


@given(specs())
def test_html_shows_data_and_is_not_made_of_it(spec):
    dataset = spec.dataset(crucible_datasets)
    tags = Tags(dataset._repr_html_()).seen
    assert tags.count("td") == min(len(dataset), 8) * dataset.num_columns


def test_html_escapes_everything():
    attack = "<script>alert('x')</script>"
    dataset = Dataset.from_dict({attack: [attack], "d": [{"<b>": attack}]}, split="train")
    text = DatasetDict(train=dataset)._repr_html_()
    assert set(Tags(text).seen) <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "br", "small"}
    assert "script" in text
