"""Which letter a text settles on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.evaluation import RULES

INSPECT = [
    *(
        "ANSWER: B",
        "ANSWER: A\nANSWER: C",
        "answer: b",
        "ANSWER: B.",
        "ANSWER: B) foo",
        "**ANSWER: B**",
        "ANSWER: A, B",
    ),
    *("ANSWER: AB", "ANSWER: (B)", "I think ANSWER: D", "ANSWER: B because", "ANSWER:B", "ANSWER : B", "The answer: B"),
    *("ANSWER: $B$", "ANSWER: A and B", "ANSWER: 2", "ANSWER: B\nmore", "ANSWER: Apple", "ANSWER: B\nANSWER: dunno"),
    *(
        "ANSWER:\nB",
        "ANSWER: **B**",
        "ANSWER: B,",
        "FINAL ANSWER: C",
        "ANSWER - B",
        "no letter",
        "ANSWER: D\nx answer: C",
    ),
]


@pytest.mark.parametrize("text", INSPECT)
def test_inspect_reads_the_same_letter(text):
    multiple_choice = pytest.importorskip("inspect_ai.solver._multiple_choice")
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import TaskState

    output = ModelOutput.from_content("model", text)
    state = TaskState("model", 1, 1, "question", [], choices=list("wxyz"), output=output)
    letters = multiple_choice.parse_answers(state, False)
    assert RULES["choice/inspect@1"].extract(text) == next(iter(letters), None)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        (" b.\nbecause", "B"),
        ("(C)", "C"),
        ("**D**", "D"),
        ("B. Paris", None),
        ("The answer is B", None),
        ("K", None),
        ("", None),
    ],
)
def test_the_first_line_of_mmlu(text, letter):
    assert RULES["mmlu/letter@1"].extract(text) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The answer is (J).", "J"),
        ("the answer is A. No, the answer is (B)", "A"),
        ("answer is K", None),
        ("Answer: C", None),
    ],
)
def test_the_first_answer_of_mmlu_pro(text, letter):
    assert RULES["mmlu_pro@3.1"].extract(text) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("(b)", "B"),
        ("The answer is B.", "B"),
        ("First I thought the answer is A. So the correct answer is (C).", "C"),
        ("**Answer:** D", "D"),
        ("answer: b", "B"),
        ("The answer is option B", "B"),
        ("The answer is A because", "A"),
        ("B. Paris", "B"),
        ("b) Paris", "B"),
        ("Let me think.\n\nC", "C"),
        (r"so \boxed{\text{B}}", "B"),
        (r"so \boxed{B}", "B"),
        ("The answer is a function", None),
        ("I don't know", None),
        ("Apple", None),
        ("A cat is what I see", None),
        ("A is wrong, B is right", None),
        ("Answer A is wrong.", None),
        ("Answer choice A is wrong. It must be one of the others.", None),
        ("Answer B) Paris", "B"),
        ("The answer is A or B.", None),
        ("The answer is (A) and (C).", None),
        ("Answer: C / D", None),
        ("The answer is B, A is wrong", "B"),
        ("The answer is D, I think", "D"),
        ("The answer is \\(B\\).", "B"),
        ("The answer is `C`", "C"),
        ("**Option C**", "C"),
        ("The answer is (M).", "M"),
        ("A. Rome\nB. Paris\nIt is in Italy", None),
        ("A. Rome\n\nBecause it is in Italy", "A"),
    ],
)
def test_the_letter_that_a_text_settles_on(text, letter):
    assert RULES["choice/letter@1"].extract(text) == letter


@given(st.sampled_from("ABCDEFGHIJ"), st.text(max_size=30))
def test_a_stated_letter_is_found_behind_anything(letter, before):
    assert RULES["choice/letter"].extract(f"{before}\nThe answer is ({letter}).") == letter
    assert RULES["choice/inspect"].extract(f"{before}\nANSWER: {letter}") == letter
    assert RULES["mmlu_pro"].extract(f"answer is ({letter}) {before}") == letter
