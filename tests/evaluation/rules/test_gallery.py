"""The gallery of answer styles: what rules read in them is what a careful person reads."""

from __future__ import annotations

import re
from collections import defaultdict
from types import SimpleNamespace

import pytest
from tests.evaluation.gallery.styles import ANSWERS, HALVES, OPTIONS, cases

from crucible_datasets.benchmarks.catalog.registry import Catalog
from crucible_datasets.evaluation import evaluate, rule_of
from crucible_datasets.evaluation.metrics.normal import words

SAMPLE = SimpleNamespace(choices=list(OPTIONS), metadata={})
BENCHMARKS = {"number": "gsm8k", "letter": "mmlu", "option": "mmlu", "text": "bbh", "formula": "math_500"}
GARBAGE, UNREAD = 0.01, 0.03  # the most that are allowed: of the readings, and of the stated answers


def same(kind, read, answer):
    if kind == "number":
        return re.fullmatch(r"-?\d+(\.\d+)?", read) is not None and float(read) == float(answer.replace(",", ""))
    if kind == "formula":
        return read.replace(" ", "").strip("$") == answer.replace(" ", "")
    return words(read) == words(answer)


def readings(kind, half, rule):
    for case in cases(kind, half):
        yield case, rule.read(case.text, SAMPLE if kind in ("letter", "option") else None).text


def rates(kind, half, rule):
    """The share of garbage among what was read, and the share of stated answers that were not read."""
    pairs = list(readings(kind, half, rule))
    read = [(case, text) for case, text in pairs if text is not None]
    garbage = [case for case, text in read if case.answer is None or not same(kind, text, case.answer)]
    stated = [text for case, text in pairs if case.answer is not None]
    return len(garbage) / len(read), stated.count(None) / len(stated)


def test_the_gallery_has_hundreds_of_styles_of_each_type():
    names = {kind: {case.style.name for half in HALVES for case in cases(kind, half)} for kind in ANSWERS}
    assert all(len(names[kind]) > 400 for kind in ("number", "letter", "text", "formula"))


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("kind", list(ANSWERS))
def test_the_rule_of_a_benchmark_reads_what_a_careful_person_reads(kind, half):
    garbage, unread = rates(kind, half, rule_of(Catalog()[BENCHMARKS[kind]].extract))
    assert (garbage <= GARBAGE, unread <= UNREAD) == (True, True), (garbage, unread)


@pytest.mark.parametrize("kind", list(ANSWERS))
def test_a_reading_consists_of_characters_of_the_text(kind):
    rule = rule_of(Catalog()[BENCHMARKS[kind]].extract)
    texts = [text for half in HALVES for _, text in readings(kind, half, rule) if text]
    assert not [text for text in texts if re.search("[\ue000-\uf8ff]", text)]


@pytest.mark.parametrize("half", HALVES)
def test_letters_are_read_without_the_options(half):
    rule = rule_of("strip_thinking | choice/letter")
    garbage, unread = rates("letter", half, SimpleNamespace(read=lambda text, sample: rule.read(text)))
    assert (garbage <= GARBAGE, unread <= UNREAD) == (True, True), (garbage, unread)


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("kind", ["letter", "option"])
def test_own_data_with_choices_is_scored_as_a_careful_person_would(kind, half):
    styles = list(cases(kind, half))
    rows = [{"input": "?", "target": case.target, "choices": list(OPTIONS)} for case in styles]
    outcomes = [one.outcomes["multiple_choice@2"] for one in evaluate([case.text for case in styles], rows).samples]
    pairs = list(zip(styles, outcomes, strict=True))
    rewarded = [case for case, outcome in pairs if outcome.value == 1 and case.answer is None]
    missed = [case for case, outcome in pairs if outcome.value != 1 and case.answer is not None]
    assert len(rewarded) <= GARBAGE * len(pairs) and len(missed) <= UNREAD * len(pairs)


# ── not worse than other harnesses, form by form


def of_lm_eval(pattern, group=0):
    extraction = pytest.importorskip("lm_eval.filters.extraction")
    regex = extraction.RegexFilter(pattern, group)

    def read(text):
        (found,) = next(iter(regex.apply([[text]], [{}])))
        return None if found == "[invalid]" else found

    return read


def of_inspect(name):
    patterns = pytest.importorskip("inspect_ai._util.pattern")
    pattern = re.compile(getattr(patterns, f"ANSWER_PATTERN_{name}"))

    def read(text):
        found = pattern.search(text)
        return found[1] if found else None

    return read


def of_inspect_choices(text):
    choices = pytest.importorskip("inspect_ai.solver._multiple_choice")
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import TaskState

    output = ModelOutput.from_content("model", text)
    state = TaskState("model", 1, 1, "question", [], choices=list(OPTIONS), output=output)
    return next(iter(choices.parse_answers(state, False)), None)


def as_number(read):
    def number(text):
        found = read(text)
        return found and found.replace(",", "").replace("$", "").removesuffix(".")

    return number


OTHERS = {
    "number": lambda: [
        as_number(of_lm_eval(r"#### (\-?[0-9\.\,]+)")),
        as_number(of_lm_eval(r"(-?[$0-9.,]{2,})|(-?[0-9]+)", -1)),
        as_number(of_lm_eval(r"The answer is (\-?[0-9\.\,]+).")),
        as_number(of_inspect("LINE")),
    ],
    "letter": lambda: [of_lm_eval(r"answer is \(?([ABCDEFGHIJ])\)?"), of_inspect("LETTER"), of_inspect_choices],
    "text": lambda: [of_lm_eval(r"(?<=the answer is )(.*)(?=.)"), of_inspect("LINE"), of_inspect("WORD")],
}


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("kind", list(OTHERS))
def test_no_form_is_read_worse_than_by_the_best_rule_of_another_harness(kind, half):
    ours = rule_of(Catalog()[BENCHMARKS[kind]].extract)
    rules = [lambda text: ours.read(text, SAMPLE if kind == "letter" else None).text, *OTHERS[kind]()]
    right = defaultdict(lambda: [0] * len(rules))
    for case in cases(kind, half):
        for number, rule in enumerate(rules):
            text = rule(case.text)
            said = text is not None and text != "" and same(kind, text, case.target)
            right[case.style.form][number] += said == (case.answer is not None)
    worse = {form: counts for form, counts in right.items() if counts[0] < max(counts[1:])}
    assert not worse
