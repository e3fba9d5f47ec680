"""`DatasetDict`: every method on every split, as in Hugging Face `datasets`."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.parity import same
from support.tables import Spec, kinds, scalar, specs

import crucible_datasets as ours


def numbers(size: int) -> Spec:
    kinds = {"n": scalar("int64", st.none()), "s": scalar("string", st.none())}
    return Spec({"n": list(range(size)), "s": [str(place % 3) for place in range(size)]}, kinds)


PAIR = (numbers(7), numbers(5))


def both(call):
    same(PAIR, lambda library, train, test: call(library, library.DatasetDict({"train": train, "test": test})))


CALLS = {
    "select_columns": lambda splits: splits.select_columns(["s"]),
    "remove_columns": lambda splits: splits.remove_columns("s"),
    "rename_column": lambda splits: splits.rename_column("s", "t"),
    "rename_columns": lambda splits: splits.rename_columns({"s": "t", "n": "m"}),
    "flatten": lambda splits: splits.flatten(),
    "sort": lambda splits: splits.sort(["s", "n"], reverse=[True, False]),
    "class_encode_column": lambda splits: splits.class_encode_column("s"),
    "with_format": lambda splits: splits.with_format("numpy", columns=["n"]),
    "unique": lambda splits: splits.unique("s"),
    "num_rows": lambda splits: splits.num_rows,
    "num_columns": lambda splits: splits.num_columns,
    "column_names": lambda splits: splits.column_names,
    "shape": lambda splits: splits.shape,
    "cache_files": lambda splits: splits.cache_files,
    "repr": repr,
    "keys": list,
    "context": lambda splits: splits.__enter__(),
    "a split": lambda splits: splits["test"],
    "a missing split": lambda splits: splits["zz"],
    "a number": lambda splits: splits[0],
    "a missing column": lambda splits: splits.remove_columns("zz"),
    "sort by a missing column": lambda splits: splits.sort("zz"),
    "unknown format": lambda splits: splits.with_format("zz"),
    "seed": lambda splits: splits.shuffle(seed=3),
    "one seed for all": lambda splits: splits.shuffle(3),
    "seeds": lambda splits: splits.shuffle(seeds={"train": 1, "test": 2}),
    "seeds, one of them none": lambda splits: splits.shuffle(seeds={"train": 1, "test": 2, "zz": 3}),
    "a seed missing": lambda splits: splits.shuffle(seeds={"train": 1}),
    "seed and seeds": lambda splits: splits.shuffle(seeds={"train": 1, "test": 2}, seed=1),
    "generators": lambda splits: splits.shuffle(
        generators={"train": np.random.default_rng(1), "test": np.random.default_rng(2)}
    ),
    "get": lambda splits: splits.get("zz"),
    "pop": lambda splits: (splits.pop("train").num_rows, list(splits)),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    both(lambda library, splits: CALLS[name](splits))


@given(specs(), specs(kinds))
def test_cast_and_repr_of_any_tables(first, second):
    same((first, second), lambda library, train, test: repr(library.DatasetDict({"train": train, "test": test})))
    same((first, second), lambda library, train, test: library.DatasetDict({"train": train, "test": test}).shape)


def test_casts():
    both(lambda library, splits: splits.cast_column("n", library.Value("int8")))
    both(
        lambda library, splits: splits.cast(
            library.Features({"n": library.Value("float32"), "s": library.Value("string")})
        )
    )
    both(lambda library, splits: splits.cast(library.Features({"n": library.Value("float32")})))


def test_formats_in_place():
    def call(library, splits):
        splits.set_format("numpy", columns=["n"])
        before = splits["train"].format
        with splits.formatted_as("pandas"):
            inside = splits["test"].format
        after = splits["test"].format
        splits.reset_format()
        return before, inside, after, splits["train"].format

    both(call)


def test_transforms():
    def call(library, splits):
        made = splits.with_transform(lambda batch: {"k": batch["n"]})
        splits.set_transform(lambda batch: {"j": batch["n"]}, columns=["n"], output_all_columns=True)
        return made["train"][0], splits["test"][:2]

    both(call)


def test_labels():
    mapping = {"2": 0, "0": 1, "1": 2}
    both(lambda library, splits: splits.class_encode_column("s").align_labels_with_mapping(mapping, "s"))


def test_empty_dicts_and_wrong_values():
    same((), lambda library: repr(library.DatasetDict()))
    same((), lambda library: library.DatasetDict()["train"])
    same((), lambda library: library.DatasetDict({"train": 5}).num_rows)
    same((), lambda library: library.DatasetDict({"train": 5}).select_columns("n"))
    same((), lambda library: library.DatasetDict({"train": [1]}).shape)


def test_splits_of_other_columns():
    def call(library, train, test):
        return library.DatasetDict({"train": train, "test": test.remove_columns("s")}).column_names

    same(PAIR, call)


# These take one seed, file or folder per split.
_OWN = {"shuffle", "sort", "save_to_disk", "load_from_disk", "map", "filter", "flatten_indices"}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, method in vars(ours.DatasetDict).items()
        if not name.startswith("_") and callable(method) and hasattr(ours.Dataset, name) and name not in _OWN
    ],
)
def test_parameters_are_those_of_dataset(name):
    """A method here takes the arguments of `Dataset`'s, in the same order and with the same defaults."""
    own = list(inspect.signature(getattr(ours.DatasetDict, name)).parameters.values())
    single = {each.name: each for each in inspect.signature(getattr(ours.Dataset, name)).parameters.values()}
    shared = [each for each in own if each.name in single]
    assert [each.name for each in shared] == [each for each in single if each in {one.name for one in shared}]
    assert all(single[each.name].default == each.default for each in shared)
    assert [each.name for each in own if each.name not in single] == []
