"""Rules: hand-checked rows of every rule, rows that none of them takes, and what holds for all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.benchmarks.rules import RULES, Unfit
from crucible_datasets.benchmarks.rules.choices import in_own_order, right_and_wrong
from crucible_datasets.benchmarks.rules.code import parsed
from crucible_datasets.benchmarks.rules.questions import after_hashes, best_and_worst, last_boxed
from crucible_datasets.exceptions import UnknownEntryError


def user(text):
    return {"role": "user", "content": text}


def bot(text):
    return {"role": "assistant", "content": text}


TALK = [user("Hi"), bot("Hello"), user("And?"), bot("Fine")]
PARTS = [{"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image", "text": None}]}]
SCORES = {str(n): f"is {n}" for n in range(1, 6)}


def answered(text):
    return [*PARTS, {"role": "assistant", "content": [{"type": "text", "text": text}]}]


# What a rule is given, and what it must make of it.
FITTING: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {
    "question/answer@1": [
        ({"question": "2 + 2?", "answer": "4"}, {"input": "2 + 2?", "target": "4"}),
        ({"question": "2 + 2?", "answer": 4}, {"input": "2 + 2?", "target": "4"}),
    ],
    "question/reasoning@1": [
        (
            {"question": "q", "reasoning": "so it is 4", "answer": "4"},
            {"input": "q", "target": "so it is 4", "metadata": {"answer": "4"}},
        )
    ],
    "question/answers@1": [
        ({"question": "q", "right": ["b", "a", ""], "best": "a"}, {"input": "q", "target": ["a", "b"]})
    ],
    "question/instruction@1": [
        (
            {"prompt": "p", "instructions": ["x:y"], "arguments": [{"n": 3, "word": None}]},
            {"input": "p", "target": "", "metadata": {"instructions": ["x:y"], "arguments": [{"n": 3}]}},
        )
    ],
    "passage/spans@1": [
        (
            {"passage": "P.", "question": " Q? ", "answers": {"text": ["a", "a"], "answer_start": [0, 0]}},
            {"input": "P.\n\nQ?", "target": ["a"]},
        ),
        (
            {"passage": "P.", "question": "Q?", "answers": {"spans": ["1", "2"], "types": ["number", "span"]}},
            {"input": "P.\n\nQ?", "target": ["1", "2"]},
        ),
    ],
    "choices/answer@1": [
        ({"question": "q", "choices": ["x", "y"], "answer": 1}, {"input": "q", "target": "B", "choices": ["x", "y"]}),
        ({"question": "q", "choices": ["x", "y"], "answer": "b"}, {"input": "q", "target": "B", "choices": ["x", "y"]}),
        ({"question": "q", "choices": ["x", "y"], "answer": "0"}, {"input": "q", "target": "A", "choices": ["x", "y"]}),
    ],
    "choices/labelled@1": [
        (
            {"question": "q", "choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answer": "2"},
            {"input": "q", "target": "B", "choices": ["x", "y"]},
        )
    ],
    "choices/blank@1": [
        (
            {"sentence": "_ left.", "option1": "x", "option2": "y", "answer": "2"},
            {"input": "_ left.", "target": "B", "choices": ["x", "y"]},
        )
    ],
    "choices/judged@1": [
        ({"question": "q", "targets": {"choices": ["x", "y"], "labels": [1, 0]}}, in_own_order("q", ["x", "y"], 0))
    ],
    "choices/right_and_wrong@1": [
        ({"question": "q", "right": "x", "wrong": ["y", "z"]}, in_own_order("q", ["x", "y", "z"], 0))
    ],
    "chat/messages@1": [
        ({"messages": TALK}, {"input": TALK[:3], "target": "Fine", "metadata": {"turn_count": 2}}),
        ({"messages": TALK[:3]}, {"input": TALK[:1], "target": "Hello", "metadata": {"turn_count": 1}}),
    ],
    "chat/sharegpt@1": [
        (
            {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]},
            {"input": [user("Hi")], "target": "Hello", "metadata": {"turn_count": 1}},
        )
    ],
    "chat/rated@1": [
        ({"prompt": "p", "response": "r", "score": 3}, {"input": [user("p"), bot("r")], "target": "3"}),
        (
            {"prompt": "p\n<extra_id_1>Assistant\nr\n<extra_id_1>User\nq", "response": "s", "score": 0.5},
            {"input": [user("p"), bot("r"), user("q"), bot("s")], "target": "0.5"},
        ),
    ],
    "chat/rubric@1": [
        (
            {"instruction": "i", "criteria": "c", "scores": list(SCORES.values()), "reference": "best", "score": 3},
            {
                "input": [user("i")],
                "target": "best",
                "metadata": {
                    "rubric": {"criteria": "c", "scores": SCORES, "reference_answer": "best"},
                    "response": None,
                    "score": "3",
                    "feedback": None,
                },
            },
        )
    ],
    "preference/chosen@1": [
        (
            {"prompt": "p", "chosen": "x", "rejected": "y", "chosen_score": 3.0, "rejected_score": 3.0},
            {"input": [user("p")], "target": "tie", "choices": ["y", "x"], "metadata": {"margin": 0.0}},
        ),
        (
            {"prompt": "p", "chosen": "x", "rejected": "y", "chosen_score": 3.5, "rejected_score": 3.0},
            {"input": [user("p")], "target": "B", "choices": ["y", "x"], "metadata": {"margin": 0.5}},
        ),
        (
            {"prompt": "p", "chosen": "y", "rejected": "x"},
            {"input": [user("p")], "target": "A", "choices": ["y", "x"], "metadata": {"margin": None}},
        ),
    ],
    "preference/scaled@1": [
        (
            {"context": [user("p")], "response1": "x", "response2": "y", "preference": preference},
            {"input": [user("p")], "target": target, "choices": ["x", "y"], "metadata": {"margin": margin}},
        )
        for preference, target, margin in [(-2, "A", 2.0), (0, "tie", 0.0), (3, "B", 3.0)]
    ],
    "preference/transcripts@1": [
        (
            {"chosen": "\n\nHuman: Hi\n\nAssistant: good", "rejected": "\n\nHuman: Hi\n\nAssistant: bad"},
            {
                "input": [user("Hi")],
                "target": "A",
                "choices": ["good", "bad"],
                "metadata": {
                    "conversation_a": [user("Hi"), bot("good")],
                    "conversation_b": [user("Hi"), bot("bad")],
                    "margin": None,
                },
            },
        )
    ],
    "preference/conversations@1": [
        (
            {"chosen": [user("Hi"), bot("bad")], "rejected": [user("Hi"), bot("good")]},
            {
                "input": [user("Hi")],
                "target": "B",
                "choices": ["good", "bad"],
                "metadata": {
                    "conversation_a": [user("Hi"), bot("good")],
                    "conversation_b": [user("Hi"), bot("bad")],
                    "margin": None,
                },
            },
        )
    ],
    "preference/winner@1": [
        (
            {"conversation_a": answered("x"), "conversation_b": answered("y"), "winner": winner},
            {
                "input": [user("Hi")],
                "target": target,
                "choices": ["x", "y"],
                "metadata": {
                    "conversation_a": [user("Hi"), bot("x")],
                    "conversation_b": [user("Hi"), bot("y")],
                    "margin": margin,
                    "images": 1,
                },
            },
        )
        for winner, target, margin in [("model_a", "A", None), ("model_b", "B", None), ("both_bad", "tie", 0.0)]
    ],
    "code/check@1": [
        (
            {"prompt": "def f():", "solution": " pass", "test": "def check(f): ...", "entry_point": "f"},
            {
                "input": "def f():",
                "target": " pass",
                "metadata": {"tests": "def check(f): ...", "entry_point": "f"},
            },
        )
    ],
    "code/asserts@1": [
        (
            {"task": "Do it.", "solution": "s", "tests": ["assert f(1)", "assert f(2)"], "imports": ["import re"]},
            {
                "input": "Do it.\n\nYour code should pass these tests:\n\nassert f(1)\nassert f(2)",
                "target": "s",
                "metadata": {"tests": "assert f(1)\nassert f(2)", "setup": "import re"},
            },
        )
    ],
    "code/cases@1": [
        (
            {"problem": "Do it.", "tests": '[{"input": "1", "output": "2"}]', "solutions": ["s", "t"]},
            {
                "input": "Do it.",
                "target": "s",
                "metadata": {
                    "tests": [{"type": "stdin", "input": "1", "output": "2", "function": ""}],
                    "starter_code": "",
                },
            },
        )
    ],
    "picture/class@1": [
        (
            {"image": {"bytes": b"x", "path": None}, "label": "cat"},
            {
                "input": [
                    {
                        "role": "user",
                        "content": [{"type": "image", "text": None, "image": {"bytes": b"x", "path": None}}],
                    }
                ],
                "target": "cat",
            },
        )
    ],
}
# Rows that do not fit, and the role that is to blame.
UNFIT: dict[str, list[tuple[dict[str, Any], str]]] = {
    "question/answer@1": [({"question": "", "answer": "4"}, "question"), ({"question": "q", "answer": None}, "answer")],
    "question/reasoning@1": [({"question": "q", "reasoning": "", "answer": "4"}, "reasoning")],
    "question/answers@1": [({"question": "q", "right": [""]}, "right")],
    "question/instruction@1": [({"prompt": "p", "instructions": ["x", "y"], "arguments": [{}]}, "arguments")],
    "passage/spans@1": [({"passage": "P", "question": "Q", "answers": {"text": []}}, "answers")],
    "choices/answer@1": [
        ({"question": "q", "choices": ["x", "y"], "answer": answer}, "answer")
        for answer in (2, -1, "C", "", "AB", None)
    ]
    + [({"question": "q", "choices": ["x"], "answer": 0}, "choices")],
    "choices/labelled@1": [
        ({"question": "q", "choices": {"text": ["x", "y"], "label": ["A"]}, "answer": "A"}, "choices"),
        ({"question": "q", "choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answer": ""}, "answer"),
    ],
    "choices/blank@1": [({"sentence": "s", "option1": "x", "option2": "y", "answer": ""}, "answer")],
    "choices/judged@1": [({"question": "q", "targets": {"choices": ["x", "y"], "labels": [1, 1]}}, "targets")],
    "choices/right_and_wrong@1": [({"question": "q", "right": "x", "wrong": []}, "wrong")],
    "chat/messages@1": [
        ({"messages": []}, "messages"),
        ({"messages": [bot("Hi")]}, "messages"),
        ({"messages": [{"role": "user"}]}, "messages"),
    ],
    "chat/sharegpt@1": [({"conversations": [{"from": "human", "value": "Hi"}]}, "conversations")],
    "chat/rated@1": [({"prompt": "p", "response": "r", "score": "3"}, "score")],
    "chat/rubric@1": [({"instruction": "i", "criteria": "c", "scores": ["x"], "reference": "r"}, "scores")],
    "preference/chosen@1": [
        ({"prompt": "p", "chosen": "x", "rejected": None}, "rejected"),
        (
            {"prompt": "p", "chosen": "x", "rejected": "y", "chosen_score": 1.0, "rejected_score": 2.0},
            "chosen_score",
        ),
    ],
    "preference/scaled@1": [({"context": "p", "response1": "x", "response2": "y", "preference": 1}, "context")],
    "preference/transcripts@1": [
        ({"chosen": "no speaker", "rejected": "\n\nHuman: Hi\n\nAssistant: x"}, "chosen"),
        ({"chosen": "\n\nHuman: Hi\n\nAssistant: x", "rejected": "\n\nHuman: Hi"}, "rejected"),
    ],
    "preference/conversations@1": [({"chosen": [user("a"), bot("x")], "rejected": [user("b"), bot("x")]}, "chosen")],
    "preference/winner@1": [
        ({"conversation_a": answered("x"), "conversation_b": answered("y"), "winner": "nobody"}, "winner")
    ],
    "code/check@1": [({"prompt": "p", "solution": "s", "test": None, "entry_point": "f"}, "test")],
    "code/asserts@1": [({"task": "t", "solution": "s", "tests": []}, "tests")],
    "code/cases@1": [
        ({"problem": "p", "tests": tests}, "tests")
        for tests in ("{", "[]", "{}", "3", '[{"input": "1"}]', '[{"type": "moon", "input": "", "output": ""}]')
    ]
    + [({"problem": "p", "tests": '[{"input": "1", "output": "2"}]', "details": "{"}, "details")],
    "picture/class@1": [({"image": {"bytes": None, "path": None}, "label": 1}, "image")],
}
ROW_RULES = [key for key in RULES if RULES[key].kind == "row"]


def test_every_rule_of_rows_has_rows_that_fit_and_rows_that_do_not():
    assert set(FITTING) == set(UNFIT) == set(ROW_RULES)


@pytest.mark.parametrize("key", ROW_RULES)
def test_rows_become_the_fields_that_were_worked_out_by_hand(key):
    rule = RULES[key]
    for values, fields in FITTING[key]:
        made = rule.function(**rule.fitting(values))
        assert made == fields
        assert set(made.get("metadata", {})) == set(rule.metadata), "what it puts there is what it declares"


@pytest.mark.parametrize("key", ROW_RULES)
def test_a_row_that_does_not_fit_names_the_role(key):
    rule = RULES[key]
    for values, role in UNFIT[key]:
        with pytest.raises(Unfit) as caught:
            rule.function(**rule.fitting(values))
        assert caught.value.role == role and caught.value.reason


@pytest.mark.parametrize("key", RULES)
def test_every_rule_says_what_it_does_and_is_found_by_name_and_version(key):
    rule = RULES[key]
    assert rule.function.__doc__ and rule.key == key
    assert RULES[rule.name].version >= rule.version


def test_an_unknown_rule_lists_what_exists():
    with pytest.raises(UnknownEntryError, match=r"no rule 'chat/mesages@1' of benchmarks. Did you mean"):
        RULES["chat/mesages@1"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a #### 18", "18"),
        ("a\n#### 1,234", "1234"),
        ("#### -5", "-5"),
        ("#### $18", "18"),
        ("####18", "18"),
        ("#### 3.0", "3.0"),
        ("#### 7.", "7"),
        ("<<1+1=2>>2\n#### 2", "2"),
    ],
)
def test_the_number_behind_the_hashes(text, answer):
    assert after_hashes(text) == answer


@pytest.mark.parametrize("text", ["", "18", "####", "#### none", "#### -", "#### ."])
def test_where_there_is_no_number_behind_the_hashes_it_is_told(text):
    with pytest.raises(Unfit):
        after_hashes(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"so $\boxed{12}$.", "12"),
        (r"first \boxed{1}, then \boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\fbox{x}", "x"),
        (r"$\boxed 5$ and more", "5"),
        (r"\boxed{ \{1, 2\} }", r"\{1, 2\}"),
    ],
)
def test_the_last_box(text, answer):
    assert last_boxed(text) == answer


@pytest.mark.parametrize("text", ["", "12", r"\boxed{1", r"\boxed{{1}"])
def test_where_there_is_no_box_it_is_told(text):
    with pytest.raises(Unfit):
        last_boxed(text)


@given(st.text(alphabet="\\boxedfbx{} $1#", max_size=60))
def test_targets_are_read_or_refused_whatever_the_text(text):
    for rule in (RULES[key] for key in RULES if RULES[key].kind == "value"):
        try:
            assert isinstance(rule.function(text), str)
        except Unfit:
            pass


@given(st.text(min_size=1), st.lists(st.text(), min_size=1, max_size=6))
def test_options_in_their_own_order_are_the_same_options_and_the_right_one_stays_right(question, wrong):
    made = right_and_wrong(question, "right!", wrong)
    assert sorted(made["choices"]) == sorted(["right!", *wrong])
    assert made["choices"]["ABCDEFG".index(made["target"])] == "right!"
    assert made == right_and_wrong(question, "right!", wrong)


def test_no_place_is_right_more_often_than_others():
    places = [right_and_wrong(f"question {n}", "yes", ["no", "never", "maybe"])["target"] for n in range(400)]
    assert all(60 < places.count(letter) < 140 for letter in "ABCD")


CASES = [("1\n", "2\n"), ("5 6\n", "11\n")]


@pytest.mark.parametrize(
    "tests",
    [
        [{"input": given, "output": wanted} for given, wanted in CASES],
        [{"type": "stdin_stdout", "input": given, "output": wanted} for given, wanted in CASES],
        [{"testtype": "stdin", "input": given, "output": wanted, "metadata": {}} for given, wanted in CASES],
        {"inputs": [given for given, _ in CASES], "outputs": [wanted for _, wanted in CASES]},
    ],
)
def test_tests_of_programs_are_the_same_in_every_form(tests):
    wanted = [{"type": "stdin", "input": given, "output": printed, "function": ""} for given, printed in CASES]
    assert parsed(json.dumps(tests)) == wanted


@pytest.mark.parametrize(
    ("tests", "function"),
    [
        ([{"testtype": "functional", "input": "[1, 2]\n3", "output": "6"}], "f"),
        ([{"testtype": "functional", "input": "[1, 2]\n3", "output": "6", "metadata": {"func_name": "f"}}], ""),
        ([{"type": "function_call", "fn_name": "f", "input": [[1, 2], 3], "output": 6}], ""),
        ({"fn_name": "f", "inputs": [[[1, 2], 3]], "outputs": [6]}, ""),
    ],
)
def test_tests_of_functions_are_the_same_in_every_form(tests, function):
    assert parsed(json.dumps(tests), function) == [
        {"type": "call", "input": "[[1, 2], 3]", "output": "6", "function": "f"}
    ]


def test_a_case_that_calls_nothing_is_told():
    with pytest.raises(Unfit, match="a function that nothing names"):
        parsed('[{"testtype": "functional", "input": "1", "output": "2"}]')


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 4)), max_size=12))
def test_pairs_have_the_best_and_the_worst_response_of_each_prompt(rows):
    table = {"p": [p for p, _ in rows], "r": [f"r{n}" for n in range(len(rows))], "s": [score for _, score in rows]}
    made = best_and_worst(table, prompt="p", response="r", score="s")
    assert made["prompt"] == list(dict.fromkeys(table["p"]))
    assert all(best != worst for best, worst in zip(made["best"], made["worst"], strict=True))
    for prompt, high, low, worst in zip(
        made["prompt"], made["best_score"], made["worst_score"], made["worst"], strict=True
    ):
        scores = [score for p, score in rows if p == prompt]
        assert high == max(scores)
        assert (low, worst) == (None, None) if len(scores) == 1 else low == min(scores)
