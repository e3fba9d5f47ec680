"""What mathematical rules read out of solutions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.evaluation import RULES, score
from crucible_datasets.evaluation.rules.hendrycks import strip_string
from crucible_datasets.evaluation.rules.minerva import normalize_final_answer


@pytest.mark.parametrize(
    ("text", "answer", "status"),
    [
        (r"so \boxed{42}.", "42", "ok"),
        (r"\boxed{1} but then \boxed{2}", "2", "ok"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}", "ok"),
        (r"\boxed{a_{b_{c}}} and {x}", "a_{b_{c}}", "ok"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}", "ok"),
        (r"\boxed{\left\{x \right.}", r"\left\{x \right.", "ok"),
        (r"\fbox{7}", "7", "ok"),
        (r"$\boxed 9$ apples", "9", "ok"),
        (r"\boxed{ 5 }", "5", "ok"),
        (r"\boxed{}", None, "empty"),
        (r"\boxed{\frac{1}{2}", None, "truncated"),
        ("the answer is 42", None, "unparsed"),
        ("", None, "empty"),
        (r"\boxed", None, "unparsed"),
    ],
)
def test_the_last_box(text, answer, status):
    reading = RULES["math/boxed@1"].read(text)
    assert (reading.text, reading.status) == (answer, status)


def test_what_never_closes_is_no_answer_whatever_its_length():
    assert RULES["math/boxed"].read(r"\boxed{" + "{" * 9_000).status == "truncated"
    assert RULES["math/boxed"].read(r"\boxed{" + "{" * 90_000).status == "unparsed"


braces = st.text(alphabet="{}x", max_size=30)


@given(braces, braces)
def test_a_box_ends_where_its_braces_balance(before, inside):
    depth, end = 0, None
    for at, character in enumerate("{" + inside):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0:
            end = at
            break
    found = RULES["math/boxed"].function(before + r"\boxed{" + inside)
    assert found.text == (None if end is None else ("{" + inside)[1:end].strip())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"\dfrac34", r"\frac{3}{4}"),
        (r"\tfrac{3}{4}", r"\frac{3}{4}"),
        (r"\frac1{72}", r"\frac{1}{72}"),
        ("3/4", r"\frac{3}{4}"),
        ("0.5", r"\frac{1}{2}"),
        (".5", r"\frac{1}{2}"),
        (r"x = 5", "5"),
        (r"\sqrt3", r"\sqrt{3}"),
        (r"90^\circ", "90"),
        (r"90^{\circ}", "90"),
        (r"\$18", "18"),
        (r"50\%", "50"),
        (r"12\text{ cm}", "12"),
        (r"\left(1, 2\right)", "(1,2)"),
        (r"1\!000", "1000"),
    ],
)
def test_hendrycks_forms_agree(one, other):
    assert strip_string(one) == strip_string(other)
    assert score("exact_match", rf"\boxed{{{one}}}", other, extract="math/hendrycks@1", normalize=False) == 1.0


@pytest.mark.parametrize(
    ("one", "other"), [("1/3", "0.333"), ("area = 5", "5"), ("-5", "5"), ("1/2", "12"), ("03/4", "3/4")]
)
def test_hendrycks_forms_differ(one, other):
    assert strip_string(one) != strip_string(other)


@given(st.text(alphabet=r"\fracsqt{}/0123=. ^", max_size=30))
def test_the_form_of_any_text_is_a_text(text):
    assert isinstance(strip_string(text), str)
    assert isinstance(normalize_final_answer(text), str)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Final Answer: The final answer is $42$. I hope it is correct.", "42"),
        ("Final Answer: The final answer is $42$. ", "42"),
        ("So\nFinal Answer: The final answer is $x=1{,}000$ dollars. I hope it is correct.\nMore", "1000"),
        (r"Final Answer: The final answer is $\frac12$. I hope it is correct.", r"\frac{1}{2}"),
        (r"Final Answer: The final answer is $5 \text{ cm}$. I hope it is correct.", "5"),
        (r"Final Answer: The final answer is $\text{Monday}$. I hope it is correct.", "Monday"),
        (r"Final Answer: The final answer is $\sqrt3$. I hope it is correct.", r"\sqrt{3}"),
        (r"Final Answer: The final answer is $\boxed{7}$. I hope it is correct.", "7"),
        ("Final Answer: The final answer is 100,000. I hope it is correct.", "100000"),
        ("The final answer is 42.", None),
    ],
)
def test_minerva(text, answer):
    assert RULES["math/minerva@1"].extract(text) == answer


minervas = st.lists(
    st.sampled_from(["Final Answer: The final answer is", " I hope it is correct.", " 5", ".", "\n", "x"]), max_size=8
)


@given(minervas)
def test_minerva_finds_what_its_regular_expression_finds(parts):
    text = "".join(parts)
    found = re.search(r"Final Answer: The final answer is(.*?). I hope it is correct.", text + "I hope it is correct.")
    read = RULES["math/minerva"].function(text)
    assert (read and read.text) == (found and normalize_final_answer(found[1].strip()))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"$x = 3$ so \boxed{5} or $7$", "5"),
        (r"thus $x = 3$ and $y=4$.", "y=4"),
        (r"\[ x^2 \] then \(y\)", "y"),
        ("the total is 1,234.50 dollars", "1,234.50"),
        ("about 50% of them", "50%"),
        ("it is -3/4", "-3/4"),
        ("nothing", None),
    ],
)
def test_what_math_verify_is_given(text, answer):
    assert RULES["math/verify@0.9.0"].extract(text) == answer
