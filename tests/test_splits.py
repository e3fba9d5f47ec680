"""Splits: names, sizes, and specs as row ranges."""

import copy
import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.splits import (
    EmptySplitError,
    NamedSplit,
    NamedSplitAll,
    ReadInstruction,
    Split,
    SplitDict,
    SplitGenerator,
    SplitInfo,
    SplitNameError,
    SplitPiece,
    SplitSpecError,
    SubSplitInfo,
    UnknownSplitError,
    percent,
    pieces_of,
)

LENGTHS = {"train": 1000, "test": 99, "validation": 7}
SIZES = SplitDict({name: SplitInfo(name, 0, length) for name, length in LENGTHS.items()})


@given(st.integers(0, 60), st.none() | st.integers(-80, 80), st.none() | st.integers(-80, 80))
def test_a_spec_reads_the_rows_that_a_list_slice_reads(length, start, stop):
    spec = f"train[{'' if start is None else start}:{'' if stop is None else stop}]"
    rows = list(range(length))
    first, last, _ = slice(start, stop).indices(length)
    if first == last:
        with pytest.raises(EmptySplitError, match="corresponds to no data"):
            pieces_of(spec, {"train": length})
        return
    [piece] = pieces_of(spec, {"train": length})
    assert rows[piece.start : piece.stop] == rows[start:stop]


@given(
    st.integers(100, 10_000), st.lists(st.integers(0, 100), min_size=1, max_size=6), st.sampled_from(["", "(closest)"])
)
def test_percents_that_meet_leave_no_row_out(length, cuts, rounding):
    bounds = [0, *sorted(cuts), 100]
    spec = "+".join(f"train[{a}%:{b}%]{rounding}" for a, b in pairwise(bounds))
    rows = [row for _, start, stop in pieces_of(spec, {"train": length}) for row in range(start, stop)]
    assert rows == list(range(length))


@given(st.integers(100, 10_000), st.integers(1, 100))
def test_whole_percents_are_equally_long(length, count):
    spec = f"train[:{count}%](pct1_dropremainder)"
    assert pieces_of(spec, {"train": length}) == [("train", 0, count * (length // 100))]


@pytest.mark.parametrize(
    ("split", "pieces"),
    [
        ("all", [("train", 0, 1000), ("test", 0, 99), ("validation", 0, 7)]),
        (Split.ALL, [("train", 0, 1000), ("test", 0, 99), ("validation", 0, 7)]),
        (Split.TEST, [("test", 0, 99)]),
        (ReadInstruction("test", from_=-9), [("test", 90, 99)]),
        ("train[50:40] + test[:1]", [("train", 50, 50), ("test", 0, 1)]),
        ("train[1_0:2_0]", [("train", 10, 20)]),
        (Split.TRAIN + Split.TEST, [("train", 0, 1000), ("test", 0, 99)]),
        (Split.TRAIN + "test", [("train", 0, 1000), ("test", 0, 99)]),
        (Split.TRAIN.subsplit(percent[-10:]), [("train", 900, 1000)]),
        ((Split.TRAIN + Split.TEST).subsplit(percent[:50]), [("train", 0, 500), ("test", 0, 50)]),
    ],
)
def test_every_way_to_name_rows(split, pieces):
    assert pieces_of(split, LENGTHS) == [SplitPiece(*piece) for piece in pieces]


def test_a_split_may_be_called_all():
    assert pieces_of("all", {"all": 3, "train": 2}) == [("all", 0, 3)]


def test_an_unknown_split_says_what_exists():
    with pytest.raises(
        UnknownSplitError, match="no split 'tain'. Did you mean 'train'. Available: train, test"
    ) as caught:
        pieces_of("tain[:5]", LENGTHS)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, KeyError)
    assert pickle.loads(pickle.dumps(caught.value)).available == list(LENGTHS)


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("train[5]", "write it like"),
        ("train[1_:]", "write it like"),
        ("train[:101%]", "between -100 and 100"),
        ("train[:5](closest)", "only percents are rounded"),
        ("train[:5%](up)", "closest, pct1_dropremainder"),
        ("train[:5%]+test[:5%](pct1_dropremainder)", "rounded in one way"),
    ],
)
def test_a_spec_that_makes_no_sense_says_why(spec, hint):
    with pytest.raises(SplitSpecError, match=hint):
        ReadInstruction.from_spec(spec)


