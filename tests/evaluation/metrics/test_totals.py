"""Totals over choices of samples: the same as if the metric were asked, also where they are made of sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible_datasets.evaluation.metrics.base import METRICS
from crucible_datasets.evaluation.metrics.totals import Totals
from crucible_datasets.evaluation.outcome import MISSING

OF_SUMS = [METRICS[name] for name in ("bleu", "chrf", "chrf++", "ter")]
texts = st.lists(st.sampled_from("the cat sat on mats and dogs ran".split()), max_size=9).map(" ".join)


@settings(max_examples=40)
@given(st.lists(st.tuples(texts, texts), min_size=2, max_size=8), st.data())
def test_a_total_is_what_the_metric_makes_of_the_outcomes(pairs, data):
    rows = data.draw(st.lists(st.integers(0, len(pairs)), min_size=1, max_size=12))
    for metric in OF_SUMS:
        outcomes = [[one] for one in metric.score_many(*zip(*pairs, strict=True))] + [[MISSING]]
        totals = Totals(metric, {}, outcomes)
        assert totals.is_quick
        chosen = [one for row in rows for one in outcomes[row]]
        assert totals(np.array(rows)) == pytest.approx(metric.aggregate(chosen), abs=1e-9), metric.name


def test_several_outcomes_of_a_sample_count_all():
    bleu = METRICS["bleu"]
    outcomes = bleu.score_many(["a cat sat on it", "a dog", "the mat"], ["a cat sat on it", "the dog", "a mat"])
    totals = Totals(bleu, {}, [outcomes[:2], outcomes[2:]])
    assert totals(np.array([0, 1])) == pytest.approx(bleu.aggregate(outcomes))
