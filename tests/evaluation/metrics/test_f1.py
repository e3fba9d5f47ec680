"""Token F1, by SQuAD's truth table and its laws."""

import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.evaluation import METRICS, score

TABLE = [
    ("The cat.", "a cat", 1, 1.0),
    ("Paris Paris Paris Paris Paris", "Paris", 0, 1 / 3),
    ("Denver Broncos won", "Denver Broncos", 0, 0.8),
    ("twenty-one", "twenty one", 0, 0.0),
    ("It's", "its", 1, 1.0),
    ("U.S.A", "usa", 1, 1.0),
    ("a b c d", "b c e", 0, 2 / 3),
    ("the", "a", 1, 0.0),
]


@pytest.mark.parametrize(("prediction", "target", "match", "f1"), TABLE)
def test_the_truth_table(prediction, target, match, f1):
    assert score("exact_match", prediction, target, normalize="squad") == match
    assert score("exact_match", prediction, target, extract="squad@1.1", normalize=False) == match
    assert score("f1", prediction, target) == pytest.approx(f1, abs=1e-15)
    assert METRICS["f1"].score_many([prediction], [target])[0].value == pytest.approx(f1, abs=1e-15)


def test_the_best_of_several_right_answers_counts():
    golds = ["Denver", "Denver Broncos", "the Broncos"]
    assert score("f1", "Denver Broncos won", golds) == 0.8
    assert score("exact_match", "denver broncos", golds) == 1.0
    assert METRICS["f1"].score_many(["Denver", "x"], [golds, golds])[0].value == 1.0


def test_no_answer_meets_no_answer_when_asked():
    assert score("f1", "", "") == 0.0
    assert score("f1", "", "", no_answer=True) == 1.0
    assert score("f1", "", [], no_answer=True) == 1.0
    assert score("f1", "something", [], no_answer=True) == 0.0


def test_mappings_give_their_text():
    assert score("f1", {"text": "a cat"}, {"answer": "the cat"}) == 1.0
    assert score("f1", {"response": "cat"}, "dog") == 0.0
    assert score("f1", 42, "42") == 1.0


def official(prediction, target):
    """The published definition, step by step."""

    def normal(text):
        plain = "".join(c for c in text.lower() if c not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", plain).split()

    some, others = normal(prediction), normal(target)
    common = sum((Counter(some) & Counter(others)).values())
    if not common:
        return 0.0
    precision, recall = common / len(some), common / len(others)
    return 2 * precision * recall / (precision + recall)


answers = st.text(max_size=20) | st.lists(
    st.sampled_from(["the", "a", "an", "The", "cat", "dog", "“the”", "x-y", "U.S.", "é", "the\n", "\x00", "a\x07b"]),
    max_size=12,
).map(" ".join)


@given(st.lists(st.tuples(answers, answers), min_size=1, max_size=5))
def test_it_is_the_official_definition(pairs):
    outcomes = METRICS["f1"].score_many([one for one, _ in pairs], [other for _, other in pairs])
    assert [outcome.value for outcome in outcomes] == [pytest.approx(official(*pair)) for pair in pairs]


@given(answers, answers)
def test_it_lies_between_0_and_1_and_is_symmetric(one, other):
    assert 0.0 <= score("f1", one, other) <= 1.0
    assert score("f1", one, other) == score("f1", other, one)


@given(st.lists(st.sampled_from("cat dog bird fish".split()), max_size=6), st.randoms())
def test_the_order_of_words_does_not_matter(words, random):
    shuffled = random.sample(words, len(words))
    assert score("f1", " ".join(words), " ".join(shuffled)) == float(bool(words))


@given(st.lists(st.sampled_from("cat dog bird".split()), min_size=9, max_size=40), answers)
def test_long_answers_are_counted_as_short_ones_are(words, other):
    assert score("f1", " ".join(words), other) == pytest.approx(official(" ".join(words), other))
