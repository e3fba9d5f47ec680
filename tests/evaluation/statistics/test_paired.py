"""Two models compared: against scipy and statsmodels, and by what must not matter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from statsmodels.stats import contingency_tables
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower

from crucible_datasets.evaluation.statistics import (
    CORRECTIONS,
    adjusted,
    mcnemar,
    minimum_detectable_effect,
    paired,
    power_of,
    required_sample_size,
    sign_flip_test,
    tango,
    unpaired,
)
from crucible_datasets.evaluation.statistics.exact_power import mcnemar_power
from crucible_datasets.exceptions import ArgumentError, UnknownEntryError

counts = st.integers(0, 400)
percentages = st.integers(0, 100).map(lambda whole: whole / 100)
chances = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def table_of(both, first, second, neither):
    """Two models' zeros and ones with so many samples that both, one or none get right."""
    one = np.repeat([1.0, 1.0, 0.0, 0.0], [both, first, second, neither])
    return one, np.repeat([1.0, 0.0, 1.0, 0.0], [both, first, second, neither])


def test_mcnemar_by_the_table():
    exact, corrected = mcnemar(121, 59), mcnemar(121, 59, exact=False)
    assert exact.p_value == pytest.approx(4.4344492637551645e-06, rel=1e-12)
    assert corrected.statistic == pytest.approx(20.6722, abs=5e-5)
    assert corrected.p_value == pytest.approx(5.450e-06, rel=1e-4)
    assert paired(*table_of(101, 121, 59, 33)).p_value == exact.p_value
    assert exact.p_value == pytest.approx(stats.binomtest(59, 180).pvalue, rel=1e-12)


def test_the_same_220_questions_show_a_difference_in_pairs_and_none_apart():
    """.008 against .080: the published example, whose numbers these are one way to get."""
    first, second = table_of(133, 27, 10, 50)
    assert len(first) == 220
    assert (round(paired(first, second).p_value, 3), round(unpaired(first, second).p_value, 3)) == (0.008, 0.080)


@given(first=counts, second=counts)
def test_mcnemar_is_that_of_statsmodels(first, second):
    table = [[5, first], [second, 5]]
    theirs = contingency_tables.mcnemar(table, exact=True)
    assert mcnemar(first, second).p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    if first + second:
        for corrected in (True, False):
            ours = mcnemar(first, second, exact=False, corrected=corrected)
            theirs = contingency_tables.mcnemar(table, exact=False, correction=corrected)
            if abs(first - second) >= 1:
                assert tuple(ours) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)


@pytest.mark.parametrize(("few", "all"), [(0, 3000), (1400, 3000), (499_000, 1_000_000), (4_000, 1_000_000)])
def test_mcnemar_of_many_samples(few, all):
    expected = stats.binomtest(few, all).pvalue
    assert mcnemar(few, all - few).p_value == pytest.approx(expected, rel=1e-7, abs=1e-300)


@given(first=st.integers(0, 40), second=st.integers(0, 40), rest=st.integers(1, 200))
def test_at_the_ends_of_tangos_interval_the_score_is_the_critical_value(first, second, rest):
    n = first + second + rest
    found = tango(first, second, n)
    assert -1 <= found.low <= (second - first) / n <= found.high <= 1
    turned = tango(second, first, n)
    assert (-turned.high, -turned.low) == pytest.approx((found.low, found.high), abs=1e-12)
    for end in (found.low, found.high):
        if abs(end) < 1 - 1e-9:
            assert abs(score_by_likelihood(second, first, n, end)) == pytest.approx(1.959964, abs=2e-3)


