"""Samplers: every row where it belongs, by the seed, over datasets and samples, with how it was drawn."""

from __future__ import annotations

from collections import Counter

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets import Dataset
from crucible_datasets.benchmarks.samples.table import Samples
from crucible_datasets.evaluation import bootstrap_sample, k_fold, random_sample, split, stratified_sample
from crucible_datasets.evaluation.sampling.fieldvalues import field_values
from crucible_datasets.exceptions import ArgumentError, ArgumentTypeError, ColumnNotFoundError

LEVELS = st.lists(st.sampled_from(["easy", "hard", None, "odd"]), min_size=2, max_size=60)
SEEDS = st.integers(0, 50)


def questions(levels, kind="dataset", json=False):
    rows = [
        {
            "id": str(number),
            "input": f"{number}?",
            "target": "",
            "choices": None,
            "metadata": {"level": level, "from": {"text": number // 3}} | ({str(number): 1} if json else {}),
        }
        for number, level in enumerate(levels)
    ]
    if json:
        rows[0]["metadata"]["extra"] = "text"
        rows[-1]["metadata"]["extra"] = 1
    dataset = Dataset.from_list(rows, on_mixed_types="use_json")
    return dataset if kind == "dataset" else Samples(dataset)


def ids(data):
    return [int(sample.id) for sample in data] if isinstance(data, Samples) else [int(id) for id in data["id"]]


def checked(drawn, kind):
    """What was drawn is of the kind that was given, has the rows it says, and says how many."""
    assert isinstance(drawn.data, Samples if kind == "samples" else Dataset)
    assert ids(drawn.data) == drawn.rows.tolist()
    assert drawn.info.size == len(drawn) == len(drawn.rows)
    return drawn


kinds = pytest.mark.parametrize("kind", ["dataset", "samples"])


@kinds
@given(levels=LEVELS, seed=SEEDS, share=st.floats(0, 1))
def test_a_random_sample_is_that_of_the_dataset(kind, levels, seed, share):
    drawn = checked(random_sample(questions(levels, kind), share, seed=seed), kind)
    assert ids(drawn.data) == ids(questions(levels).sample(share, seed=seed))
    assert len(set(drawn.rows.tolist())) == len(drawn)
    again = random_sample(questions(levels, kind), share, seed=seed)
    assert (again.rows.tolist(), again.info) == (drawn.rows.tolist(), drawn.info)


@kinds
@given(levels=LEVELS, seed=SEEDS, data=st.data())
def test_strata_get_their_exact_shares_by_a_nested_field(kind, levels, seed, data):
    n = data.draw(st.integers(0, len(levels)))
    drawn = checked(stratified_sample(questions(levels, kind), n, "metadata.level", seed=seed), kind)
    assert len(drawn) == n
    found, whole = Counter(levels[row] for row in drawn.rows), Counter(levels)
    for level, number in whole.items():
        assert abs(found[level] - n * number / len(levels)) < 1
    assert drawn.info.strata == {str(level): number for level, number in found.items()}
    assert (drawn.info.method, drawn.info.stratify_by, drawn.info.seed) == ("stratified", "metadata.level", seed)


@kinds
@given(levels=LEVELS, seed=SEEDS, k=st.integers(2, 5), shuffle=st.booleans(), how=st.sampled_from(["", "s", "g", "sg"]))
def test_every_row_is_tested_once(kind, levels, seed, k, shuffle, how):
    groups = [number // 3 for number in range(len(levels))]
    asked = {
        "stratify_by": "metadata.level" if "s" in how else None,
        "group_by": "metadata.from.text" if "g" in how else None,
    }
    if k > (max(groups) + 1 if "g" in how else len(levels)):
        with pytest.raises(ArgumentError):
            k_fold(questions(levels, kind), k, seed, shuffle, **asked)
        return
    folds = k_fold(questions(levels, kind), k, seed, shuffle, **asked)
    assert sorted(row for fold in folds for row in fold.test.rows.tolist()) == list(range(len(levels)))
    for number, fold in enumerate(folds):
        for part in fold:
            checked(part, kind)
        assert sorted([*fold.train.rows, *fold.test.rows]) == list(range(len(levels)))
        if "g" in how:
            assert not {groups[row] for row in fold.train.rows} & {groups[row] for row in fold.test.rows}
        info = fold.test.info
        assert (info.fold, info.num_folds, info.part, fold.train.info.part) == (number, k, "test", "train")
        assert info.seed == (seed if shuffle else None)
    if how == "s":
        for level in set(levels):
            counts = [sum(levels[row] == level for row in fold.test.rows) for fold in folds]
            assert max(counts) - min(counts) <= 1


@kinds
@given(levels=LEVELS, seed=SEEDS, data=st.data(), stratified=st.booleans())
def test_a_split_puts_every_row_into_one_part(kind, levels, seed, data, stratified):
    test = data.draw(st.integers(0, len(levels)))
    validation = data.draw(st.one_of(st.none(), st.integers(0, len(levels) - test)))
    asked = {"stratify_by": "metadata.level"} if stratified else {}
    parts = split(questions(levels, kind), validation=validation, test=test, seed=seed, **asked)
    assert list(parts) == [
        name for name in ("train", "validation", "test") if name != "validation" or validation is not None
    ]
    assert sorted(row for part in parts.values() for row in part.rows.tolist()) == list(range(len(levels)))
    assert (len(parts["test"]), len(parts.get("validation", []))) == (test, validation or 0)
    for name, part in parts.items():
        assert checked(part, kind).info.part == name
        if stratified:
            for level, number in Counter(levels).items():
                own = sum(levels[row] == level for row in part.rows)
                assert abs(own - len(part) * number / len(levels)) < (1 if name == "test" else 2)
    again = split(questions(levels, kind), validation=validation, test=test, seed=seed, **asked)
    assert all(part.rows.tolist() == again[name].rows.tolist() for name, part in parts.items())


@given(sizes=st.lists(st.integers(1, 9), min_size=3, max_size=30), seed=SEEDS)
def test_a_split_by_groups_keeps_them_whole_and_near_the_sizes(sizes, seed):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    data = Dataset.from_dict({"group": groups})
    parts = split(data, test=0.25, validation=0.25, seed=seed, group_by="group")
    owners = [set(groups[part.rows].tolist()) for part in parts.values()]
    assert sum(map(len, owners)) == len(sizes)
    assert set().union(*owners) == set(range(len(sizes)))
    for part, share in zip(parts.values(), (0.5, 0.25, 0.25), strict=True):
        assert abs(len(part) - share * len(groups)) <= max(sizes)


def test_large_groups_are_placed_first():
    data = Dataset.from_dict({"group": [0] * 50 + list(range(1, 51))})
    assert {name: len(part) for name, part in split(data, test=0.5, group_by="group").items()} == {
        "train": 50,
        "test": 50,
    }


@pytest.mark.parametrize(
    ("asked", "sizes"),
    [
        ({}, {"train": 82, "test": 21}),
        ({"train": 0.7}, {"train": 72, "test": 31}),
        ({"test": 0.1, "validation": 5}, {"train": 88, "validation": 5, "test": 10}),
        ({"train": 0.8, "validation": 0.1, "test": 0.1}, {"train": 83, "validation": 10, "test": 10}),
        ({"train": 0.5, "test": 0.5}, {"train": 51, "test": 52}),
        ({"train": 100, "validation": 2, "test": 1}, {"train": 100, "validation": 2, "test": 1}),
    ],
)
def test_sizes_of_parts(asked, sizes):
    parts = split(questions(["easy"] * 103), **asked)
    assert {name: len(part) for name, part in parts.items()} == sizes


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"train": 0.8, "test": 0.3}, "110 % of the rows; leave out train"),
        ({"validation": 0.8, "test": 0.3}, "110 % of the rows; none would be left for train"),
        ({"train": 8, "test": 1}, "9 rows, and there are 10; leave out train"),
        ({"train": 0.5, "test": 1}, "6 rows, and there are 10; leave out train"),
    ],
)
def test_sizes_that_do_not_fit_are_added_up(asked, told):
    with pytest.raises(ArgumentError, match=f"together they are {told}"):
        split(questions(["easy"] * 10), **asked)


