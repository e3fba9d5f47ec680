"""Equality of answers: math-verify's truth table, and the fast path that must never say otherwise."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets.evaluation.maths import workers
from crucible_datasets.evaluation.maths.equivalence import HENDRYCKS, MINERVA, VERIFY
from crucible_datasets.evaluation.maths.forms import for_math_verify
from crucible_datasets.evaluation.maths.plain import same_plainly

AMPLE = 30.0  # seconds, for pairs that need a fraction of one, on a machine that does much else

# target, answer, equal: what math-verify 0.9.0 says.
TABLE = [
    (r"\frac{1}{2}", "0.5", True),
    ("½", "0.5", True),
    (r"\boxed{3/4}", "0.75", True),
    (r"\{1,3\}\cup\{2,4\}", r"\{1,2,3,4\}", True),
    (r"${1,3}\cup{2,4}$", r"${1,2,3,4}$", True),
    ("1,000", "1000", True),
    ("10%", "0.1", True),
    (r"10\%", "0.1", True),
    ("x=5", "5", True),
    ("5", "x=5", True),
    (r"\sqrt{8}", r"2\sqrt{2}", True),
    ("1/3", "0.333", False),
    ("0.3333333", "1/3", True),
    (r"90^\circ", "90", True),
    ("90°", "90", True),
    (r"\$5", "5", True),
    ("$5", "5", True),
    ("x^2+2x+1", "(x+1)^2", True),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{bmatrix}1\\2\end{bmatrix}", True),
    ("3,4", "4,3", True),
    ("2+3i", "3i+2", True),
    ("(1,2)", "1<x<2", False),
    ("1<x<2", "(1,2)", True),
    (r"\text{A}", "A", True),
]


@pytest.mark.parametrize(("target", "answer", "equal"), TABLE)
def test_the_table_of_math_verify(target, answer, equal):
    assert VERIFY.judge(target, answer, AMPLE).equal is equal


@pytest.mark.parametrize(("target", "answer", "equal"), TABLE)
def test_the_fast_path_says_what_math_verify_says(target, answer, equal):
    assert same_plainly(target, answer) in (equal, None)


def test_layout_is_not_what_makes_another_answer():
    unlike = [("12", "1 2"), ("5", r"5\text{ or }6"), ("5", r"5\text{ not 6}"), ("x=5", "y=5")]
    assert [same_plainly(*pair) for pair in unlike] == [None] * 4
    assert [same_plainly("5", answer) for answer in (r"5\text{ cm}", "x = 5", r"5^\circ")] == [True] * 3


NUMBERS = st.one_of(
    st.integers(-2000, 2000).map(str),
    st.integers(-(10**7), 10**7).map("{:,}".format),
    st.decimals(-1000, 1000, places=3).map(str),
    st.tuples(st.integers(-30, 30), st.integers(1, 12)).map("{0[0]}/{0[1]}".format),
    st.tuples(st.integers(0, 30), st.integers(1, 12)).map(r"\frac{{{0[0]}}}{{{0[1]}}}".format),
    st.sampled_from(["0.5", "1/2", r"\dfrac{2}{4}", "-0", "0", "0.333333", "0.33333", "1/3", "1.50", "-.5", "007"]),
)


@given(target=NUMBERS, answer=NUMBERS)
@settings(max_examples=40, deadline=None)
def test_numbers_are_equal_where_math_verify_finds_them_equal(target, answer):
    _agrees(target, answer)


@pytest.mark.slow
@given(target=NUMBERS, answer=NUMBERS)
@settings(max_examples=3000, deadline=None)
def test_many_numbers_are_equal_where_math_verify_finds_them_equal(target, answer):
    _agrees(target, answer)


def _agrees(target: str, answer: str) -> None:
    here = same_plainly(target, answer)
    if here is not None and target != answer:
        assert workers.judge(for_math_verify(target), for_math_verify(answer), seconds=AMPLE).equal is here, (
            target,
            answer,
        )


@pytest.mark.parametrize("text", ["x", "Monday", r"\frac{a}{b}", "[1,2)", "no", "A", "∞", r"\text{yes}"])
def test_everything_equals_itself(text):
    assert VERIFY.judge(text, text, AMPLE).equal
    assert VERIFY.judge(text, rf"Hence \boxed{{{text}}}.", AMPLE).equal


def test_words_are_words_and_not_products_of_letters():
    assert VERIFY.judge("Monday", "monday.", AMPLE).equal
    assert VERIFY.judge(r"\text{Monday}", "Monday", AMPLE).equal
    assert not VERIFY.judge("Monday", "dynamo", AMPLE).equal
    assert VERIFY.judge("5", "no idea", AMPLE).status == "unparsed"


TEXTS = {
    "12": ["So it is $12$.", r"\boxed{12}", "The answer is 12 apples.", r"First \boxed{3}, then \boxed{12.0}."],
    r"\frac{1}{2}": [r"The probability is $\frac{2}{4}$.", r"Thus \(0.5\).", r"$$x = \frac{1}{2}$$"],
}


@pytest.mark.parametrize("target", TEXTS)
def test_answers_are_found_in_texts(target):
    for text in TEXTS[target]:
        assert VERIFY.judge(target, text, AMPLE).equal, text


def test_one_call_for_many_pairs_says_what_one_call_per_pair_says():
    pairs = [(target, answer) for target, answer, _ in TABLE] * 2
    random.Random(0).shuffle(pairs)
    assert [said.equal for said in VERIFY.judge_many(pairs, AMPLE)] == [
        VERIFY.judge(*pair, AMPLE).equal for pair in pairs
    ]


def test_the_other_rules_are_stricter_or_laxer_as_their_papers_say():
    assert HENDRYCKS.judge(r"\frac{3}{4}", r"\boxed{\dfrac34}").equal
    assert not HENDRYCKS.judge(r"\frac{3}{4}", "0.75").equal
    assert MINERVA.judge(r"\frac{3}{4}", r"\frac{6}{8}", AMPLE).equal
    assert MINERVA.judge("12", r"12\text{ cm}", AMPLE).equal
    assert not MINERVA.judge("12", "13", AMPLE).equal
    assert not MINERVA.judge("yes", "no", AMPLE).equal