def score_by_likelihood(gained, lost, n, difference):
    """The score at the likeliest probabilities, found by search instead of by formula."""

    def unlikelihood(losing):
        terms = ((gained, losing + difference), (lost, losing), (n - gained - lost, 1 - 2 * losing - difference))
        return -sum(number * math.log(max(chance, 1e-300)) for number, chance in terms if number)

    low, high = max(0.0, -difference), (1 - difference) / 2
    losing = optimize.minimize_scalar(unlikelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    if unlikelihood(low) <= unlikelihood(losing):
        losing = low
    return (gained - lost - n * difference) / math.sqrt(n * (2 * losing + difference - difference**2))


def test_models_that_never_differ_may_still_differ():
    right = np.ones(100)
    found = paired(right, right)
    assert found.p_value == 1
    assert found.interval.high == pytest.approx(1.959964**2 / (100 + 1.959964**2), abs=1e-6)
    assert found.interval.low == pytest.approx(-found.interval.high)
    together = paired(right, right, clusters=np.arange(100) // 20)
    assert together.interval.width > found.interval.width


@given(changes=st.lists(st.integers(-6, 6).map(lambda whole: whole / 4), min_size=2, max_size=9))
def test_the_permutation_test_is_that_of_scipy(changes):
    theirs = stats.permutation_test((changes,), np.mean, permutation_type="samples", vectorized=False, n_resamples=9999)
    if any(changes):
        assert sign_flip_test(changes) == pytest.approx(theirs.pvalue)
    else:
        assert sign_flip_test(changes) == 1


@given(first=st.integers(0, 300), second=st.integers(0, 300), equal=st.integers(0, 300))
def test_flipping_the_signs_of_ones_is_mcnemars_test(first, second, equal):
    changes = np.repeat([-0.1, 0.1, 0.0], [first, second, equal])
    assert sign_flip_test(changes) == pytest.approx(mcnemar(first, second).p_value)


@pytest.mark.parametrize("few_values", [True, False])
def test_random_signs_estimate_what_all_signs_give(few_values):
    draw = np.random.default_rng(3)
    changes = draw.integers(-3, 5, 60) / 3 if few_values else draw.normal(0.15, 1, 60)
    signs = draw.choice([-1, 1], size=(40_000, 60))
    expected = np.mean(np.abs(signs @ changes) >= abs(changes.sum()) - 1e-9)
    found = sign_flip_test(changes, n=40_000)
    assert found == pytest.approx(expected, abs=0.012)  # 3.5 standard errors of two estimates
    assert found == sign_flip_test(changes, n=40_000)
    assert found == pytest.approx(sign_flip_test(changes, n=40_000, seed=1), abs=0.012)


kinds = st.sampled_from(["binary", "grades", "floats"])


def models(kind, n, seed):
    draw = np.random.default_rng(seed)
    if kind == "binary":
        return (draw.random(n) < 0.6).astype(float), (draw.random(n) < 0.7).astype(float)
    if kind == "grades":
        return draw.integers(0, 4, n) / 3, draw.integers(0, 4, n) / 3
    return draw.random(n), draw.random(n)


@given(kind=kinds, n=st.integers(2, 60), seed=st.integers(0, 99), clustered=st.booleans())
def test_turning_the_models_around_turns_the_difference_around(kind, n, seed, clustered):
    first, second = models(kind, n, seed)
    clusters = np.arange(n) % max(2, n // 3) if clustered else None
    there, back = paired(first, second, clusters, n=300), paired(second, first, clusters, n=300)
    assert there.difference == pytest.approx(np.mean(second) - np.mean(first))
    assert back.difference == pytest.approx(-there.difference)
    assert (back.gained, back.lost, back.equal) == (there.lost, there.gained, there.equal)
    assert there.gained + there.lost + there.equal == n
    assert 0 <= there.p_value <= 1
    assert there.interval.low <= there.difference + 1e-9
    assert there.interval.high >= there.difference - 1e-9
    if kind == "binary":
        assert back.p_value == pytest.approx(there.p_value)
        assert (-back.interval.high, -back.interval.low) == pytest.approx((there.interval.low, there.interval.high))


@given(kind=kinds, seed=st.integers(0, 99))
def test_what_is_added_to_both_models_drops_out(kind, seed):
    first, second = models(kind, 30, seed)
    plain, moved = paired(first, second, binary=False, n=200), paired(first + 5, second + 5, n=200)
    assert moved.difference == pytest.approx(plain.difference)
    assert (moved.interval.low, moved.interval.high) == pytest.approx((plain.interval.low, plain.interval.high))


@given(data=st.data(), sizes=st.tuples(st.integers(2, 50), st.integers(2, 50)))
def test_unpaired_is_welchs_test(data, sizes):
    first, second = (data.draw(st.lists(percentages, min_size=size, max_size=size)) for size in sizes)
    ours = unpaired(first, second)
    if min(np.ptp(first), np.ptp(second)) > 0:  # scipy warns of samples without a spread
        theirs = stats.ttest_ind(second, first, equal_var=False)
        assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-7, abs=1e-12)
        bounds = theirs.confidence_interval()
        assert (ours.interval.low, ours.interval.high) == pytest.approx((bounds.low, bounds.high), rel=1e-7, abs=1e-9)


def test_of_many_values_students_t_is_as_good():
    draw = np.random.default_rng(0)
    first, second = draw.random(25_000), draw.random(25_000)
    found = paired(first, second, n=100)
    theirs = stats.ttest_rel(second, first).confidence_interval()
    assert (found.interval.method, found.test) == ("t", "t")
    assert found.p_value == pytest.approx(stats.ttest_rel(second, first).pvalue)
    assert found.p_value == pytest.approx(sign_flip_test(second - first, n=500), abs=0.09)
    alone = paired(first, second, clusters=np.arange(25_000), n=100)
    assert (alone.test, alone.p_value) == ("t, clustered", pytest.approx(found.p_value))
    assert (found.interval.low, found.interval.high) == pytest.approx((theirs.low, theirs.high))


@pytest.mark.parametrize(
    "call",
    [
        lambda: paired([], []),
        lambda: paired([1], [1, 0]),
        lambda: paired([1, 0], [1, 0], clusters=["a", "a"]),
        lambda: paired([1, 0.5], [1, 0], binary=True),
        lambda: paired([1, float("nan")], [1, 0]),
        lambda: unpaired([1], [1, 0]),
        lambda: mcnemar(-1, 2),
        lambda: tango(5, 6, 10),
        lambda: sign_flip_test([1, 2], n=0),
        lambda: adjusted([2.0]),
        lambda: minimum_detectable_effect(100),
        lambda: minimum_detectable_effect(100, accuracy=0.5, sd=1),
        lambda: minimum_detectable_effect(100, accuracy=1.5),
        lambda: minimum_detectable_effect(0, accuracy=0.5),
        lambda: minimum_detectable_effect(10, sd=-1),
        lambda: minimum_detectable_effect(10, sd=1, correlation=2),
        lambda: minimum_detectable_effect(10, sd_difference=1, correlation=0.5),
        lambda: minimum_detectable_effect(10, sd=1, power=0.1),
        lambda: minimum_detectable_effect(10, sd=1, design_effect=0),
        lambda: required_sample_size(0, sd=1),
        lambda: power_of(0.1, 0, sd=1),
    ],
)
def test_what_makes_no_sense_is_refused(call):
    with pytest.raises(ArgumentError):
        call()


# Several tests


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("bh", "fdr_bh"), ("bonferroni", "bonferroni")])
def test_corrections_are_those_of_statsmodels(ours, theirs):
    draw = np.random.default_rng(0)
    # Few cases: statsmodels collects garbage at every call for Holm, which takes 75 ms.
    for p_values in ([0.5], [0.04, 0.01, 0.04], [1, 0, 1, 0], draw.random(20) ** 3, draw.random(50) ** 8):
        assert adjusted(p_values, ours) == pytest.approx(multipletests(p_values, method=theirs)[1])


