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
    assert rule_of("strip_thinking | gsm8k/official or gsm8k/flexible").key == EITHER


def test_the_target_takes_the_form_of_both():
    assert rule_of(EITHER).read_target("#### 1,234") == "1234"
