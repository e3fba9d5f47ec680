"""Exact match: the documented rules, and laws of equality."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.evaluation import METRICS, score
from crucible_datasets.evaluation.metrics.normal import signed_words, signed_words_many, words, words_many
from crucible_datasets.exceptions import ArgumentError

RULES = [
    # Texts: case, white space and punctuation do not count.
    (" Paris ", "paris", 1),
    ("The  Answer!", "the answer", 1),
    ("It's", "its", 1),
    ("a - b", "a b", 0),  # punctuation goes last, and leaves both spaces
    ("under_score", "underscore", 0),
    ("Paris", "London", 0),
    ("", "", 1),
    ("", "x", 0),
    # … unless another number would come out.
    ("-5", "5", 0),
    ("3.5", "35", 0),
    (".5", "5", 0),
    ("1/2", "12", 0),
    ("10-20", "1020", 0),
    ("3:45", "345", 0),
    ("1,234", "1234", 1),
    ("$1,234.50.", "1234.50", 1),
    ("5%", "5", 1),
    ("−5", "-5", 1),
    ("covid-19", "covid19", 1),
    ("3.0", "3", 0),
    ("x < 5", "x > 5", 0),
    (">=5", "5", 0),
    ("<=5", ">=5", 0),
    ("!=5", "5", 0),
    ("x<5", "x>5", 0),
    ("√2", "2", 0),
    # … or another formula or program; emphasis and ends of sentences are none.
    ("-x", "x", 0),
    ("!a", "a", 0),
    ("x → ∞", "x → -∞", 0),
    ("f(x) <= g(x)", "f(x) >= g(x)", 0),
    ("a->b", "a<-b", 0),
    ("x+=1", "x+1", 0),
    ("**a<b**.", "a<b", 1),
    ("*Paris*: yes!", "paris yes", 1),
    ("well-known", "wellknown", 1),
    # … or another name.
    ("AT&T", "ATT", 0),
    ("C++", "C", 0),
    ("C#", "C", 0),
    ("C#", "C++", 0),
    ("**C++**.", "c++", 1),
    ("A+", "A", 0),
    ("#Paris", "Paris", 1),
    ("#1", "1", 1),
    # Letters beyond ASCII are letters.
    ("北京", "东京", 0),
    ("北京。", "北京", 1),
    ("Zürich", "zürich", 1),
    ("Zu\u0308rich", "zürich", 1),
    ("कि", "की", 0),
    ("?", "!", 0),
    # Floats within one per cent of the target, ints exactly.
    (100.9, 100.0, 1),
    (101.1, 100.0, 0),
    (0.0, 0.0, 1),
    (1e-9, 0.0, 0),
    (-100.9, -100.0, 1),
    (42, 42, 1),
    (42, 43, 0),
    (100, 100.5, 1),
    (100.5, 100, 1),
    (float("nan"), float("nan"), 1),
    (float("inf"), 1e308, 0),
    (10**400, 1.5, 0),
    # Texts and numbers.
    ("42", 42, 1),
    ("42 apples", 42, 1),
    ("1,234", 1234, 1),
    ("-7", -7, 1),
    ("3.7", 3, 0),
    ("3.0", 3, 1),
    ("0.995", 1, 1),
    ("0.98", 1, 0),
    ("1/2", 1, 0),
    ("apples", 42, 0),
    (42, "42", 1),
    (42, "42 apples", 0),
    ("100.4", 100.0, 1),
    (100.4, "100", 1),
    # Lists as sets; a list of targets for one answer.
    (["a", "b"], ["B", "a", "a"], 1),
    (["a"], ["a", "b"], 0),
    ([1, 2], [2, 1], 1),
    ("b", ["a", "B"], 1),
    ("c", ["a", "b"], 0),
    ("", [], 1),
    # Mappings by their answer.
    ({"answer": "x", "why": 1}, {"answer": "X"}, 1),
    ({"answer": "x"}, {"answer": "y"}, 0),
    ({"a": 1}, {"a": 1}, 1),
    ({"a": 1}, {"a": 2}, 0),
    ("x", {"answer": "X"}, 1),
    ({"answer": 5}, 5, 1),
    (True, True, 1),
    (True, 1, 0),
    ("true", True, 1),
]


def test_the_documented_rules():
    for prediction, target, value in RULES:
        assert score("exact_match", prediction, target) == value, (prediction, target)
        (outcome,) = METRICS["exact_match"].score_many([prediction], [target])
        assert outcome.value == value, (prediction, target)


OPTIONS = [
    ({"normalize": False}, "Paris", "paris", 0),
    ({"normalize": False}, "Paris", "Paris", 1),
    ({"ignore_case": False}, "Paris!", "paris", 0),
    ({"ignore_case": False}, "Paris!", "Paris", 1),
    ({"ignore_punctuation": False}, "Paris!", "paris", 0),
    ({"ignore_punctuation": False}, " PARIS", "paris", 1),
    ({"normalize": "squad"}, "The cat.", "a cat", 1),
    ({"normalize": "squad"}, "the", "a", 1),
    ({"ascii_only": True}, "3.5", "35", 1),
    ({"ascii_only": True}, "a - b", "a b", 0),
    ({"tolerance": 0.1}, 109.0, 100.0, 1),
    ({"tolerance": 0.0}, 100.1, 100.0, 0),
]


def test_options():
    for options, prediction, target, value in OPTIONS:
        assert score("exact_match", prediction, target, **options) == value, (options, prediction)
        assert METRICS["exact_match"].score_many([prediction], [target], **options)[0].value == value


def test_options_that_do_not_exist_are_refused():
    with pytest.raises(ArgumentError, match="Did you mean 'ignore_case'\\? exact_match takes normalize, ignore_case"):
        score("exact_match", "a", "a", ignorecase=True)
    with pytest.raises(ArgumentError, match="'squad'"):
        score("exact_match", "a", "a", normalize="quac")


answers = st.text(max_size=20) | st.text(alphabet="aB 0159.,-/$%'é\n\t", max_size=12)


@given(answers)
def test_everything_equals_itself(text):
    assert score("exact_match", text, text) == 1.0


@given(answers, answers)
def test_it_is_symmetric(one, other):
    assert score("exact_match", one, other) == score("exact_match", other, one)


@given(answers, st.sampled_from([" ", "\n", "\t  "]))
def test_case_and_outer_space_do_not_matter(text, space):
    assert score("exact_match", space + text + space, text) == 1.0
    if text.isascii():
        assert score("exact_match", text.upper(), text) == 1.0


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_numbers_written_out_are_equal_when_they_are(one, other):
    assert score("exact_match", str(one), str(other)) == float(one == other)
    assert score("exact_match", f"{one:,}", str(other)) == float(one == other)


@given(
    st.one_of(st.integers(-300, 300), st.floats(-3, 3).map(lambda number: round(number, 3))),
    st.one_of(st.integers(-300, 300), st.floats(-3, 3)),
    st.sampled_from([0.0, 0.01]),
)
def test_a_text_that_is_a_number_meets_numbers_as_that_number_does(prediction, target, tolerance):
    as_text, as_number = (
        score("exact_match", said, target, tolerance=tolerance) for said in (str(prediction), prediction)
    )
    is_near = float in (type(prediction), type(target)) and abs(prediction - target) <= tolerance * abs(target)
    assert as_text == as_number == float(prediction == target or is_near)


@given(st.decimals(-1000, 1000, places=2), st.decimals(-1000, 1000, places=2))
def test_decimals_written_out_are_equal_when_they_are(one, other):
    assert score("exact_match", f"${one}.", str(other)) == float(str(one) == str(other))


def test_another_operator_is_another_answer():
    operators = "+ * / % ^ & | && || ** < > <= >= = == != ≤ ≥ ≠ × ÷ ± ∈ ∪ ∩ → ≈".split()
    for form in ("a{}b", "a {} b", "it is (a {} b).", "**x2{}y2**"):
        forms = {words(form.format(operator)) for operator in operators}
        assert len(forms) == len(operators), form
        assert words(form.format("")) not in forms, form


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from("eE"))
def test_marks_inside_of_numbers_group_digits_or_make_other_numbers(one, other, exponent):
    groups = len(str(other)) == 3
    assert (words(f"({one},{other})") == words(f"{one}{other}")) is groups
    assert (words(f"{one},{other}") == words(f"{one}, {other}")) is not groups
    assert words(f"{one:,}") == words(str(one))
    assert words(f"{one}{exponent}-{other}") != words(f"{one}{exponent}{other}") == words(f"{one}{exponent}+{other}")
    assert words(f"–{one}") == words(f"−{one}") == words(f"-{one}") != words(str(one))


@pytest.mark.parametrize("text", ["2 1/2", "2-3", "2:30", "2^3", "2.5.1", "2,5"])
def test_a_number_that_goes_on_is_another(text):
    assert score("exact_match", text, 2) == score("exact_match", text, 2.5) == 0


plain_answers = st.text(alphabet="aB 059.,-/$%'<>_:(+#=!*&|~^", max_size=10).map(str.strip)


@given(st.lists(answers, max_size=8) | st.lists(plain_answers, max_size=8))
def test_many_texts_have_the_forms_that_each_has(texts):
    assert words_many(texts) == [words(text) for text in texts]
    assert signed_words_many(texts) == [signed_words(text) for text in texts]


@given(st.lists(st.text(alphabet="aB1,-−[]() .", max_size=9), min_size=60, max_size=70))
def test_signs_of_many_texts_are_those_that_each_has(texts):
    assert signed_words_many(texts) == [signed_words(text) for text in texts]


@given(st.lists(st.tuples(answers, answers), max_size=6))
def test_many_pairs_are_scored_as_each_is(pairs):
    metric = METRICS["exact_match"]
    together = metric.score_many([one for one, _ in pairs], [other for _, other in pairs])
    assert together == [metric.score(one, other) for one, other in pairs]