@given(p_values=chances)
def test_holm_by_its_definition(p_values):
    """The k-th smallest p-value is multiplied by how many are not smaller, and no value is below the one before."""
    order = np.argsort(p_values, kind="stable")
    running, expected = 0.0, np.empty(len(p_values))
    for rank, place in enumerate(order):
        running = max(running, min(1.0, p_values[place] * (len(p_values) - rank)))
        expected[place] = running
    assert adjusted(p_values, "holm") == pytest.approx(expected)


@pytest.mark.parametrize("name", CORRECTIONS)
@given(p_values=chances)
def test_a_correction_raises_and_keeps_the_order(name, p_values):
    found = adjusted(p_values, name)
    assert (found >= np.array(p_values) - 1e-12).all()
    assert (np.diff(found[np.argsort(p_values, kind="stable")]) >= -1e-12).all()
    assert adjusted(p_values[:1], name) == pytest.approx(p_values[:1])
    with_gap = adjusted([math.nan, *p_values, math.nan], name)
    assert np.isnan(with_gap[[0, -1]]).all()
    assert with_gap[1:-1] == pytest.approx(found)


def test_an_unknown_correction_is_refused():
    assert adjusted([0.5], None) == 0.5
    with pytest.raises(UnknownEntryError, match="holm"):
        adjusted([0.5], "hölm")


