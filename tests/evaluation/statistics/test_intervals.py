"""Intervals of proportions and means, plain and clustered."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from crucible_datasets.evaluation.statistics import (
    Estimate,
    clustered_stderr,
    design_effect,
    mean_interval,
    paired,
    repeated_variance,
    subgroups,
    wilson,
)
from crucible_datasets.evaluation.statistics.small_samples import correction
from crucible_datasets.exceptions import ArgumentError

NAN = float("nan")
levels = st.sampled_from([0.5, 0.9, 0.95, 0.99])
scores = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=60)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (0, 10, 0, 0.27753),
        (5, 10, 0.23659, 0.76341),
        (8, 10, 0.49016, 0.94332),
        (10, 10, 0.72247, 1),
        (120, 164, 0.65916, 0.79364),
        (0, 164, 0, 0.02289),
    ],
)
def test_wilson_by_the_table(successes, n, low, high):
    found = wilson(successes, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-6)
    values = np.arange(n) < successes
    assert mean_interval(values).interval == found


@given(n=st.integers(1, 5000), data=st.data(), level=levels)
def test_wilson_is_that_of_statsmodels(n, data, level):
    successes = data.draw(st.integers(0, n))
    found = wilson(successes, n, level)
    expected = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-12)
    assert 0 <= found.low <= successes / n <= found.high <= 1
    mirrored = wilson(n - successes, n, level)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.low, found.high), abs=1e-12)


def test_an_interval_never_collapses_at_the_ends():
    for n in (1, 2, 25, 164, 100_000):
        none, all_right = wilson(0, n), wilson(n, n)
        assert none.low == 0 < none.high
        assert all_right.low < 1 == all_right.high
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0, 1)


@given(values=st.lists(st.booleans(), min_size=2, max_size=30), number=st.integers(2, 9), level=levels)
def test_the_interval_of_right_and_wrong_answers_stays_among_shares(values, number, level):
    for clusters in (None, [place % number for place in range(len(values))]):
        found = mean_interval(values, clusters, level).interval
        assert 0 <= found.low <= np.mean(values) <= found.high <= 1


@given(values=scores, level=levels)
def test_the_interval_of_a_mean_is_scipys(values, level):
    found = mean_interval(values, level=level, method="t")
    assert found.stderr == pytest.approx(stats.sem(values), rel=1e-9, abs=1e-9)
    if found.stderr > 1e-6:
        expected = stats.t.interval(level, len(values) - 1, np.mean(values), stats.sem(values))
        assert (found.interval.low, found.interval.high) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        normal = mean_interval(values, level=level, method="normal").interval
        assert normal.width < found.interval.width


@given(data=st.data(), n=st.integers(4, 60), num_clusters=st.integers(2, 8))
def test_the_clustered_error_is_that_of_statsmodels(data, n, num_clusters):
    clusters = data.draw(st.permutations([place % num_clusters for place in range(n)]))
    values = np.array(data.draw(st.lists(st.floats(-10, 10), min_size=n, max_size=n)))
    fitted = sm.OLS(values, np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": np.array(clusters)})
    found = clustered_stderr(values, clusters)
    assert found == pytest.approx(fitted.bse[0], rel=1e-8, abs=1e-9)
    assert mean_interval(values, clusters, method="t").stderr == found


@given(values=scores)
def test_clusters_of_one_are_no_clusters(values):
    alone = list(range(len(values)))
    assert clustered_stderr(values, alone) == pytest.approx(stats.sem(values), rel=1e-9, abs=1e-9)
    binary = [value > 0 for value in values]
    together, apart = mean_interval(binary, alone).interval, mean_interval(binary).interval
    assert together.low <= apart.low + 1e-12
    assert together.high >= apart.high - 1e-12  # Student's t instead of the normal distribution


def test_repeating_every_sample_tells_nothing_new():
    draw = np.random.default_rng(0)
    for values in (draw.random(40) < 0.7, draw.random(40)):
        thrice, clusters = np.repeat(values, 3), np.repeat(np.arange(40), 3)
        assert clustered_stderr(thrice, clusters) == pytest.approx(stats.sem(values))
        assert design_effect(thrice, clusters) == pytest.approx(3, rel=0.03)
        assert mean_interval(thrice, clusters).interval.width > 1.6 * mean_interval(thrice).interval.width


def test_clusters_that_are_all_right_leave_room_for_doubt():
    clusters = np.repeat(np.arange(10), 50)
    found = mean_interval(np.ones(500), clusters).interval
    assert found.high == 1
    assert found.low < wilson(10, 10).low < wilson(500, 500).low


@pytest.mark.parametrize(
    "labels", [list("aabbc"), [1, 1, None, None, 2.5], [(1,), (1,), [2], [2], {"a": 1}], [0, 0, NAN, -NAN, 1]]
)
def test_labels_may_be_anything(labels):
    values = [0.0, 1.0, 0.5, 0.25, 1.0]
    assert clustered_stderr(values, labels) == clustered_stderr(values, [0, 0, 1, 1, 2])


def test_what_is_not_known_is_none():
    assert mean_interval([]) == Estimate(None, 0)
    one = mean_interval([0.5])
    assert (one.value, one.stderr, one.interval) == (0.5, None, None)
    assert mean_interval([1]).interval == wilson(1, 1)
    assert msgspec.json.decode(msgspec.json.encode(one), type=Estimate) == one


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([1, float("nan")], {}),
        ([1, float("inf")], {}),
        ([[1, 2]], {}),
        ([1, 0], {"level": 1}),
        ([1, 0], {"level": 95}),
        ([1, 0.5], {"method": "wilson"}),
        ([1, 0], {"method": "magic"}),
        ([1, 0], {"clusters": [1]}),
        ([1, 0], {"clusters": [1, 1]}),
    ],
)
def test_what_makes_no_sense_is_refused(values, options):
    with pytest.raises(ArgumentError):
        mean_interval(values, **options)


@given(data=st.data(), values=st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_subgroups_are_means_of_their_own(data, values):
    labels = [data.draw(st.sampled_from(["b", "a", 3, None, True])) for _ in values]
    found = subgroups(values, labels)
    assert sum(group.n for group in found.values()) == len(values)
    assert list(found)[-1] is None or None not in labels
    for label, group in found.items():
        own = [value for value, one in zip(values, labels, strict=True) if one is label]
        assert group == mean_interval(own)


def test_a_subgroup_within_one_cluster_has_no_interval():
    found = subgroups([0, 1, 1, 0], ["x", "x", "y", "y"], clusters=["p", "p", "q", "r"])
    assert (found["x"].interval, found["x"].num_clusters) == (None, 1)
    assert found["y"].num_clusters == 2


@given(sizes=st.lists(st.integers(1, 6), min_size=2, max_size=12), seed=st.integers(0, 99))
def test_the_parts_of_the_variance_are_those_of_an_analysis_of_variance(sizes, seed):
    draw = np.random.default_rng(seed)
    answers = [draw.normal(draw.normal(0, 2), 1, size) for size in sizes]
    flat, questions = np.concatenate(answers), np.repeat(np.arange(len(sizes)), sizes)
    found = repeated_variance(flat, questions)
    table = np.full((len(sizes), max(sizes)), np.nan)
    for line, own in zip(table, answers, strict=True):
        line[: len(own)] = own
    again = repeated_variance(table)
    assert (again.between, again.within, again.mean) == pytest.approx((found.between, found.within, found.mean))
    assert found.mean == pytest.approx(np.mean([own.mean() for own in answers]))
    if found.within is None:
        assert set(sizes) == {1}
        return
    typical = (sum(sizes) - sum(size**2 for size in sizes) / sum(sizes)) / (len(sizes) - 1)
    expected = max(1.0, stats.f_oneway(*answers).statistic)
    assert 1 + typical * found.between / found.within == pytest.approx(expected)


def test_more_answers_shrink_the_error_and_more_questions_shrink_it_further():
    draw = np.random.default_rng(0)
    difficulty = draw.beta(2, 2, 400)
    runs = (draw.random((400, 8)) < difficulty[:, None]).astype(float)
    found = repeated_variance(runs)
    assert found.between == pytest.approx(0.05, abs=0.015)  # variance of beta(2, 2)
    assert found.within == pytest.approx(0.2, abs=0.015)  # mean of p (1 - p)
    assert found.reliability == pytest.approx(0.2, abs=0.06)
    assert found.expected_stderr() == pytest.approx(found.stderr)
    assert found.expected_stderr(answers=1) == pytest.approx(np.sqrt(0.25 / 400), rel=0.1)
    assert found.expected_stderr(questions=1600) == pytest.approx(found.stderr / 2)
    assert repeated_variance(runs[:, :1]).within is None


@given(st.lists(st.integers(1, 50), min_size=2, max_size=12))
def test_the_correction_for_clusters_is_that_of_the_quadratic_form(sizes):
    """Satterthwaite's factor and degrees of freedom, from the matrices they are defined by."""
    sizes = np.array(sizes, dtype=np.float64)
    share, variance = sizes / sizes.sum(), sizes**2
    residuals = np.eye(len(sizes)) - share[:, None]
    covariance = residuals @ np.diag(variance) @ residuals.T
    factor, freedom = correction(sizes)
    assert factor == pytest.approx(variance.sum() / np.trace(covariance), rel=1e-6)
    assert freedom == pytest.approx(np.trace(covariance) ** 2 / (covariance**2).sum(), rel=1e-6)
    if len(set(sizes)) == 1:
        assert (factor, freedom) == pytest.approx((len(sizes) / (len(sizes) - 1), len(sizes) - 1))


@pytest.mark.parametrize(
    ("values", "clusters", "note"),
    [
        ([0.2, 0.9, 0.7], None, "too few values (3)"),
        ([0.0] * 39 + [1.5], None, "too few values (40) for their skewness (6.1)"),
        (np.linspace(0, 1, 40), None, ""),
        ([1, 0] * 10, None, ""),
        ([1, 0] * 10, np.arange(20) // 2, "too few clusters (10)"),
        ([1, 0] * 10, np.minimum(np.arange(20), 5), "too few clusters (6, unequal, worth 2 of equal size)"),
        ([1, 0] * 100, np.arange(200) // 4, ""),
    ],
)
def test_an_interval_says_if_there_are_too_few_values(values, clusters, note):
    interval = mean_interval(values, clusters).interval
    assert interval.note.startswith(note)
    assert bool(interval.note) == bool(note)
    assert paired(np.zeros(len(values)), values, clusters, n=50).interval.note == interval.note
