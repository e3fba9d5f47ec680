"""Alternatives: the first rule that finds an answer decides, and the key names them all."""

from __future__ import annotations

import pytest

from crucible_datasets.evaluation import rule_of

EITHER = "strip_thinking@1 | gsm8k/official@1 or gsm8k/lm-eval-flexible@3"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("3 and 4. #### 18", "18"),
        ("#### 18\n\nQuestion: …\nAnswer: #### 4", "18"),
        ("#### 18\nthat is 3 more than 15", "18"),
        ("The answer is $1,234.50.", "1234.50"),
        ("18", "18"),
        ("<think>#### 17? No.</think> 18", "18"),
    ],
)
def test_the_first_that_finds_an_answer_decides(text, answer):
    assert rule_of(EITHER).extract(text) == answer


@pytest.mark.parametrize(("text", "status"), [("no number", "unparsed"), ("", "empty"), ("<think>4", "truncated")])
def test_where_none_finds_one_the_status_tells_why(text, status):
    assert rule_of(EITHER).read(text).status == status


def test_the_key_names_every_rule_with_its_version():
    assert rule_of("strip_thinking@1 | gsm8k/official or gsm8k/flexible").key == EITHER


def test_the_target_takes_the_form_of_both():
    assert rule_of(EITHER).read_target("#### 1,234") == "1234"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Let us see. So the answer is No.", "No"),
        ("The answer is: **(B)**.", "(B)"),
        ("the answer is 3. No: the answer is 28", "28"),
        ("İ think. The Answer is Paris.\nThanks", "Paris"),
    ],
)
def test_what_is_stated_as_the_answer(text, answer):
    assert rule_of("answer/stated@1").extract(text) == answer


@pytest.mark.parametrize("text", ["No", "the answer is", "the answer is \n"])
def test_nothing_is_stated(text):
    assert rule_of("answer/stated@1").read(text).text is None


BODY = "    total = 0\n    return total\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (BODY, BODY),
        (BODY + "\nprint(f())", BODY),
        (f"def f():\n{BODY}", f"def f():\n{BODY}"),
        (f"import math\n\ndef f():\n{BODY}", f"import math\n\ndef f():\n{BODY}"),
        (f"# sums\ndef f():\n{BODY}", f"# sums\ndef f():\n{BODY}"),
        (f"Here it is:\n```python\ndef f():\n{BODY}```\nDone.", f"def f():\n{BODY}"),
    ],
)
@pytest.mark.parametrize("thought", ["", "<think>def g(): …</think>\n"])
def test_code_is_found_in_every_form_it_comes_in(text, code, thought):
    assert rule_of("strip_thinking@1 | code/completion@1").extract(thought + text).rstrip("\n") == code.rstrip("\n")
