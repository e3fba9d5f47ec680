"""Formats, conversions, and the places where the two libraries differ on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import datasets as hf
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.parity import canonical, outcome, same
from support.tables import BOOL, FLOATS, INTEGERS, NULL, TEXTS, Kind, Spec, listed, scalar, specs, struct

import crucible_datasets as ours

FORMATS = [
    None,
    "numpy",
    "np",
    "torch",
    "pt",
    "pytorch",
    "pandas",
    "pd",
    "polars",
    "pl",
    "arrow",
    "pa",
    "pyarrow",
    "python",
]
simple = st.sampled_from([*INTEGERS, *FLOATS, *TEXTS, BOOL, NULL])

FOUR = Spec(
    {"n": [1, 2, 3, 4], "s": ["x", "y", "z", ""], "d": [{"p": 1, "q": "u"}] * 4, "l": [[1], [2, 3], [], [4]]},
    {
        "n": scalar("int64", st.none()),
        "s": scalar("string", st.none()),
        "d": Kind("d", lambda lib: {"p": lib.Value("int64"), "q": lib.Value("string")}, st.none()),
        "l": listed(scalar("int64", st.none())),
    },
)


# Formats


@pytest.mark.parametrize("type", FORMATS)
@pytest.mark.parametrize("columns", [None, "n", ["n"], ["s", "n"], [], ["zz"], ["n", "zz"]], ids=str)
@pytest.mark.parametrize("everything", [False, True])
def test_format_states(type, columns, everything):
    def call(library, dataset):
        with_it = dataset.with_format(type, columns=columns, output_all_columns=everything)
        dataset.set_format(type, columns=columns, output_all_columns=everything)
        states = [with_it.format, dataset.format]
        dataset.reset_format()
        return [*states, dataset.format]

    same(FOUR, call)


@pytest.mark.parametrize("type", [None, "numpy", "torch", "pandas", "arrow", "polars"])
@pytest.mark.parametrize("columns", [None, "n", ["s", "n"]], ids=str)
@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("key", [0, -1, slice(0, 2), [3, 1], "n", "s", slice(0, 0)], ids=str)
def test_effect_of_formats(type, columns, everything, key):
    def call(library, dataset):
        found = dataset.with_format(type, columns=columns, output_all_columns=everything)[key]
        return found[:] if isinstance(found, (hf.Column, ours.Column)) else found

    same(FOUR, call)


@pytest.mark.parametrize("type", ["zz", 5, "NumPy"])
def test_unknown_formats(type):
    same(FOUR, lambda library, dataset: dataset.with_format(type))


def test_formats_for_the_length_of_a_block():
    def call(library, dataset):
        dataset.set_format("numpy", columns=["n"])
        with dataset.formatted_as("pandas", columns=["s"]):
            inside = dataset.format, dataset[:2]
        try:
            with dataset.formatted_as("torch"):
                raise RuntimeError
        except RuntimeError:
            pass
        return inside, dataset.format, dataset[0]

    same(FOUR, call)


OPERATIONS = {
    "select": lambda dataset: dataset.select([2, 1]),
    "shuffle": lambda dataset: dataset.shuffle(seed=1),
    "sort": lambda dataset: dataset.sort("n", reverse=True),
    "take": lambda dataset: dataset.take(2),
    "repeat": lambda dataset: dataset.repeat(2),
    "shard": lambda dataset: dataset.shard(2, 1),
    "remove": lambda dataset: dataset.remove_columns("s"),
    "remove a shown one": lambda dataset: dataset.remove_columns("n"),
    "rename": lambda dataset: dataset.rename_column("n", "m"),
    "rename several": lambda dataset: dataset.rename_columns({"n": "m", "s": "t"}),
    "select_columns": lambda dataset: dataset.select_columns(["s", "n"]),
    "add_column": lambda dataset: dataset.add_column("new", [1, 2, 3, 4]),
    "add_item": lambda dataset: dataset.add_item({"n": 5}),
    "cast": lambda dataset: dataset.cast(dataset.features),
    "class_encode": lambda dataset: dataset.remove_columns(["d", "l"]).class_encode_column("s"),
    "split": lambda dataset: dataset.train_test_split(0.5, seed=1)["test"],
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("columns", [None, ["n"], ["n", "s"]], ids=str)
def test_formats_survive_operations(operation, columns):
    same(
        FOUR,
        lambda library, dataset: OPERATIONS[operation](dataset.with_format("numpy", columns=columns)).format["type"],
    )
    same(FOUR, lambda library, dataset: OPERATIONS[operation](dataset.with_format("numpy", columns=columns)))


@pytest.mark.parametrize("arguments", [{"dtype": np.int8}, {"dtype": "float32"}, {"copy": True}], ids=str)
def test_options_of_formats(arguments):
    same(FOUR, lambda library, dataset: dataset.with_format("numpy", columns=["n"], **arguments)[:2])
    same(FOUR, lambda library, dataset: dataset.with_format("numpy", columns=["n"], **arguments).format["columns"])


def doubled(batch):
    return {"k": [2 * number for number in batch["n"]]}


@pytest.mark.parametrize("key", [0, -1, slice(1, 3), [0, 3], "k", "n", "zz"], ids=str)
@pytest.mark.parametrize("columns", [None, ["n"]], ids=str)
@pytest.mark.parametrize("everything", [False, True])
def test_transforms(key, columns, everything):
    def call(library, dataset):
        found = dataset.with_transform(doubled, columns=columns, output_all_columns=everything)[key]
        return found[:] if isinstance(found, (hf.Column, ours.Column)) else found

    same(FOUR, call)


def test_transforms_in_place():
    def call(library, dataset):
        dataset.set_transform(doubled)
        return list(dataset), list(dataset.iter(3)), dataset.format["type"], dataset.with_format(None)[0]

    same(FOUR, call)
    same(FOUR, lambda library, dataset: dataset.with_transform(lambda batch: 5)[0])
    same(FOUR, lambda library, dataset: dataset.with_transform(lambda batch: batch)[1])
    same(FOUR, lambda library, dataset: dataset.with_transform(lambda batch: {"k": len(batch)})[1:])


# Conversions


@given(specs(), st.integers(1, 5))
def test_to_dict_and_to_list(spec, size):
    for prepare in (
        lambda dataset: dataset,
        lambda dataset: dataset.shuffle(seed=1),
        lambda dataset: dataset.with_format("numpy"),
    ):
        same(spec, lambda library, dataset, prepare=prepare: prepare(dataset).to_dict())
        same(spec, lambda library, dataset, prepare=prepare: prepare(dataset).to_list())
        same(spec, lambda library, dataset, prepare=prepare: prepare(dataset).to_dict(batch_size=size, batched=True))


def _has_large_integers_and_null(values):
    items = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return None in items and any(isinstance(item, int) and abs(item) > 2**53 for item in items)


@given(specs(simple | simple.map(listed)), st.integers(1, 5))
def test_to_pandas(spec, size):
    """Without structs: whether pyarrow shows their integers as floats beside a null depends on its chunks."""
    # There, they are rounded.
    assume(not any(_has_large_integers_and_null(values) for values in spec.columns.values()))
    same(spec, lambda library, dataset: dataset.to_pandas())
    same(spec, lambda library, dataset: dataset.shuffle(seed=1).to_pandas())
    same(spec, lambda library, dataset: dataset.to_pandas(batch_size=size, batched=True))


@given(specs(simple | simple.map(listed) | st.builds(struct, simple, simple)), st.integers(1, 5))
def test_to_polars(spec, size):
    same(spec, lambda library, dataset: dataset.to_polars())
    same(spec, lambda library, dataset: dataset.shuffle(seed=1).to_polars())
    same(spec, lambda library, dataset: dataset.to_polars(batch_size=size, batched=True))


@given(specs())
def test_features_are_a_copy(spec):
    def call(library, dataset):
        dataset.features.clear()
        return dataset.features.to_dict(), dataset.info.features.to_dict()

    same(spec, lambda library, dataset: len(call(library, dataset)))
    assert call(ours, spec.dataset(ours))[0] == spec.features(ours).to_dict()


# Differences


@dataclass(frozen=True)
class Difference:
    """A call, what Hugging Face makes of it, what this library makes of it, and why."""

    reason: str
    call: Callable[[Any, Any], Any]
    theirs: Any
    own: Any


def rows_with_more_keys():
    yield {"n": 1}
    yield {"n": 2, "m": 3}


def no_rows():
    yield from ()


NEVER_RETURNS = object()
LABELS = Spec(
    {"y": [None, 3, 0]},
    {"y": scalar("int64", st.none())},
)

DIFFERENCES = {
    "rename to a name that is taken": Difference(
        "two columns of one name, of which only one is a feature, cannot be told apart",
        lambda library, dataset: dataset.rename_columns({"n": "s"}).column_names,
        ["s", "s", "d", "l"],
        ValueError,
    ),
    "select a column twice": Difference(
        "a table with two columns of one name cannot be read back",
        lambda library, dataset: dataset.select_columns(["n", "n"]).column_names,
        ["n", "n"],
        ValueError,
    ),
    "remove a column twice": Difference(
        "the column is gone either way",
        lambda library, dataset: dataset.remove_columns(["n", "n"]).column_names,
        KeyError,
        ["s", "d", "l"],
    ),
    "a list of bools as a key": Difference(
        "a mask is taken for row numbers 0 and 1",
        lambda library, dataset: dataset[[True, False]]["n"],
        [2, 1],
        TypeError,
    ),
    "floats as a key": Difference(
        "numbers that are no row numbers are cut off",
        lambda library, dataset: dataset[np.array([1.7])]["n"],
        [2],
        TypeError,
    ),
    "floats in select": Difference(
        "the wrong type is a type error",
        lambda library, dataset: dataset.select([0.5])["n"][:],
        IndexError,
        TypeError,
    ),
    "an iterator as a key": Difference(
        "whatever yields row numbers names rows",
        lambda library, dataset: dataset[iter([0, 2])]["n"],
        TypeError,
        [1, 3],
    ),
    "bytes as a key": Difference(
        "bytes are no row numbers",
        lambda library, dataset: dataset[b"\x00"],
        {"n": [1], "s": ["x"], "d": [{"p": 1, "q": "u"}], "l": [[1]]},
        TypeError,
    ),
    "negative row numbers after a shuffle": Difference(
        "they count from the end before a shuffle and are refused after it",
        lambda library, dataset: dataset.select([3, 1, 0])[[-1]]["n"],
        IndexError,
        [1],
    ),
    "select from no rows": Difference(
        "row numbers are not checked when there are no rows",
        lambda library, dataset: len(dataset.take(0).select([5])),
        0,
        IndexError,
    ),
    "skip all rows": Difference(
        "nothing is left, as when more rows are skipped",
        lambda library, dataset: len(dataset.skip(4)),
        IndexError,
        0,
    ),
    "skip fewer than no rows": Difference(
        "nothing is skipped, as `take` of fewer than none takes nothing",
        lambda library, dataset: len(dataset.skip(-1)),
        OverflowError,
        4,
    ),
    "a shard of no rows": Difference(
        "there are more shards than rows, so some have none",
        lambda library, dataset: [len(dataset.shard(6, index)) for index in range(6)],
        IndexError,
        [1, 1, 1, 1, 0, 0],
    ),
    "add a translation": Difference(
        "its feature is taken for a dict of features",
        lambda library, dataset: len(
            library.Dataset.from_dict(
                {"t": [None]}, features=library.Features({"t": library.Translation(languages=["de", "en"])})
            ).add_item({"t": {"de": "ja", "en": "yes"}})
        ),
        AttributeError,
        2,
    ),
    "add a JSON column": Difference(
        "values are not written as JSON text first",
        lambda library, dataset: dataset.add_column("j", [{"x": 1}, 2, "a", None], feature=library.Json())["j"][:],
        TypeError,
        [{"x": 1}, 2, "a", None],
    ),
    "an empty range of rows beyond the end": Difference(
        "nothing is asked for, so nothing is missing",
        lambda library, dataset: len(dataset.select(range(6, 6))),
        IndexError,
        0,
    ),
    "a missing column of no rows": Difference(
        "the column is missing however many rows there are",
        lambda library, dataset: len(dataset.take(0).sort("zz")),
        0,
        ValueError,
    ),
    "cast no rows": Difference(
        "types are left as they were when there are no rows",
        lambda library, dataset: dataset.take(0).cast_column("n", library.Value("int8")).features["n"].dtype,
        "int64",
        "int8",
    ),
    "flatten to depth one": Difference(
        "there is nothing to flatten",
        lambda library, dataset: dataset.flatten(max_depth=1).column_names,
        NameError,
        ["n", "s", "d", "l"],
    ),
    "unique after a shuffle": Difference(
        "values come in the order of the rows before the shuffle",
        lambda library, dataset: dataset.shuffle(seed=3).unique("n") == dataset.shuffle(seed=3)["n"][:],
        False,
        True,
    ),
    "unique values of lists and structs": Difference(
        "their different values exist as well",
        lambda library, dataset: dataset.unique("d"),
        NotImplementedError,
        [{"p": 1, "q": "u"}],
    ),
    "add a matrix as a column": Difference(
        "`from_dict` takes it too",
        lambda library, dataset: dataset.add_column("m", np.zeros((4, 1)))["m"][:],
        ValueError,
        [[0.0]] * 4,
    ),
    "labels beside a null": Difference(
        "a null hides numbers that name no label",
        lambda library, dataset: LABELS.dataset(library).cast_column("y", library.ClassLabel(names=["a", "b"]))["y"][:],
        [None, 3, 0],
        ValueError,
    ),
    "align without the right type": Difference(
        "the error speaks of the column",
        lambda library, dataset: dataset.align_labels_with_mapping({"a": 1}, "n"),
        NameError,
        ValueError,
    ),
    "a field of null structs": Difference(
        "the field of nothing is nothing",
        lambda library, dataset: library.Dataset.from_dict({"d": [{"p": 1}, None]})["d"]["p"][:],
        TypeError,
        [1, None],
    ),
    "rows that bring keys later": Difference(
        "later keys are silently dropped",
        lambda library, dataset: library.Dataset.from_generator(rows_with_more_keys, keep_in_memory=True).column_names,
        ["n"],
        ["n", "m"],
    ),
    "a generator of no rows": Difference(
        "features are given, so the dataset is known",
        lambda library, dataset: (
            library.Dataset.from_generator(
                no_rows, features=library.Features({"n": library.Value("int8")}), keep_in_memory=True
            ).column_names
        ),
        ValueError,
        ["n"],
    ),
    "a list of no rows": Difference(
        "features are given, so the dataset is known",
        lambda library, dataset: (
            library.Dataset.from_list([], features=library.Features({"n": library.Value("int8")})).column_names
        ),
        ValueError,
        ["n"],
    ),
    "batches of no rows": Difference(
        "it looks for a first batch for ever", lambda library, dataset: next(dataset.iter(0)), NEVER_RETURNS, ValueError
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences_are_as_described(name):
    difference = DIFFERENCES[name]
    both = ((hf, difference.theirs), (ours, difference.own))
    for library, expected in [each for each in both if each[1] is not NEVER_RETURNS]:
        kind, found, _ = outcome(lambda library=library: difference.call(library, FOUR.dataset(library)))
        if isinstance(expected, type):
            assert kind == "error", f"{library.__name__}: {found}"
            assert isinstance(found, expected), f"{library.__name__}: {found!r}"
        else:
            assert (kind, found) == ("value", canonical(expected)), library.__name__
