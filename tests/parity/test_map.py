"""Functions over rows: the same results as Hugging Face `datasets`, for any table and any way to call them."""

from __future__ import annotations

import copy
import enum
import itertools
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.parity import same
from support.tables import Spec, scalar, specs

import crucible_datasets as ours

few = settings(max_examples=max(settings.default.max_examples // 2, 8))


def table(size: int = 7) -> Spec:
    places = range(size)
    columns = {"n": list(places), "s": [f"t{place}" for place in places], "x": [place / 2 for place in places]}
    kinds = {"n": scalar("int32", st.none()), "s": scalar("string", st.none()), "x": scalar("float64", st.none())}
    return Spec(columns, kinds)


def deleted(row):
    del row["s"]
    return row


def changed(row):
    row["n"] = row["n"] + 1
    row["new"] = "y"
    return row


def changed_beside(row):
    row["s"] = "z"
    return {"made": 1}


ROW_FUNCTIONS = {
    "add": lambda row: {"b": row["n"] + 1},
    "several": lambda row: {"b": [row["n"]], "a": {"k": row["s"]}, "c": None},
    "override": lambda row: {"z": 0, "n": row["n"] * 2, "s": len(row["s"])},
    "float": lambda row: {"n": row["n"] * 1.5},
    "word": lambda row: {"n": "w" + str(row["n"])},
    "wide": lambda row: {"n": row["n"] + 2**40},
    "whole": lambda row: dict(row),
    "star": lambda row: {**row, "b": True},
    "nothing": lambda row: None,
    "row": lambda row: row,
    "null then text": lambda row: {"b": None if row["n"] < 3 else "x"},
    "mixed": lambda row: {"b": row["n"] if row["n"] < 3 else "x"},
    "int then float": lambda row: {"b": row["n"] if row["n"] < 3 else 0.5},
    "tokens": lambda row: {"input_ids": [row["n"]] * 3, "attention_mask": [1], "token_type_ids": [0]},
    "numpy": lambda row: {"b": np.arange(3), "c": np.float32(row["x"]), "d": np.zeros((2, 2))},
    "arrow": lambda row: pa.table({"b": [row["n"]]}),
    "deleted": deleted,
    "changed": changed,
    "changed beside": changed_beside,
    "dicts": lambda row: {"b": {"x": row["n"]} if row["n"] < 3 else {"x": None}},
    "list": lambda row: [row["n"]],
    "number": lambda row: 1,
    "unknown": lambda row: row["q"],
}


# These give, change or delete the columns that are removed, each in its own way; to the others they are all one.
TOUCHING = {"add", "changed", "deleted", "nothing", "override", "row"}
REMOVALS = [None, ["s", "x"], ["n"], "s"]


def often(function, removed):
    """Marked as slow when it repeats what others show."""
    repeats = removed in REMOVALS[2:] and function not in TOUCHING
    return pytest.param(function, removed, marks=[pytest.mark.slow] if repeats else [], id=f"{removed}-{function}")


@pytest.mark.parametrize(("function", "removed"), [often(each, gone) for gone in REMOVALS for each in ROW_FUNCTIONS])
def test_rows(function, removed):
    same(table(), lambda library, dataset: dataset.map(ROW_FUNCTIONS[function], remove_columns=removed))


def set_beside(row):
    row["new"], row["n"] = 1, 5
    return row


RETURNED_ROWS = {
    "the row": lambda row: row,
    "read before": lambda row: (row["n"], row)[1],
    "set": set_beside,
    "joined": lambda row: row | {"new": 1},
    "joined over": lambda row: row | {"n": 9},
    "joined before": lambda row: {"new": 1} | row,
    "copied": lambda row: set_beside(row.copy()),
    "copied deeply": lambda row: set_beside(copy.deepcopy(row)),
    "unpacked": lambda row: {**row, "new": 1},
    "beside": lambda row: (set_beside(row), {"made": 2})[1],
}


def test_columns_that_are_removed_go_from_a_row_that_comes_back_in_any_form():
    """In `map` a copy is the row as well; in a stream it is a dict like any other."""
    spec = table(2)
    rows = [dict(zip(spec.columns, values, strict=True)) for values in zip(*spec.columns.values(), strict=True)]
    sources = [
        lambda library, dataset: dataset,
        lambda library, dataset: dataset.to_iterable_dataset(),
        lambda library, dataset: library.IterableDataset.from_generator(lambda: iter(rows)),
    ]
    for source, function, removed in itertools.product(sources, RETURNED_ROWS.values(), (["n"], list(spec.columns))):
        options = {"function": function, "remove_columns": removed}
        if source is not sources[0]:
            same(spec, lambda *given, source=source, options=options: list(source(*given).map(**options)))
        elif function is not RETURNED_ROWS["joined over"] or removed == ["n"]:  # Hugging Face loses all rows
            same(spec, lambda *given, options=options: given[1].map(**options))


@pytest.mark.parametrize("form", ["joined", "joined over", "joined before", "copied deeply", "unpacked"])
def test_columns_that_are_removed_stay_in_a_dict_made_of_a_row_of_arrays(form):
    """Rows of other formats than Python's are plain dicts in Hugging Face `datasets`."""
    for removed in (["n"], list(table(2).columns)):
        options = {"function": RETURNED_ROWS[form], "remove_columns": removed}
        same(table(2), lambda library, dataset, options=options: dataset.with_format("numpy").map(**options))


def set_in_batch(batch):
    batch["new"], batch["n"] = ["b"] * len(batch["n"]), [5] * len(batch["n"])
    return len(batch["n"])


def set_again(batch):
    values = batch.pop("n")
    batch["n"] = values
    return len(values)


def lowered_in_place(batch):
    for place, text in enumerate(batch["s"]):
        batch["s"][place] = text.upper()
    return len(batch["s"])


CHANGED_BATCHES = {
    "beside": lambda batch: {"made": [2] * set_in_batch(batch)},
    "over": lambda batch: {"made": [2] * set_in_batch(batch), "new": batch["n"]},
    "over the old": lambda batch: {"made": [2] * set_in_batch(batch), "x": batch["n"]},
    "set again": lambda batch: {"made": [2] * set_again(batch)},
    "in place": lambda batch: {"made": [2] * lowered_in_place(batch)},
    "nothing returned": lambda batch: {} if set_in_batch(batch) else None,
}


@pytest.mark.parametrize("removed", [None, ["n"], ["n", "s", "x"]])
@pytest.mark.parametrize("function", CHANGED_BATCHES)
def test_what_is_set_in_a_batch_comes_before_what_is_returned(function, removed):
    options = {"function": CHANGED_BATCHES[function], "batched": True, "batch_size": 3, "remove_columns": removed}
    same(table(), lambda library, dataset: dataset.map(**options))
    same(table(), lambda library, dataset: list(dataset.to_iterable_dataset().map(**options)))


def test_what_is_set_in_rows_comes_before_what_is_returned():
    def function(row):
        row["new"], row["n"] = 1, 5
        return {"made": 2, "new": 3}

    for removed in (None, ["n"], ["n", "s", "x"]):
        same(table(), lambda library, dataset, gone=removed: dataset.map(function, remove_columns=gone).column_names)
        same(table(), lambda library, dataset, gone=removed: dataset.map(function, remove_columns=gone))


@few
@given(specs(min_rows=1), st.data())
def test_rows_of_any_table_come_back_as_they_are(spec, data):
    name = data.draw(st.sampled_from(sorted(spec.columns)))
    same(spec, lambda library, dataset: dataset.map(lambda row: {"copy of it": row[name] is None}))
    same(spec, lambda library, dataset: dataset.map(lambda row: {name: row[name]}))
    same(spec, lambda library, dataset: dataset.map(lambda row: dict(row)))
    same(spec, lambda library, dataset: dataset.filter(lambda row: row[name] is not None))
    same(spec, lambda library, dataset: dataset.shuffle(seed=3).map(lambda row, at: {"at": at}, with_indices=True))


BATCH_FUNCTIONS = {
    "add": lambda batch: {"b": [value + 1 for value in batch["n"]]},
    "array": lambda batch: {"b": np.array(batch["n"]) * 2},
    "set": lambda batch: {"n": batch["n"][::-1]},
    "all": lambda batch: {name: values * 2 for name, values in batch.items()},
    "fewer": lambda batch: {name: values[:1] for name, values in batch.items()},
    "some, of another type": lambda batch: {name: ["x"] * (batch["n"][0] > 0) for name in batch},
    "none": lambda batch: None,
    "wrong length": lambda batch: {"b": [1]},
    "scalar": lambda batch: {"b": 1},
    "text": lambda batch: {"b": "abc"},
    "batch": lambda batch: batch,
    "arrow": lambda batch: pa.table({"b": batch["n"]}),
}


# A last batch that is shorter, and one batch of all; what the other sizes cut is shown by a function of each kind:
# as many rows, fewer rows, a wrong number of rows.
SIZES, TELLING = [3, None, 1, 7, 100, 0], {"add", "fewer", "wrong length"}


def sized(function, size):
    """Marked as slow when it repeats what others show."""
    repeats = size in SIZES[2:] and function not in TELLING
    return pytest.param(function, size, marks=[pytest.mark.slow] if repeats else [], id=f"{size}-{function}")


@pytest.mark.parametrize(("function", "batch_size"), [sized(each, size) for size in SIZES for each in BATCH_FUNCTIONS])
def test_batches(function, batch_size):
    same(
        table(),
        lambda library, dataset: dataset.map(BATCH_FUNCTIONS[function], batched=True, batch_size=batch_size),
    )
    same(
        table(),
        lambda library, dataset: dataset.map(
            BATCH_FUNCTIONS[function], batched=True, batch_size=batch_size, remove_columns=["n", "s", "x"]
        ),
    )


@given(st.integers(1, 9), st.integers(1, 7))
def test_last_batches_may_be_dropped(size, batch_size):
    batch_size = min(size, batch_size)  # with fewer rows than a batch Hugging Face leaves all of them as they are
    same(
        table(size),
        lambda library, dataset: dataset.map(
            lambda batch: {"b": batch["n"]}, batched=True, batch_size=batch_size, drop_last_batch=True
        ),
    )


def told(*given, **named):
    return {"told": str((given, sorted(named.items())))}


@pytest.mark.parametrize("with_indices", [False, True])
@pytest.mark.parametrize("with_rank", [False, True])
@pytest.mark.parametrize("columns", ["n", ["n"], ["s", "n"], ["q"]], ids=str)
@pytest.mark.parametrize("fn_kwargs", [None, {"k": 1}], ids=str)
def test_arguments(with_indices, with_rank, columns, fn_kwargs):
    same(
        table(),
        lambda library, dataset: dataset.map(
            told, with_indices=with_indices, with_rank=with_rank, input_columns=columns, fn_kwargs=fn_kwargs
        ),
    )


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("format", ["numpy", "torch", "pandas", "polars", "arrow"])
@pytest.mark.parametrize("columns", [None, ["n"]], ids=str)
def test_formats(format, batched, columns):
    def kinds(rows):
        names = rows.column_names if format == "arrow" else list(rows)
        told = str({name: type(rows[name]).__name__ for name in names})
        return {"kinds": [told] * len(rows["n"]) if batched else told}

    same(
        table(),
        lambda library, dataset: dataset.with_format(format, columns=columns).map(kinds, batched=batched),
    )


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("format", ["numpy", "torch"])
def test_tensors_are_columns(format, batched):
    same(
        table(),
        lambda library, dataset: dataset.with_format(format).map(
            lambda rows: {"m": rows["n"], "y": rows["x"] * 2}, batched=batched, remove_columns=["s"]
        ),
    )


@pytest.mark.parametrize("format", ["pandas", "polars", "arrow"])
def test_frames_are_columns(format):
    append = {
        "pandas": lambda frame: frame.assign(b=frame["n"] * 2),
        "polars": lambda frame: frame.with_columns(b=frame["n"] * 2),
        "arrow": lambda frame: frame.append_column("b", frame["n"]),
    }[format]
    same(table(), lambda library, dataset: dataset.with_format(format).map(append, batched=True, batch_size=3))
    same(table(), lambda library, dataset: dataset.with_format(format).map(append))


WANTED = [
    {"n": "int64", "s": "string", "x": "float32", "b": "float32"},
    {"b": "int8", "x": "float64", "s": "string", "n": "int32"},
]


@pytest.mark.parametrize("features", WANTED, ids=str)
def test_features(features):
    def mapped(library, dataset):
        wanted = library.Features({name: library.Value(kind) for name, kind in features.items()})
        return dataset.map(lambda row: {"b": row["n"]}, features=wanted)

    same(table(), mapped)


FILTERS = {
    "some": (lambda row: row["n"] > 2, False),
    "none": (lambda row: False, False),
    "truthy": (lambda row: row["n"] % 3, False),
    "nothing": (lambda row: None, False),
    "batch": (lambda batch: [value > 2 for value in batch["n"]], True),
    "array": (lambda batch: np.array(batch["n"]) > 2, True),
}


@pytest.mark.parametrize("kind", sorted(FILTERS))
def test_filter(kind):
    function, batched = FILTERS[kind]
    same(table(), lambda library, dataset: dataset.filter(function, batched=batched, batch_size=3))
    same(table(), lambda library, dataset: dataset.shuffle(seed=1).filter(function, batched=batched).take(1))


def first_letter_after_c(text, *more):
    return next(letter for letter in text if letter > "c")  # raises StopIteration for some


@pytest.mark.parametrize("operation", ["map", "filter"])
@pytest.mark.parametrize("options", [{}, {"with_indices": True}, {"with_rank": True}], ids=str)
@pytest.mark.parametrize("texts", [["d", "abc", "d"], ["abc"], ["d", "abc"]], ids=str)
def test_a_function_that_raises_stop_iteration_ends_no_rows(operation, options, texts):
    def called(library, dataset):
        function = first_letter_after_c if operation == "filter" else lambda *row: {"l": first_letter_after_c(*row)}
        return getattr(dataset, operation)(function, input_columns="s", **options)

    spec = Spec({"s": texts}, {"s": scalar("string", st.none())})
    same(spec, called)
    with pytest.raises(RuntimeError, match="StopIteration") as raised:
        called(ours, spec.dataset(ours))
    assert f"on row {texts.index('abc')}" in raised.value.__notes__[0]


def test_rows_that_raise_stop_iteration_are_collected_like_others():
    data = ours.Dataset.from_dict({"s": ["d", "abc", "e", "abc"]})
    kept = data.filter(first_letter_after_c, input_columns="s", on_error="skip")
    assert kept["s"][:] == ["d", "e"]


@pytest.mark.parametrize(("size", "drop"), [(1, True), (2, True), (7, True), (1, False), (3, False), (9, False)])
def test_batch(size, drop):
    same(table(), lambda library, dataset: dataset.batch(size, drop_last_batch=drop))
    same(table(), lambda library, dataset: dataset.shuffle(seed=2).batch(size, drop_last_batch=drop))


@given(st.lists(st.integers(0, 2), min_size=1, max_size=9))
def test_batch_by_column(keys):
    spec = Spec(
        {"k": keys, "n": list(range(len(keys)))}, {"k": scalar("int64", st.none()), "n": scalar("int64", st.none())}
    )
    same(spec, lambda library, dataset: dataset.batch(by_column="k"))


@few
@given(specs(min_rows=1), st.integers(0, 9))
def test_flatten_indices(spec, seed):
    same(spec, lambda library, dataset: dataset.shuffle(seed=seed).flatten_indices())


def test_empty():
    spec = table(0)
    same(spec, lambda library, dataset: dataset.map(lambda row: {"b": 1}))
    same(spec, lambda library, dataset: dataset.map(lambda row: {"b": 1}, remove_columns=["n"]))
    same(spec, lambda library, dataset: dataset.filter(lambda row: True))


def test_splits():
    def mapped(library, dataset):
        splits = library.DatasetDict({"train": dataset, "test": dataset.take(2)})
        named = splits.map(lambda row, place, split: {"b": f"{split}{place}"}, with_indices=True, with_split=True)
        return dict(named.filter(lambda row: row["n"] > 0))

    same(table(), mapped)


@dataclass
class Message:
    role: str
    content: str
    score: float | None = None


class Colour(enum.Enum):
    RED = "r"


OBJECTS = {
    "dataclass": Message("user", "hello"),
    "list of them": [Message("user", "hello"), Message("assistant", "hi")],
    "beside dicts": [Message("user", "hello"), {"role": "assistant"}],
    "inside a dict": {"first": Message("user", "hello"), "n": 1},
    "enum": Colour.RED,
    "complex": 1 + 2j,
}
WITHOUT_EXACT_JSON = {  # Hugging Face makes texts of the keys
    "integer keys": {1: "a", 2: {3: "b"}},
    "integer keys that differ": [{1: "a"}, {2: "b"}],
    "other keys": {None: 1, True: 2, (1, 2): 3, 1.5: 4},
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_are_stored_as_json_tells_them(kind):
    value = OBJECTS[kind]
    same(table(), lambda library, dataset: dataset.map(lambda row: {"made": value}))
    same(table(), lambda library, dataset: dataset.map(lambda batch: {"made": [value] * len(batch["n"])}, batched=True))
    same(table(), lambda library, dataset: library.Dataset.from_list([{"m": value}], on_mixed_types="use_json"))
    same(table(), lambda library, dataset: library.Dataset.from_list([{"m": value}]))
    json = ["a", value]
    same(
        table(),
        lambda library, dataset: library.Dataset.from_dict(
            {"m": json}, features=library.Features({"m": library.Json()})
        ),
    )


@pytest.mark.parametrize("kind", WITHOUT_EXACT_JSON)
def test_objects_that_json_would_change_are_refused(kind):
    value = WITHOUT_EXACT_JSON[kind]
    dataset = ours.Dataset.from_dict({"n": [1, 2]})
    with pytest.raises(ours.exceptions.ValueTypeError, match="'made', row 0"):
        dataset.map(lambda row: {"made": value})
    with pytest.raises(ours.exceptions.ValueTypeError, match="'m', row 0"):
        ours.Dataset.from_list([{"m": value}], on_mixed_types="use_json")
    with pytest.raises(ours.exceptions.ValueTypeError, match="'m', row 1"):
        ours.Dataset.from_dict({"m": ["a", value]}, features=ours.Features({"m": ours.Json()}))
