"""BLEU, chrF and TER are sacrebleu's, of sentences and of corpora."""

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


@pytest.mark.parametrize(
    ("metric", "options", "value"),
    [
        ("bleu", {}, 48.530827009929865),
        ("bleu", {"tokenize": "none"}, 49.1919566),
        ("bleu", {"tokenize": "intl"}, 43.91623493),
        ("chrf", {}, 59.72751782684763),
        ("chrf++", {}, 59.15310444399262),
        ("ter", {}, 40.0),
    ],
)
def test_the_truth_table(metric, options, value):
    assert score_corpus(metric, SYSTEM, TARGETS, **options) == pytest.approx(value, abs=1e-6)


def test_empty_translations_are_worth_nothing():
    assert score_corpus("bleu", ["", "", ""], TARGETS) == 0.0


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


@settings(max_examples=40)
@given(st.lists(st.tuples(sentences, sentences.filter(bool)), min_size=1, max_size=4))
def test_corpora_and_sentences_have_the_values_of_sacrebleu(pairs):
    hypotheses, references = [one for one, _ in pairs], [other for _, other in pairs]
    for metric, corpus, sentence in (
        ("bleu", sacrebleu.corpus_bleu, sacrebleu.sentence_bleu),
        ("chrf", sacrebleu.corpus_chrf, sacrebleu.sentence_chrf),
        ("ter", sacrebleu.corpus_ter, sacrebleu.sentence_ter),
    ):
        assert score_corpus(metric, hypotheses, references) == pytest.approx(corpus(hypotheses, [references]).score)
        assert score(metric, *pairs[0]) == pytest.approx(sentence(hypotheses[0], [references[0]]).score)


def test_what_could_not_be_read_counts_as_an_empty_translation():
    outcomes = METRICS["ter"].score_many(["\\boxed{The dog}", "no box"], ["The dog", "The cat"], extract="math/boxed")
    assert [outcome.status for outcome in outcomes] == ["ok", "unparsed"]
    assert [outcome.value for outcome in outcomes] == [0.0, 100.0]
    assert METRICS["ter"].aggregate(outcomes) == 50.0
