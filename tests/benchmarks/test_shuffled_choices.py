"""Choices in another order: the target goes on naming the same choice, in the same way."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import chats

from crucible_datasets.benchmarks import Sample, letter, samples_from
from crucible_datasets.benchmarks.samples.shuffling import order, position, with_shuffled_choices
from crucible_datasets.exceptions import InvalidRecordError

seeds = st.integers(0, 2**64)


@given(chats.choice_questions(), seeds)
def test_the_target_follows_its_choice_in_kind(question, seed):
    sample, right, kind = question
    other = with_shuffled_choices(sample, seed)
    assert sorted(other.choices) == sorted(sample.choices)
    assert other.target == chats.named(other.choices.index(sample.choices[right]), other.choices, kind)
    assert other.replace(choices=sample.choices, target=sample.target) == sample


@given(st.lists(chats.choice_questions(), min_size=1, max_size=5), seeds, st.randoms())
def test_the_order_depends_on_seed_and_id_alone(questions, seed, random):
    samples = [sample for sample, _, _ in questions]
    alone = [with_shuffled_choices(sample, seed) for sample in samples]
    assert list(samples_from(samples).shuffle_choices(seed)) == alone
    places = random.sample(range(len(samples)), len(samples))
    moved = samples_from([samples[place] for place in places]).shuffle_choices(seed)
    assert list(moved) == [alone[place] for place in places]


@given(st.lists(chats.choice_questions(), min_size=1, max_size=3), seeds)
def test_several_targets_all_follow(questions, seed):
    for sample, right, _ in questions:
        if len(sample.choices) <= 26:
            both = sample.replace(target=[letter(right), letter(0)])
            other = with_shuffled_choices(both, seed)
            assert [other.choices[position(one, other.choices)] for one in other.target] == [
                sample.choices[right],
                sample.choices[0],
            ]


@given(chats.samples.filter(lambda one: not one.choices), seeds)
def test_without_choices_nothing_happens(sample, seed):
    assert with_shuffled_choices(sample, seed) == sample


def test_every_order_is_as_likely_as_the_others():
    counts = Counter(tuple(order(seed, "x", 4)) for seed in range(24 * 400))
    assert len(counts) == 24
    chi_square = sum((count - 400) ** 2 / 400 for count in counts.values())
    assert chi_square < 49.7  # 23 degrees of freedom: less than once in a thousand


def test_orders_stay_the_same_for_ever():
    assert order(0, "q1", 4) == ORDERS[0] and order(1, 7, 5) == ORDERS[1]


ORDERS = ([2, 3, 1, 0], [0, 3, 2, 1, 4])


@pytest.mark.parametrize(
    ("target", "choices", "place"),
    [
        ("A", ["x", "y"], 0),
        ("B", ["B", "A"], 1),  # a letter is always a place
        ("1", ["x", "y"], 1),
        ("1", ["1", "2"], None),  # the text of a choice
        ("2", ["x", "y"], None),
        ("b", ["x", "y"], 1),
        ("b", ["x", "b", "c"], None),  # the text of a choice
        ("z", ["x", "y"], None),
        ("", ["x", "y"], None),
        ("Z", ["Z"], None),
        ("1", [f"c{n}" for n in range(30)], 26),
        ("4", [f"c{n}" for n in range(30)], 29),
        ("5", [f"c{n}" for n in range(30)], None),
        ("٢", ["x", "y", "z"], None),
    ],
)
def test_what_a_target_names(target, choices, place):
    assert position(target, choices) == place


def test_a_letter_without_a_choice_is_refused():
    with pytest.raises(InvalidRecordError, match="Sample 1: the target is 'E', but there are 4 choices"):
        with_shuffled_choices(Sample(1, "q", "E", ["a", "b", "c", "d"]), 0)


@pytest.mark.parametrize("target", ["2", "10", "(A)", "a)", "B.", "C:"])
def test_what_only_looks_like_the_name_of_a_choice_is_refused(target):
    """In another order it would be read as another choice, without a word."""
    with pytest.raises(InvalidRecordError, match="does not say which of 2 choices"):
        with_shuffled_choices(Sample(1, "q", target, ["x", "y"]), 0)
    assert with_shuffled_choices(Sample(1, "q", target, [target, "y"]), 0).target == target


@given(st.text().filter(lambda one: len(one) > 3 and not one.isdigit()), seeds)
def test_any_other_text_says_the_same_in_every_order(target, seed):
    assert with_shuffled_choices(Sample(1, "q", target, ["x", "y"]), seed).target == target
    assert with_shuffled_choices(Sample(1, "q", "tie", ["x", "y"]), seed).target == "tie"


@given(st.integers(0, 25), seeds)
def test_a_small_letter_stays_small(right, seed):
    choices = [f"c{place}" for place in range(26)]
    small = with_shuffled_choices(Sample(1, "q", letter(right).lower(), choices), seed)
    large = with_shuffled_choices(Sample(1, "q", letter(right), choices), seed)
    assert small.target == large.target.lower() and small.choices == large.choices


def test_letters():
    assert [letter(place) for place in (0, 25, 26, 27)] == ["A", "Z", "1", "2"]


def test_inspect_names_choices_the_same_way():
    inspect_ai = pytest.importorskip("inspect_ai.dataset")
    for size in (3, 26, 30):
        choices = [f"c{n}" for n in range(size)]
        theirs = inspect_ai.MemoryDataset(
            [inspect_ai.Sample(input="q", choices=choices, target=letter(size - 1), id=1)]
        )
        theirs.shuffle_choices(seed=5)
        right = position(
            theirs[0].target if isinstance(theirs[0].target, str) else theirs[0].target[0], theirs[0].choices
        )
        assert theirs[0].choices[right] == choices[-1]
