"""The truth table of GSM8K's three rules, and that reading from the end means reading the last."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.evaluation import RULES, score

OFFICIAL, STRICT, FLEXIBLE = (
    RULES[name] for name in ("gsm8k/official@1", "gsm8k/lm-eval-strict@3", "gsm8k/lm-eval-flexible@3")
)
TABLE = [
    ("She has 9 + 9 = 18 left.\n#### 18", "18", "18"),
    ("#### 1,234", "1234", "1234"),
    ("#### -5", "-5", "-5"),
    ("#### $18", None, "18"),
    ("####18", None, "18"),
    ("The answer is 18.", None, "18"),
    ("The answer is $1,234.50.", None, "1234.50"),
    ("So 3 + 4 = 7 apples", None, "7"),
    ("no number here", None, None),
    ("#### 18\n\nQuestion: …\nAnswer: #### 4", "18", "4"),
    ("**Answer: \\$18 per day.**", None, "18"),
    ("#### 3.0", "3.0", "3.0"),
    ("#### 1/2", "1", "2"),
]


@pytest.mark.parametrize(("text", "official", "flexible"), TABLE)
def test_the_truth_table(text, official, flexible):
    assert OFFICIAL.extract(text) == official
    assert STRICT.extract(text) == official
    assert FLEXIBLE.extract(text) == flexible


def test_only_the_strict_rule_drops_a_full_stop():
    assert OFFICIAL.extract("#### 18.") == "18."
    assert STRICT.extract("#### 18.") == "18"


def test_what_has_no_number_is_unparsed_and_not_wrong():
    assert OFFICIAL.read("The answer is 18.").status == "unparsed"
    assert OFFICIAL.read("  \n").status == "empty"
    assert FLEXIBLE.read("no number here").status == "unparsed"


@pytest.mark.parametrize("text", ["#### 1/2", "#### 1 / 2", "#### 13/ 4"])
@pytest.mark.parametrize("rule", [OFFICIAL, STRICT, FLEXIBLE])
def test_a_number_that_is_part_of_a_fraction_is_flagged(rule, text):
    assert rule.read(text).note == "part of a fraction"


@pytest.mark.parametrize("text", ["#### 12", "#### 12 per day/week", "a/b #### 12"])
@pytest.mark.parametrize("rule", [OFFICIAL, STRICT, FLEXIBLE])
def test_a_whole_number_is_not_flagged(rule, text):
    assert rule.read(text).note is None


def test_the_flag_reaches_the_outcome():
    from crucible_datasets.evaluation import METRICS

    outcome = METRICS["exact_match"].score("#### 1/2", "0.5", extract="gsm8k/official@1")
    assert (outcome.value, outcome.extracted, outcome.detail) == (0.0, "1", {"note": "part of a fraction"})


def test_three_and_three_point_zero_are_different_texts():
    assert score("exact_match", "#### 3.0", "3", extract="gsm8k/official@1") == 0.0
    assert score("numeric", "#### 3.0", "3", extract="gsm8k/official@1") == 1.0


def test_targets_are_read_as_predictions_are():
    for rule in ("gsm8k/official", "gsm8k/strict", "gsm8k/flexible"):
        assert score("exact_match", "#### 1,234", "12 * 100 = …\n#### 1,234", extract=rule) == 1.0
        assert score("exact_match", "#### 1234", "1,234", extract=rule, normalize=False) == 1.0


def test_flexible_alone_is_the_newest_flexible():
    assert RULES["gsm8k/flexible"] is FLEXIBLE
    assert RULES["gsm8k/flexible@3"] is FLEXIBLE


numberish = st.text(alphabet="0123456789$.,- #/ab\n", max_size=40)


@given(numberish)
def test_reading_from_the_end_finds_the_last_match(text):
    matches = re.findall(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", text)
    expected = (matches[-1][0] or matches[-1][1]) if matches else None
    read = FLEXIBLE.function(text)
    assert (read and read.text) == (
        None if expected is None else expected.replace(",", "").replace("$", "").removesuffix(".")
    )