@kinds
@given(levels=LEVELS, seed=SEEDS)
def test_a_bootstrap_sample_draws_from_all_rows_each_time(kind, levels, seed):
    drawn = checked(bootstrap_sample(questions(levels, kind), seed=seed), kind)
    assert len(drawn) == len(levels)
    assert set(drawn.rows.tolist()) <= set(range(len(levels)))
    assert len(bootstrap_sample(questions(levels, kind), 3 * len(levels), seed=seed)) == 3 * len(levels)


def test_rows_are_drawn_alike():
    """Over many seeds every row is drawn as often as its share says."""
    data = questions(["easy", "hard"] * 10)
    drawn = Counter(row for seed in range(200) for row in stratified_sample(data, 5, "metadata.level", seed).rows)
    assert len(drawn) == 20
    assert all(22 <= number <= 78 for number in drawn.values())  # 50 expected, standard deviation 6


def test_the_seed_decides_and_the_info_can_be_stored():
    data = questions(["easy", "hard"] * 20)
    one, other = (random_sample(data, 10, seed=seed) for seed in (1, 2))
    assert one.rows.tolist() != other.rows.tolist()
    assert one.info.fingerprint == other.info.fingerprint == str(data._fingerprint)
    assert msgspec.json.decode(msgspec.json.encode(one.info), type=type(one.info)) == one.info
    assert one.info.original_size == 40


def test_a_field_may_lie_in_a_column_of_any_json():
    data = questions(["easy", "hard", None, "easy"], json=True)
    assert list(field_values(data, "metadata.level")) == ["easy", "hard", None, "easy"]
    assert stratified_sample(data, 2, "metadata.level").info.strata in ({"easy": 1, "hard": 1}, {"easy": 1, "None": 1})


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda data: random_sample(data, 7), ArgumentError),
        (lambda data: stratified_sample(data, 2, "metadata.lvel"), ColumnNotFoundError),
        (lambda data: stratified_sample(data, 2, "lvel"), ColumnNotFoundError),
        (lambda data: stratified_sample(data, 2, "id.level"), ColumnNotFoundError),
        (lambda data: k_fold(data, 1), ArgumentError),
        (lambda data: split(data, test=1.5), ArgumentError),
        (lambda data: split(data, test=True), ArgumentError),
        (lambda data: split(data, test="half"), ArgumentError),
        (lambda data: split(data, test=4, validation=4), ArgumentError),
        (lambda data: split(data, train=0.5, validation=0.1, test=0.1), ArgumentError),
        (lambda data: split(data, stratify_by="id", group_by="id"), ArgumentError),
        (lambda data: random_sample(data.to_iterable_dataset(), 1), ArgumentTypeError),
        (lambda data: random_sample([1, 2], 1), ArgumentTypeError),
    ],
)
def test_what_makes_no_sense_is_refused(call, error):
    with pytest.raises(error):
        call(questions(["easy"] * 6))