def test_whole_percents_need_a_hundred_rows():
    with pytest.raises(ValueError, match="one percent of 99 rows is no row"):
        pieces_of("test[:5%](pct1_dropremainder)", LENGTHS)


def test_instructions_are_equal_when_they_read_the_same():
    assert ReadInstruction("train") == ReadInstruction.from_spec("train[:]") == ReadInstruction(Split.TRAIN)
    assert len({ReadInstruction("train", to=5), ReadInstruction.from_spec("train[:5]")}) == 1
    assert ReadInstruction("train") != ReadInstruction("test")
    assert copy.deepcopy(ReadInstruction("train", to=5)) == ReadInstruction("train", to=5)


def test_an_instruction_adds_only_to_another():
    with pytest.raises(TypeError, match="not to str"):
        ReadInstruction("train") + "test"


def test_a_named_split_is_its_name():
    assert Split("x") == "x" == str(NamedSplit("x"))
    assert {Split.TRAIN: 1}["train"] == 1
    assert Split.TRAIN not in (None, 3, "test", Split.ALL)
    assert sorted(["b", Split("c"), NamedSplit("a")]) == ["a", "b", "c"]
    assert isinstance(Split("all"), NamedSplitAll)
    assert pickle.loads(pickle.dumps(Split.ALL)) == copy.deepcopy(Split.ALL) == "all"


@pytest.mark.parametrize("name", ["", "a b", "a-b", "a..b", "train]"])
def test_a_name_that_no_spec_could_hold_is_refused(name):
    with pytest.raises(SplitNameError, match="as in 'train'"):
        NamedSplit(name)


def test_sums_and_parts_do_not_compare():
    with pytest.raises(NotImplementedError):
        Split.TRAIN + Split.TEST == Split.TRAIN + Split.TEST
    assert Split.TRAIN + Split.TEST != "train"
    assert Split.TRAIN + Split.TEST not in (None, 3)


def test_a_part_of_a_part_is_refused():
    twice = Split.TRAIN.subsplit(percent[:50]).subsplit(percent[:50])
    with pytest.raises(SplitSpecError, match="already a part"):
        twice.get_read_instruction(SIZES)


def test_split_sizes_by_name_and_by_spec():
    splits = SplitDict({"train": SplitInfo("train", 5, 10, [4, 6], dataset_name="d")}, dataset_name="d")
    assert splits[Split.TRAIN] is splits["train"]
    part = splits["train[2:7]"]
    assert isinstance(part, SubSplitInfo) and part.num_examples == 5
    assert part.file_instructions == [
        {"filename": "d-train-00000-of-00002.arrow", "skip": 2, "take": -1},
        {"filename": "d-train-00001-of-00002.arrow", "skip": 0, "take": 3},
    ]
    assert [file["take"] for file in splits["train"].file_instructions] == [-1, -1]
    with pytest.raises(KeyError, match="no split 'test'"):
        splits["test"]


def test_a_split_is_kept_under_its_own_name_and_once():
    splits = SplitDict()
    splits["a"] = SplitInfo("a")
    with pytest.raises(ValueError, match="its own name, 'b'"):
        splits["a"] = SplitInfo("b")
    with pytest.raises(ValueError, match="already there"):
        splits.add(SplitInfo("a"))


def test_split_sizes_survive_every_copy():
    splits = SplitDict.from_split_dict([{"name": "a", "num_examples": 3}, SplitInfo("b", 1, 2)], "d")
    for again in (pickle.loads(pickle.dumps(splits)), copy.deepcopy(splits), splits.copy()):
        assert again == splits and again.dataset_name == "d" and again["a"] is not splits["a"]
    assert splits.total_num_examples == 5


def test_a_generator_names_its_split():
    generator = SplitGenerator(Split.TRAIN, {"files": [1]})
    assert (generator.name, generator.split_info, generator.gen_kwargs) == ("train", SplitInfo("train"), {"files": [1]})