# Before a run

efforts = {"sd": st.floats(0.05, 2), "n": st.integers(20, 5000), "power": st.floats(0.5, 0.99)}


@given(**efforts)
def test_power_is_that_of_statsmodels(sd, n, power):
    effect = minimum_detectable_effect(n, sd=sd, power=power)
    theirs = NormalIndPower().power(effect / sd, nobs1=n, alpha=0.05)
    assert power_of(effect, n, sd=sd) == pytest.approx(theirs, rel=1e-9)
    assert theirs == pytest.approx(power, abs=6e-5)  # the other tail is left out of the effect
    assert required_sample_size(effect * 1.0000001, sd=sd, power=power) == n


@given(**efforts, correlation=st.floats(0, 0.95))
def test_pairs_need_fewer_samples(sd, n, power, correlation):
    alone = minimum_detectable_effect(n, sd=sd, power=power)
    together = minimum_detectable_effect(n, sd=sd, power=power, correlation=correlation)
    assert together == pytest.approx(alone * math.sqrt(1 - correlation))
    of_differences = sd * math.sqrt(2 * (1 - correlation))
    assert together == pytest.approx(minimum_detectable_effect(n, sd_difference=of_differences, power=power))
    theirs = NormalIndPower(ddof=0).power(together / of_differences, nobs1=n, alpha=0.05, ratio=0)
    assert theirs == pytest.approx(power, abs=6e-5)


def test_clusters_need_more_samples():
    plain = required_sample_size(0.02, accuracy=0.8)
    assert required_sample_size(0.02, accuracy=0.8, design_effect=3) == pytest.approx(3 * plain, abs=3)
    assert minimum_detectable_effect(100, accuracy=1.0) == 0
    assert power_of(0.1, 100, sd=0) == 1


@given(n=st.integers(1, 40), gained=st.floats(0, 0.5), lost=st.floats(0, 0.5), level=st.sampled_from([0.9, 0.95]))
def test_the_power_of_mcnemars_test_is_the_chance_of_all_samples_that_it_rejects(n, gained, lost, level):
    equal = max(0.0, 1 - gained - lost)
    expected = sum(
        stats.multinomial.pmf([up, down, n - up - down], n, [gained, lost, equal])
        for up in range(n + 1)
        for down in range(n + 1 - up)
        if mcnemar(down, up).p_value <= 1 - level
    )
    assert mcnemar_power(gained, lost, n, level) == pytest.approx(expected, abs=1e-6)


@given(
    n=st.integers(10, 3000),
    accuracy=st.floats(0.05, 0.95),
    correlation=st.floats(-0.2, 0.9),
    power=st.floats(0.5, 0.95),
)
@settings(max_examples=40)
def test_the_detectable_effect_of_right_and_wrong_answers_is_that_of_the_exact_test(n, accuracy, correlation, power):
    known = {"accuracy": accuracy, "correlation": correlation}
    effect = minimum_detectable_effect(n, **known, power=power)
    if math.isinf(effect):
        assert power_of(max(accuracy, 1 - accuracy), n, **known) < power
        return
    assert power_of(effect, n, **known) >= power
    assert power_of(effect - 2e-6, n, **known) < power
    assert power_of(-effect, n, **known) == power_of(effect, n, **known)


def test_the_effect_that_a_comparison_could_detect_is_that_of_its_exact_test():
    """A share of discordant samples, known from a comparison, is at least the effect."""
    assert power_of(minimum_detectable_effect(164, discordance=0.2), 164, discordance=0.2) >= 0.8
    assert minimum_detectable_effect(164, discordance=0) == pytest.approx(
        minimum_detectable_effect(164, discordance=0.01), abs=0.02
    )
    assert minimum_detectable_effect(5, discordance=0.5) == math.inf
    assert power_of(0.1, required_sample_size(0.1, discordance=0.2), discordance=0.2) >= 0.8
    assert required_sample_size(0.1, discordance=0.2, design_effect=2) == 2 * required_sample_size(0.1, discordance=0.2)
    with pytest.raises(ArgumentError, match="alone"):
        minimum_detectable_effect(5, discordance=0.5, accuracy=0.5)
    with pytest.raises(ArgumentError, match="cannot differ so much"):
        required_sample_size(0.9, accuracy=0.5, correlation=0.5)
