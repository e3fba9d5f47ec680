"""What looks alike and is not the same answer, and what looks different and is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.evaluation import METRICS, evaluate, score
from crucible_datasets.exceptions import UnknownEntryError


@pytest.mark.parametrize(
    ("text", "other", "value"),
    [
        ("5 million", 5, 5_000_000),
        ("1.5 billion", 1.5, 1_500_000_000),
        ("3½", 3, 3.5),
        ("2 1/4", 2, 2.25),
        ("–5", 5, -5),
        ("− 5", 5, None),
        ("- 5", 5, None),
        ("0x10", 0, None),
        ("10³", 10, None),
        ("√5", 5, None),
        ("٣٨", 3, 38),
    ],
)
def test_a_number_is_what_it_says_and_not_what_it_begins_with(text, other, value):
    assert score("numeric", text, other) == 0.0
    assert value is None or score("numeric", text, value) == 1.0


@given(
    number=st.integers(-(10**9), 10**9), worth=st.sampled_from([("thousand", 1000), ("million", 10**6), ("k", 1000)])
)
def test_words_for_thousands_multiply(number, worth):
    assert score("numeric", f"{number} {worth[0]}", number * worth[1]) == 1.0


@pytest.mark.parametrize(
    ("text", "other"), [("A-", "A"), ("Cl-", "Cl"), ("[1,2)", "[1,2]"), ("(1,2]", "(1,2)"), ("A-", "A+"), ("O−", "O")]
)
def test_marks_that_change_an_answer_count(text, other):
    assert score("exact_match", text, other) == score("exact_match", other, text) == 0.0
    outcomes = METRICS["exact_match"].score_many([text, other, text], [other, text, text])
    assert [outcome.value for outcome in outcomes] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("text", "other"),
    [("(Paris)", "Paris"), ("[1, 2]", "[1,2]"), ("[1,2)", "[1, 2)"), ("A-.", "A-"), ("**Cl-**", "Cl-")],
)
def test_marks_that_are_layout_do_not_count(text, other):
    assert score("exact_match", text, other) == score("exact_match", other, text) == 1.0


@pytest.mark.parametrize(("text", "other"), [("125", "12.5"), ("The answer is 125.", "12.5"), ("1.25", "12.5")])
def test_numbers_of_drop_keep_their_points(text, other):
    rows = [{"input": "?", "target": other}]
    run = evaluate([text], rows, ["exact_match", "drop_f1"], extract="strip_thinking | answer/stated | drop")
    assert [summary.value for summary in run.summary.values()] == [0.0, 0.0]
    assert score("drop_f1", "the 12.50 yards", "12.5 yards") == 1.0


@pytest.mark.parametrize("asked", ["pass_k", "pass^k", "pass_10"])
def test_the_chance_that_all_pass_is_not_the_chance_that_one_does(asked):
    with pytest.raises(UnknownEntryError):
        METRICS[asked]


MATHS = [
    (r"\boxed{\text{B}}", "B"),
    ("B", r"\boxed{\text{B}}"),
    (r"\boxed{C}", r"\text{(C)}"),
    (r"\boxed{\mathbf{B}}", "B"),
    ("32348", r"\$32,\!348"),
    ("18.9", r"\$18.90"),
    (r"$\text{even}$.", "even"),
    (r"\boxed {[2,5)}", "[2,5)"),
    (r"\boxed{\sqrt{8}.}", r"2\sqrt{2}"),
]


@pytest.mark.parametrize(("answer", "target"), MATHS)
def test_layout_of_mathematics_does_not_count(answer, target):
    pytest.importorskip("math_verify")
    assert score("math", answer, target) == 1.0


@pytest.mark.parametrize(
    ("answer", "target"), [("C", "D"), (r"\text{(C)}", "D"), ("[2,5)", "[2,5]"), ("Monday", "dynamo")]
)
def test_other_letters_words_and_intervals_are_other_answers(answer, target):
    pytest.importorskip("math_verify")
    assert score("math", answer, target) == 0.0


# ── thinking under the defaults

RIGHT, THOUGHT = "4", "<think>It is {}.</think>\n"


@pytest.mark.parametrize(
    "metric", ["exact_match", "numeric", "contains", "f1", "rougeL", lambda text, target: text.strip() == target]
)
@pytest.mark.parametrize(
    ("opening", "closing"),
    [("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("<|START_THINKING|>", "<|END_THINKING|>")],
)
def test_no_metric_reads_thinking_under_the_defaults(metric, opening, closing):
    rows = [{"input": "2 + 2", "target": "4"}] * 3
    said = [f"{opening}Or 5?{closing}\n4", f"{opening}It is 4.{closing}\n5", f"{opening}It is 4."]
    run = evaluate(said, rows, metric)
    ((key, _),) = run.summary.items()
    assert [sample.outcomes[key].value for sample in run.samples] == [1.0, 0.0, 0.0]
    assert run.samples[2].outcomes[key].status == "truncated"
    assert evaluate(said, rows, metric, extract=False).info.rules == []


def test_options_are_not_read_in_thinking():
    rows = [{"input": "?", "target": "B", "choices": ["x", "y"]}] * 2
    run = evaluate(["<think>The answer is A.</think>B", "<think>The answer is B."], rows)
    assert [sample.outcomes["multiple_choice@2"].status for sample in run.samples] == ["ok", "truncated"]
    assert run.value() == 0.5


@pytest.mark.parametrize("target", ["12", "12.0", "1,2", "$12.00", "so it is\n#### 12", 12.0])
def test_gsm8k_reads_targets_in_every_form(target):
    said = [
        "#### 12",
        "#### $12.00",
        "There are 3 * 4 = <<3*4=12>>12 eggs.\n#### 12",
        "12.0",
        "The answer is twelve: 12.",
    ]
    run = evaluate(
        said[:4],
        [{"input": "?", "target": "12" if target == "1,2" else target}] * 4,
        extract="strip_thinking | gsm8k/stated",
    )
    assert run.value() == 1.0


def test_options_are_named_by_letter_text_and_index():
    from crucible_datasets.benchmarks import load_benchmark

    mmlu = load_benchmark("mmlu", synthetic=True, limit=4)
    for named in (
        lambda s, at: s.target,
        lambda s, at: s.choices[at],
        lambda s, at: at,
        lambda s, at: str(at),
        lambda s, at: f"It is {s.choices[at]}.",
    ):
        answers = {sample.id: named(sample, "ABCD".index(sample.target)) for sample in mmlu}
        assert evaluate(answers, mmlu).value() == 1.0, answers
