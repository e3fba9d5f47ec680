"""Quantiles and tails are those of scipy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from crucible_datasets.evaluation.statistics import student_quantile, student_tail
from crucible_datasets.evaluation.statistics.student import critical, normal_tail
from crucible_datasets.exceptions import ArgumentError

shares = st.floats(1e-9, 1 - 1e-9)
freedoms = st.one_of(st.integers(1, 300).map(float), st.floats(0.5, 1e9))


@given(share=shares, df=freedoms)
def test_quantiles_are_scipys(share, df):
    assert student_quantile(share, df) == pytest.approx(stats.t.ppf(share, df), rel=1e-10, abs=1e-10)


@given(t=st.floats(-8, 8), df=freedoms)
def test_tails_are_scipys(t, df):
    assert student_tail(t, df) == pytest.approx(stats.t.sf(t, df), rel=1e-9, abs=1e-15)


@given(share=shares, df=freedoms)
def test_a_quantile_undoes_a_tail(share, df):
    assert student_tail(student_quantile(share, df), df) == pytest.approx(1 - share, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("df", [1, 1.5, 2, 3, 29.3, 199_999, 200_001, 1e7, math.inf])
def test_few_and_many_degrees_of_freedom(df):
    for level in (0.5, 0.9, 0.95, 0.99, 0.9999):
        assert critical(level, df) == pytest.approx(stats.t.ppf((1 + level) / 2, df), rel=1e-10)


@pytest.mark.parametrize("df", [199_999, 200_001])
@pytest.mark.parametrize("t", [3, 10])
def test_far_tails_of_many_degrees_of_freedom(t, df):
    assert student_tail(t, df) == pytest.approx(stats.t.sf(t, df), rel=2e-8, abs=0)


def test_the_ends():
    assert student_tail(math.inf, 3) == 0
    assert student_tail(-math.inf, 3) == 1
    assert student_quantile(0.5, 3) == 0
    assert normal_tail(0) == 0.5


@pytest.mark.parametrize(("share", "df"), [(0, 3), (1, 3), (-1, 3), (0.5, 0), (0.5, -1)])
def test_what_has_no_quantile_is_refused(share, df):
    with pytest.raises(ArgumentError):
        student_quantile(share, df)
