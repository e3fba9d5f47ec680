"""BLEU, chrF and TER are sacrebleu's, of sentences and of corpora."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets.evaluation import METRICS, score, score_corpus

sacrebleu = pytest.importorskip("sacrebleu")

REFERENCES = [
    ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
    ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."],
]
SYSTEM = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
TARGETS = [list(each) for each in zip(*REFERENCES, strict=True)]


PLAIN = {"tokenize": "none", "smooth_method": "floor", "smooth_value": 0.01}
TEN = {"beta": 3, "eps_smoothing": True}
# Of the system above, or of a hypothesis and a reference. Values that sacrebleu states of itself.
TABLE = [
    ("bleu", {}, None, 48.530827009929865),
    ("bleu", {"tokenize": "13a"}, None, 48.530827),
    ("bleu", {"tokenize": "none"}, None, 49.1919566),
    ("bleu", {"tokenize": "intl"}, None, 43.91623493),
    ("bleu", {"smooth_method": "none"}, None, 48.530827),
    ("bleu", {}, (["", "", ""], TARGETS), 0.0),
    ("bleu", PLAIN, (["this is a test"], ["this is a test"]), 100.0),
    ("bleu", PLAIN, (["this is a fest"], ["this is a test"]), 22.3606797749979),
    ("chrf", {}, None, 59.72751782684763),
    ("chrf++", {}, None, 59.15310444399262),
    *(
        ("chrf", TEN, ([one], [other]), value)
        for one, other, value in [
            ("abcdefg", "hijklmnop", 0.0),
            ("a", "b", 0.0),
            ("", "b", 0.0),
            ("", "ref", 0.0),
            ("", "reference", 0.0),
            ("aa", "ab", 8.3333),
            ("a", "a", 16.6667),
            ("a b c", "a b c", 50.0),
            ("a b c", "abc", 50.0),
        ]
    ),
    ("chrf", TEN, (["a", "b"], ["a", "c"]), 8.3333),
    *(
        ("chrf", {"beta": 3}, ([one], [other]), value)
        for one, other, value in [
            ("a", "a", 100.0),
            ("", "reference", 0.0),
            ("a b c", "a b c", 100.0),
            ("a b c", "abc", 100.0),
            ("", "c", 0.0),
            ("aa", "ab", 25.0),
        ]
    ),
    ("chrf", {"beta": 3}, (["a", "b"], ["a", "c"]), 50.0),
    ("ter", {}, None, 40.0),
    ("ter", {}, (["aaaa bbbb cccc dddd"], ["aaaa bbbb cccc dddd"]), 0.0),
    ("ter", {}, (["dddd eeee ffff"], ["aaaa bbbb cccc"]), 100.0),
    ("ter", {}, ([""], ["a"]), 100.0),
    ("ter", {}, (["d e f g h a b c"], ["a b c d e f g h"]), 12.5),
]


def test_the_truth_table():
    for metric, options, pair, value in TABLE:
        predictions, targets = pair or (SYSTEM, TARGETS)
        assert score_corpus(metric, predictions, targets, **options) == pytest.approx(value, abs=1e-4), (metric, pair)


def test_a_short_sentence_alone_is_judged_by_the_orders_it_has():
    for one, other, value in [
        ("test", "a test", 36.78794411714425),
        ("a test", "a test", 100.0),
        ("a little test", "a test", 3.218297948685433),
    ]:
        assert score("bleu", one, other, **PLAIN) == pytest.approx(value, abs=1e-6)


def test_the_parts_of_bleu_are_kept_for_the_corpus():
    outcomes = METRICS["bleu"].score_many(SYSTEM, TARGETS)
    counts = [sum(column) for column in zip(*(outcome.detail["counts"] for outcome in outcomes), strict=True)]
    length, wanted, right, all_of = counts[0], counts[1], counts[2:6], counts[6:10]
    shares = [100 * some / whole for some, whole in zip(right, all_of, strict=True)]
    assert [round(share, 1) for share in shares] == [82.4, 50.0, 45.5, 37.5]
    assert round(math.exp(1 - wanted / length), 3) == 0.943


@pytest.mark.parametrize(
    ("metric", "signature"),
    [
        ("bleu", "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:"),
        ("chrf++", "nrefs:2|case:mixed|eff:yes|nc:6|nw:2|space:no|version:"),
        ("ter", "nrefs:2|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:"),
    ],
)
def test_the_signature_is_sacrebleus(metric, signature):
    outcomes = METRICS[metric].score_many(SYSTEM, TARGETS)
    assert METRICS[metric].signature({}, outcomes) == signature + sacrebleu.__version__


def test_the_signature_tells_options_and_numbers_of_references():
    outcomes = METRICS["bleu"].score_many(SYSTEM, [TARGETS[0], "one", "one"])
    assert METRICS["bleu"].signature({"lowercase": True}, outcomes).startswith("nrefs:var|case:lc|")


sentences = st.lists(st.sampled_from("The dog bit the man . not was it surprised".split()), max_size=12).map(" ".join)


METHODS = st.sampled_from(["exp", "none", "floor", "add-k"])
OPTIONS = {
    "bleu": st.fixed_dictionaries(
        {},
        optional={"lowercase": st.booleans(), "smooth_method": METHODS, "tokenize": st.sampled_from(["13a", "char"])},
    ),
    "chrf": st.fixed_dictionaries(
        {}, optional={"beta": st.integers(1, 3), "whitespace": st.booleans(), "eps_smoothing": st.booleans()}
    ),
    "ter": st.fixed_dictionaries({}, optional={"normalized": st.booleans(), "case_sensitive": st.booleans()}),
}


@settings(max_examples=40)
@given(st.lists(st.tuples(sentences, sentences.filter(bool)), min_size=1, max_size=4), st.fixed_dictionaries(OPTIONS))
def test_corpora_and_sentences_have_the_values_of_sacrebleu(pairs, options):
    """Under every option, also those of rows of its own tests whose sentences are not here."""
    hypotheses, references = [one for one, _ in pairs], [other for _, other in pairs]
    for metric, kind, alone in (("bleu", "BLEU", {"effective_order": True}), ("chrf", "CHRF", {}), ("ter", "TER", {})):
        theirs, single = (getattr(sacrebleu.metrics, kind)(**options[metric], **more) for more in ({}, alone))
        found = score_corpus(metric, hypotheses, references, **options[metric])
        assert found == pytest.approx(theirs.corpus_score(hypotheses, [references]).score)
        expected = single.sentence_score(hypotheses[0], [references[0]]).score
        assert score(metric, *pairs[0], **options[metric]) == pytest.approx(expected)


def test_what_could_not_be_read_counts_as_an_empty_translation():
    outcomes = METRICS["ter"].score_many(["\\boxed{The dog}", "no box"], ["The dog", "The cat"], extract="math/boxed")
    assert [outcome.status for outcome in outcomes] == ["ok", "unparsed"]
    assert [outcome.value for outcome in outcomes] == [0.0, 100.0]
    assert METRICS["ter"].aggregate(outcomes) == 50.0
