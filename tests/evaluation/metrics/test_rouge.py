"""ROUGE against rouge-score, which is the custom, and the stemmer against NLTK's."""

import lzma
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets.evaluation import METRICS, score
from crucible_datasets.evaluation.metrics.porter import stem
from crucible_datasets.evaluation.metrics.subsequences import Line
from crucible_datasets.evaluation.statistics import bootstrap
from crucible_datasets.exceptions import ArgumentError

DATA = Path(__file__).parents[2] / "data" / "rouge"
TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]


TABLE = [
    ("rouge1", "testing one two", "testing", (1, 1 / 3, 1 / 2)),
    ("rouge2", "testing one two", "testing one", (1, 1 / 2, 2 / 3)),
    ("rougeL", "testing one two", "testing one", (1, 2 / 3, 4 / 5)),
    ("rougeL", "testing one two", "testing two", (1, 2 / 3, 4 / 5)),
    ("rouge1", "the cat is on the mat", "the cat sat on the mat", (5 / 6, 5 / 6, 5 / 6)),
    ("rouge2", "the cat is on the mat", "the cat sat on the mat", (0.6, 0.6, 0.6)),
    ("rougeL", "the cat is on the mat", "the cat sat on the mat", (5 / 6, 5 / 6, 5 / 6)),
    *((kind, "testing", "", (0, 0, 0)) for kind in TYPES),
    *((kind, "", "testing", (0, 0, 0)) for kind in TYPES),
]


def test_the_truth_table():
    for kind, reference, summary, values in TABLE:
        for stat, value in zip(("precision", "recall", "fmeasure"), values, strict=True):
            assert score(kind, summary, reference, stat=stat) == pytest.approx(value), (kind, reference, summary)


# What google-research publishes in rouge/testdata, and what ROUGE-1.5.5 makes of it.
REFERENCES = [
    "ZfbCUIUuePaiLVUlCaUXxkpu XPeWing tUHfPMuZ',-Xd Y BrUgVJing M-HV.-DgdDaY.rFDJCRing Ht-LM EKBDXkME,yz'RBr q'wtion "
    "wIojNbN wL,b .a-'XdQggyFl jB-RPP'iyOIcUxer tKM L",
    "KsJdPByEtAor fE-Qg Dpdbring cw-WeFyu vC MoBL Xdn g wkvcEiGvKtion BDFhrpMtion psing sbKao Q m qiing LMmer "
    "HqqLFXe,XPY,J XsurkMer ,ed nB'wH'bWVHjWFEing tQ.saefZwJtKrTlixYpMMsJing UCAPwNHeYVjDing c T BUySKtion gMPfJpwGw "
    "p'NvxAoping eu pBwMBKV'I DNxqelhu,PHPxDEq,mtion SN",
]
SUMMARIES = [
    "rFDJCRtion Ht-LM EKtDXkME,yz'RBr q'wer wrojNbN wL,b .a-'XdQggyFl jB-RPP'iyOIcUxi",
    "n cw-WeFyu vC MoBL Xdn g wkvcEiGvKtion BDFhrpMer pstion sbKao Q m qier LMmed HqqLFXe,XPY,J XsurkMeo ,ed "
    "nB'wH'bWVHjWFEer tQ.saefZwJtKrTlixYpMMNJtion UCAPwNHeYVjD",
]
GROUND_TRUTH = [
    ("rouge1", False, 0, (0.68750, 0.40741, 0.51163)),
    ("rouge2", False, 0, (0.53333, 0.30769, 0.39024)),
    ("rougeL", False, 0, (0.68750, 0.40741, 0.51163)),
    ("rouge1", False, 1, (0.65385, 0.40476, 0.50000)),
    ("rouge1", True, 1, (0.69231, 0.42857, 0.52941)),
    ("rouge2", False, 1, (0.48000, 0.29268, 0.36364)),
]


