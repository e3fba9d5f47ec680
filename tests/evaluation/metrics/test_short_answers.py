"""Metrics of short answers: contains, regex, numeric and multiple choice."""

from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.evaluation import METRICS, score
from crucible_datasets.exceptions import UnusablePairError


@pytest.mark.parametrize(
    ("prediction", "target", "options", "value"),
    [
        ("It is Paris.", "paris", {}, 1),
        ("It is Paris.", "paris", {"ignore_case": False}, 0),
        ("It is London.", ["Paris", "London"], {}, 1),
        ("15 apples", "5", {}, 1),
        ("15 apples", "5", {"whole_words": True}, 0),
        ("15 and 5 apples", "5", {"whole_words": True}, 1),
        ("the U.S.A. won", "usa", {}, 0),
        ("the U.S.A. won", "usa", {"normalize": True}, 1),
        ("anything", "", {}, 0),
        ("", "", {}, 1),
    ],
)
def test_contains(prediction, target, options, value):
    assert score("contains", prediction, target, **options) == value


@given(st.text(min_size=1, max_size=10).filter(str.strip), st.text(max_size=10), st.text(max_size=10))
def test_what_surrounds_a_target_does_not_matter(target, before, behind):
    assert score("contains", before + target + behind, target, ignore_case=False) == 1.0


@pytest.mark.parametrize(
    ("prediction", "target", "options", "value"),
    [
        ("Total: 42 apples", r"\b42\b", {}, 1),
        ("Total: 421", r"\b42\b", {}, 0),
        ("PARIS", "paris", {"ignore_case": True}, 1),
        ("a42", r"\d+", {"full": True}, 0),
        ("42", r"\d+", {"full": True}, 1),
        ("x\n42", r"^42$", {}, 0),
        ("x\n42", r"^42$", {"multiline": True}, 1),
    ],
)
def test_regex(prediction, target, options, value):
    assert score("regex", prediction, target, **options) == value


def test_a_pattern_that_is_none_is_refused():
    with pytest.raises(UnusablePairError, match="no regular expression"):
        score("regex", "a", "(")
    good, bad = METRICS["regex"].score_many(["a", "a"], ["a", "("])
    assert (good.status, bad.status, bad.value) == ("ok", "error", None)
    assert "no regular expression" in bad.detail["error"]


@pytest.mark.parametrize(
    ("prediction", "target", "options", "value"),
    [
        ("42", 42, {}, 1),
        ("$1,234.50", "1234.5", {}, 1),
        ("1/4", 0.25, {}, 1),
        ("-3", "3", {}, 0),
        ("−3", -3, {}, 1),
        ("1e-3", 0.001, {}, 1),
        ("50%", 0.5, {}, 1),
        ("50 %", 50, {}, 1),
        ("50%", 5, {}, 0),
        ("about 18 dollars", 18, {}, 1),
        ("3.14", 3.14159, {}, 0),
        ("3.14", 3.14159, {"relative": 0.01}, 1),
        ("10", 12, {"absolute": 2}, 1),
        (3, 3.0000001, {}, 1),
        ("123456789012345678901", 123456789012345678902, {"relative": 0}, 0),
        ("4, so 4", 4, {}, 1),
        ("2", ["1", "2"], {}, 1),
    ],
)
def test_numeric(prediction, target, options, value):
    outcome = METRICS["numeric"].score(prediction, target, **options)
    assert (outcome.value, outcome.status) == (value, "ok")


@pytest.mark.parametrize("text", ["none", "3 or 4", "1/0", "x5", "<5", "a > 5", "5 ± 1", "≥ 5", "1.5.2"])
def test_what_is_not_one_number_is_unparsed(text):
    outcome = METRICS["numeric"].score(text, 4)
    assert (outcome.value, outcome.status) == (0.0, "unparsed")


def test_a_percentage_is_read_in_one_way_at_a_time():
    others = ["0.5", "50", "0.5%", "50 %", "5000%"]
    assert [score("numeric", "50%", other) for other in others] == [1.0, 1.0, 0.0, 1.0, 0.0]
    assert [score("numeric", other, "0.5") for other in others] == [1.0, 0.0, 1.0, 1.0, 0.0]


def test_a_minus_behind_an_equals_sign_may_stand_apart():
    assert [score("numeric", text, -5) for text in ("x = - 5", "x=-5", "-5", "−5", "<b>-5</b>")] == [1.0] * 5
    assert score("numeric", "x = - 5", 5) == 0


def test_a_target_that_is_no_number_is_refused():
    with pytest.raises(UnusablePairError, match="not one number"):
        score("numeric", "4", "four")


@given(st.fractions(max_denominator=10**6), st.fractions(max_denominator=10**6))
def test_fractions_written_out_are_equal_when_they_are(one, other):
    assert score("numeric", str(one), str(other), relative=0) == float(one == other)


@given(st.integers(-(10**12), 10**12), st.floats(0, 0.5))
def test_the_tolerance_is_what_it_says(number, relative):
    limit = Fraction(relative) * abs(number)
    assert score("numeric", number + int(limit), number, relative=relative) == 1.0
    assert score("numeric", number + int(limit) + 1, number, relative=relative) == 0.0


CITIES = ["Paris", "Rome", "Oslo", "A"]


@pytest.mark.parametrize(
    ("prediction", "target", "value", "status"),
    [
        ("B", "B", 1, "ok"),
        ("b", "B", 1, "ok"),
        ("(B)", 1, 1, "ok"),
        (1, "B", 1, "ok"),
        ("1", "B", 1, "ok"),
        ("rome.", "B", 1, "ok"),
        ("Rome", 1, 1, "ok"),
        ("B", "Rome", 1, "ok"),
        ("The answer is (C).", "C", 1, "ok"),
        ("C) Oslo", "C", 1, "ok"),
        ("Paris", "B", 0, "ok"),
        ("A", "A", 1, "ok"),
        ("A", "D", 0, "ok"),  # a letter is a letter, also where an option is one
        ("E", "B", 0, "unparsed"),
        ("9", "B", 0, "unparsed"),
        ("I do not know", "B", 0, "unparsed"),
    ],
)
def test_multiple_choice(prediction, target, value, status):
    outcome = METRICS["multiple_choice"].score(prediction, target, choices=CITIES)
    assert (outcome.value, outcome.status) == (value, status)
    sample = SimpleNamespace(choices=CITIES)
    assert METRICS["multiple_choice"].score_many([prediction], [target], samples=[sample]) == [outcome]


def test_the_value_of_an_option_comes_before_its_index():
    numbers = ["0", "4", "2", "6"]
    assert score("multiple_choice", "2", "C", choices=numbers) == 1.0
    assert score("multiple_choice", 2, "C", choices=numbers) == 1.0
    assert score("multiple_choice", "x", "y", choices=["x", "y"]) == 0.0
    assert score("multiple_choice", "y", "B", choices=["x", "y"]) == 1.0


def test_without_options_letters_and_numbers_still_agree():
    assert score("multiple_choice", "C", 2) == 1.0
    assert score("multiple_choice", "the answer is C", "C") == 1.0


def test_a_target_that_names_no_option_is_refused():
    with pytest.raises(UnusablePairError, match="none of 4 choices"):
        score("multiple_choice", "A", "Berlin", choices=CITIES)


@given(st.integers(0, 25), st.integers(0, 25))
def test_letters_are_equal_when_they_are(one, other):
    assert score("multiple_choice", chr(65 + one), other) == float(one == other)
