"""The bootstrap: right, repeatable, within bounded memory, and the same by every path."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from crucible_datasets.evaluation.statistics import bootstrap, clustered_stderr, resampling
from crucible_datasets.exceptions import ArgumentError

DRAW = np.random.default_rng(7)
BINARY = (DRAW.random(120) < 0.8).astype(float)
GRADES = DRAW.integers(0, 3, 300) / 2
SKEWED = DRAW.exponential(size=40)
CLUSTERS = np.repeat(np.arange(20), [1, 2, 3] * 6 + [2, 2])


@pytest.mark.parametrize("values", [BINARY, GRADES, SKEWED], ids=["binary", "grades", "skewed"])
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_are_those_of_scipy(values, method):
    ours = bootstrap(values, n=20_000, method=method, widened=False)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=5_000, method={"bca": "BCa"}.get(method, method), rng=np.random.default_rng(0)
    )
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ours.stderr == pytest.approx(theirs.standard_error, rel=0.05)
    assert ours.interval.low == pytest.approx(theirs.confidence_interval.low, abs=0.06 * width)
    assert ours.interval.high == pytest.approx(theirs.confidence_interval.high, abs=0.06 * width)


def test_the_statistic_may_be_any_function():
    by_name = bootstrap(SKEWED, "median", n=500)
    assert by_name.value == np.median(SKEWED)
    for function, vectorized in ((np.median, True), (lambda values: float(np.median(values)), False)):
        again = bootstrap(SKEWED, function, n=500, vectorized=vectorized)
        assert (again.replicates == by_name.replicates).all()
    pairs = np.stack([SKEWED, SKEWED**2], axis=1)
    found = bootstrap(pairs, lambda rows: np.corrcoef(rows.T)[0, 1], n=300, method="bca")
    assert found.interval.low < found.value < found.interval.high <= 1


@pytest.mark.parametrize("clusters", [None, CLUSTERS], ids=["rows", "clusters"])
@pytest.mark.parametrize("kind", ["binary", "grades", "skewed"])
def test_a_mean_has_the_same_distribution_by_every_path(kind, clusters):
    """What the fast paths draw is what resampling rows, and taking each mean, draws."""
    values = {"binary": BINARY, "grades": GRADES, "skewed": SKEWED}[kind][:40]
    fast = bootstrap(values, n=20_000, clusters=clusters).replicates
    plain = bootstrap(values, lambda rows: rows.mean(), n=4_000, seed=1, clusters=clusters).replicates
    # 4 standard errors of what is compared
    assert fast.mean() == pytest.approx(plain.mean(), abs=4 * plain.std() / np.sqrt(4_000))
    assert fast.std() == pytest.approx(plain.std(), rel=0.06)
    for share in (0.025, 0.5, 0.975):
        assert np.quantile(fast, share) == pytest.approx(np.quantile(plain, share), abs=0.12 * plain.std() + 0.03)


def test_clusters_of_few_kinds_are_drawn_by_kind():
    """Many clusters, of which few differ in sum and size: a ratio, since the sizes are drawn too."""
    draw = np.random.default_rng(5)
    clusters = np.repeat(np.arange(300), draw.integers(1, 3, 300))
    values = (draw.random(len(clusters)) < 0.3 + 0.4 * (clusters % 2)).astype(float)
    fast = bootstrap(values, n=20_000, clusters=clusters)
    plain = bootstrap(values, lambda rows: rows.mean(), n=1_000, seed=1, clusters=clusters)
    assert fast.stderr == pytest.approx(clustered_stderr(values, clusters), rel=0.03)
    assert fast.stderr == pytest.approx(plain.stderr, rel=0.1)
    assert fast.replicates.mean() == pytest.approx(values.mean(), abs=0.001)


@pytest.mark.parametrize("n", [4, 8, 100])
def test_percentiles_are_widened_as_students_t_is(n):
    values = np.random.default_rng(n).random(n)
    found = bootstrap(values, n=5_000)
    share = stats.norm.sf(np.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1))
    expected = np.quantile(found.replicates, [share, 1 - share])
    assert (found.interval.low, found.interval.high) == pytest.approx(expected)
    plain = bootstrap(values, n=5_000, widened=False)
    assert (plain.interval.low, plain.interval.high) == pytest.approx(np.quantile(found.replicates, [0.025, 0.975]))


def test_every_path_is_taken(monkeypatch):
    taken = []
    for name in ("_by_counts", "_by_rows"):
        path = getattr(resampling, name)
        monkeypatch.setattr(resampling, name, lambda *args, name=name, path=path: taken.append(name) or path(*args))
    for values in (BINARY, GRADES, SKEWED):
        bootstrap(values, n=10)
        taken.append("|")
    assert taken == ["|", "_by_counts", "|", "_by_rows", "|"]


@pytest.mark.parametrize("values", [BINARY, GRADES, SKEWED], ids=["binary", "grades", "skewed"])
@pytest.mark.parametrize("options", [{}, {"method": "bca"}, {"clusters": "pairs"}, {"statistic": np.std}])
def test_the_seed_decides(values, options):
    if "clusters" in options:
        options = {"clusters": np.arange(len(values)) // 2}
    first, again, other = (bootstrap(values, n=200, seed=seed, **options) for seed in (3, 3, 4))
    assert (first.replicates == again.replicates).all()
    assert first.interval == again.interval
    assert (first.replicates != other.replicates).any()


def test_the_numbers_of_a_seed_stay():
    """Published intervals must be found again by later versions."""
    found = bootstrap([0, 1, 1, 1, 0, 1, 1, 1], n=1000, seed=42)
    assert found.replicates[:6].tolist() == [0.625, 0.75, 0.625, 0.625, 1.0, 0.375]
    found = bootstrap([0, 0.5, 0.25, 1, 0.75, 0.1, 0.2, 0.3], n=1000, seed=42)
    assert found.replicates[:3].tolist() == pytest.approx([0.375, 0.4875, 0.375], abs=1e-6)


@pytest.mark.parametrize("values", [BINARY, GRADES, SKEWED], ids=["binary", "grades", "skewed"])
def test_the_order_of_rows_does_not_decide(values):
    order = np.random.default_rng(0).permutation(len(values))
    given, clusters = np.asarray(values, dtype=float), np.arange(len(values)) // 3
    for how in ({}, {"clusters": clusters}):
        turned = {name: which[order] for name, which in how.items()}
        there, here = bootstrap(given, n=50, **how), bootstrap(given[order], n=50, **turned)
        assert there.replicates == pytest.approx(here.replicates, rel=1e-12)


def test_memory_stays_that_of_a_block():
    values = np.random.default_rng(0).random(50_000)
    bootstrap(values, n=2)
    tracemalloc.start()
    try:
        bootstrap(values, n=300)  # all rows at once would be 120 MB of numbers, and as much again of values
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12e6


def test_a_mean_of_equal_values_is_sure():
    for values in (np.ones(5), np.full(100, 0.3)):
        found = bootstrap(values, method="bca")
        assert found.stderr == pytest.approx(0, abs=1e-12)
        assert found.interval.low == pytest.approx(values[0])
        assert found.interval.high == pytest.approx(values[0])


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([1], {}),
        ([1, 2], {"n": 1}),
        ([1, 2], {"method": "magic"}),
        ([1, 2], {"statistic": "mode"}),
        ([1, 2], {"clusters": [0, 0]}),
        ([1, 2], {"clusters": [0]}),
        ([1, float("nan")], {}),
    ],
)
def test_what_makes_no_sense_is_refused(values, options):
    with pytest.raises(ArgumentError):
        bootstrap(values, **options)
