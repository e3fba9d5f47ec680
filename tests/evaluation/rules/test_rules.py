"""What holds for every rule, and how rules join."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.evaluation import METRICS, RULES, Reading, rule_of
from crucible_datasets.evaluation.outcome import STATUSES
from crucible_datasets.exceptions import ArgumentTypeError, UnknownEntryError

NAMED = (
    *("gsm8k/official@1", "gsm8k/lm-eval-strict@3", "gsm8k/lm-eval-flexible@3", "math/boxed@1", "math/hendrycks@1"),
    *("math/minerva@1", "math/verify@0.9.0", "mmlu/letter@1", "mmlu_pro@3.1", "choice/inspect@1", "choice/letter@1"),
    *("squad@1.1", "humaneval@1", "strip_thinking@1"),
)


def test_the_promised_rules_exist():
    assert set(NAMED) <= set(RULES)


@pytest.mark.parametrize("key", list(RULES))
class TestEveryRule:
    def test_is_found_by_key_and_by_name(self, key):
        assert RULES[key].key == key
        assert RULES[RULES[key].name].name == RULES[key].name

    def test_says_what_it_does(self, key):
        assert RULES[key].summary.endswith(".")

    @pytest.mark.parametrize("blank", ["", " ", "\n\t "])
    def test_finds_nothing_in_nothing(self, key, blank):
        assert RULES[key].read(blank) == Reading(None, "empty")

    @given(text=st.text(max_size=60) | st.text(alphabet="#\\boxed{}$answer is:ABC123., <think/>`\n", max_size=60))
    def test_reads_any_text(self, key, text):
        reading = RULES[key].read(text)
        assert reading.status in STATUSES
        assert (reading.text is None) == (reading.status != "ok")

    @given(text=st.text(max_size=30))
    def test_has_a_form_for_any_target(self, key, text):
        assert isinstance(RULES[key].read_target(text), str)


@pytest.mark.parametrize(
    ("text", "answer", "status"),
    [
        ("<think>17?</think>#### 18", "#### 18", "ok"),
        ("<think>a</think>b<think>c</think>d", "bd", "ok"),
        ("began in the prompt</think>answer", "answer", "ok"),
        ("<think>a<think>b</think>c</think>d", "d", "ok"),
        ("<THINKING>x</THINKING> y", "y", "ok"),
        ("<think>never ends", None, "truncated"),
        ("answer <think>never ends", "answer", "ok"),
        ("<think>only</think> ", None, "empty"),
        ("no thoughts", "no thoughts", "ok"),
    ],
)
def test_thinking_is_stripped(text, answer, status):
    reading = RULES["strip_thinking@1"].read(text)
    assert (reading.text, reading.status) == (answer, status)


@pytest.mark.parametrize(
    ("text", "answer", "status"),
    [
        ("answer <think>never ends", None, "truncated"),
        ("<think>a</think><think>b", None, "truncated"),
        ("<think>```\nx\n```</think>```\ny\n```", "```\ny\n```", "ok"),
        ("The tag `<think>` opens thinking.", "The tag `<think>` opens thinking.", "ok"),
        ('The tag "<think>" opens thinking.', 'The tag "<think>" opens thinking.', "ok"),
        ("<reasoning>x</reasoning>y", "y", "ok"),
        ("[THINK]x[/THINK]y", "y", "ok"),
        ("◁think▷x◁/think▷y", "y", "ok"),
        ("<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>y", "y", "ok"),
        ("<|channel|>analysis<|message|>x", None, "truncated"),
        ("analysisWe think.assistantfinalIt is 4.", "It is 4.", "ok"),
        ("<think>only</think> ", None, "empty"),
        ("a < b and [1, 2]", "a < b and [1, 2]", "ok"),
        ("analysis of thinking", "analysis of thinking", "ok"),
    ],
)
def test_thinking_of_every_family_is_stripped(text, answer, status):
    reading = RULES["strip_thinking@2"].read(text)
    assert (reading.text, reading.status) == (answer, status)


def test_a_block_of_tests_is_not_the_program():
    solution = "def add(a, b):\n    return a + b\n"
    tests = "from main import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
    text = f"```python\n{solution}```\nIts tests:\n```python\n{tests}```\nIt prints:\n```\nok\n```"
    sample = SimpleNamespace(metadata={"entry_point": "add"})
    other = f"```python\n{solution}```\nOr:\n```python\ndef helper(): ...\n```"
    for name in ("code/fenced", "code/completion"):
        assert RULES[name].extract(text) == RULES[name].extract(text, sample) == solution
        assert RULES[name].extract(other, sample) == solution
        assert RULES[name].extract(other, SimpleNamespace(metadata={"tests": "assert add(1, 2) == 3"})) == solution


def test_steps_join_to_a_chain():
    chain = rule_of("strip_thinking@1 | gsm8k/official")
    assert chain.key == "strip_thinking@1 | gsm8k/official@1"
    assert chain.extract("<think>#### 17</think>#### 18") == "18"
    assert chain.read("<think>#### 17").status == "truncated"
    assert chain.read("<think>#### 17</think>eighteen").status == "unparsed"
    assert chain.read_target("… #### 1,000") == "1000"


def test_a_function_is_a_rule_under_the_digest_of_what_it_does():
    def last_word(text):
        return text.split()[-1]

    rule = rule_of(last_word)
    assert rule.extract("the end") == "end"
    assert rule.key.startswith("last_word@")
    assert METRICS["exact_match"].score("it is Paris", "paris", extract=last_word).extracted == "Paris"


def test_an_unknown_rule_is_refused_with_those_that_exist():
    with pytest.raises(UnknownEntryError, match="Did you mean 'gsm8k/official"):
        rule_of("gsm8k/oficial")
    with pytest.raises(UnknownEntryError, match="extraction rule 'gsm8k/official@9'"):
        rule_of("gsm8k/official@9")
    with pytest.raises(ArgumentTypeError, match="names joined"):
        rule_of(3)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("    return 1\n\ndef other():\n    pass", "    return 1\n"),
        ("    return 1\n# comment", "    return 1"),
        ("    return 1\nprint(1)", "    return 1"),
        ("    if x:\n        return 1", "    if x:\n        return 1"),
        ("    x = 1\nif __name__", "    x = 1"),
    ],
)
def test_a_completion_ends_where_something_new_begins(text, code):
    assert RULES["humaneval@1"].extract(text) == code


@pytest.mark.parametrize(
    ("text", "code", "status"),
    [
        ("Here:\n```python\nx = 1\n```\nDone", "x = 1\n", "ok"),
        ("```\na\n```\nbetter:\n```py\nb\n```", "b\n", "ok"),
        ("```py\ndef f(): ...\n```\nUse:\n```py\nf()\n```\nIt prints:\n```\n1\n```", "def f(): ...\n", "ok"),
        ("```py\ndef f(): ...\n```\nbetter:\n```py\ndef g(): ...\n```", "def g(): ...\n", "ok"),
        ("x = 1", "x = 1", "ok"),
        ("```python\nx = 1", None, "truncated"),
    ],
)
def test_code_in_fences(text, code, status):
    reading = RULES["code/fenced@1"].read(text)
    assert (reading.text, reading.status) == (code, status)