def test_the_ground_truth_of_rouge_155():
    for kind, use_stemmer, line, values in GROUND_TRUTH:
        detail = METRICS[kind].score(SUMMARIES[line], REFERENCES[line], use_stemmer=use_stemmer).detail
        found = [detail["precision"], detail["recall"], detail["fmeasure"]]
        assert found == pytest.approx(list(values), abs=6e-6), (kind, use_stemmer, line)


def test_the_published_bootstrap_of_a_thousand_summaries():
    summaries, references = (
        lzma.open(DATA / f"{name}_large.txt.xz", "rt").read().splitlines() for name in ("prediction", "target")
    )
    values = [outcome.value for outcome in METRICS["rouge1"].score_many(summaries, references)]
    found = bootstrap(values, n=1000, seed=0)
    published = 0.37614, 0.38554, 0.39581
    assert (found.interval.low, found.value, found.interval.high) == pytest.approx(published, abs=0.002)
    assert found.value == pytest.approx(published[1], abs=5e-5)


vocabulary = (
    "the cat sat on a mat running runs Ponies relational testing, one two three's well-known généré 42 İ".split()
)
texts = st.lists(st.tuples(st.sampled_from(vocabulary), st.sampled_from([" ", " ", "\n", ". "])), max_size=40).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)


@pytest.fixture(scope="module", params=[False, True], ids=["words", "stems"])
def oracle(request):
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    return request.param, rouge_scorer.RougeScorer(TYPES, use_stemmer=request.param)


@settings(max_examples=60)
@given(reference=texts, summary=texts)
def test_values_are_those_of_rouge_score(oracle, reference, summary):
    use_stemmer, scorer = oracle
    for kind, expected in scorer.score(reference, summary).items():
        detail = METRICS[kind].score(summary, reference, use_stemmer=use_stemmer).detail
        assert [detail["precision"], detail["recall"], detail["fmeasure"]] == pytest.approx(list(expected), abs=1e-12)


@settings(max_examples=25)
@given(references=st.lists(texts, min_size=1, max_size=3), summary=texts)
def test_the_best_reference_counts(oracle, references, summary):
    use_stemmer, scorer = oracle
    for kind, expected in scorer.score_multi(references, summary).items():
        assert score(kind, summary, references, use_stemmer=use_stemmer) == pytest.approx(expected.fmeasure, abs=1e-12)


endings = "sses ies s eed ed ing at bl iz ational tional enci izer bli alli ousli ization ator fulness biliti fulli logi icate ative iciti ical ness ance er able ement ent sion tion ou ism ate ous ive ize e ll y ied".split()
english = "skies dying news innings proceed howe agreed ponies happy relational university generalization sky flying hopping tied ties dies cats caresses".split()
made_words = st.builds(
    lambda start, ends: start + "".join(ends),
    st.text(alphabet="abcdeilnosty", max_size=5),
    st.lists(st.sampled_from(endings), max_size=3),
)


@settings(max_examples=200)
@given(st.sampled_from(english) | made_words.filter(bool))
def test_stems_are_those_of_nltk(word):
    porter = pytest.importorskip("nltk.stem.porter")
    assert stem(word) == porter.PorterStemmer().stem(word)


words = st.lists(st.sampled_from("abcd"), max_size=12) | st.lists(st.sampled_from("ab"), min_size=150, max_size=300)


@given(words, words)
def test_common_positions_are_a_longest_common_subsequence(one, other):
    from rapidfuzz.distance import LCSseq

    common = [one[at] for at in sorted(Line(other).common_with(one))]
    rest = iter(other)
    assert all(word in rest for word in common)
    assert len(common) == LCSseq.similarity(one, other)


@given(texts, texts)
def test_values_are_bounded_and_precision_is_recall_turned_round(reference, summary):
    for kind in TYPES[:3]:
        assert 0.0 <= score(kind, summary, reference) <= 1.0
        assert score(kind, summary, reference, stat="precision") == score(kind, reference, summary, stat="recall")


def test_an_unknown_stat_is_refused():
    with pytest.raises(ArgumentError, match="fmeasure, precision, recall"):
        score("rouge1", "a", "a", stat="median")
