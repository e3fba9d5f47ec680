"""The table in docs/statistics.md: how often intervals cover, and tests find a difference, in simulations.

The short version makes few trials of every case and requires that nothing is worse than the table says. The slow one
makes many and requires the figures of the table; `python tests/evaluation/statistics/test_coverage.py` prints it.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from crucible_datasets.evaluation.statistics import (
    bootstrap,
    mcnemar,
    mean_interval,
    minimum_detectable_effect,
    paired,
    sign_flip_test,
)

TRIALS = 10_000
PAGE = Path(__file__).parents[3] / "docs" / "statistics.md"


def clusters_of(draw, num_clusters, unequal):
    """The cluster of each sample: 10 samples in each cluster, or 10 on average."""
    return np.repeat(np.arange(num_clusters), draw.geometric(0.1, num_clusters) if unequal else 10)


def right_or_wrong(draw, clusters, accuracy, alike=0.2):
    """Answers that are right by a chance that differs between clusters."""
    weight = 1 / alike - 1
    return (
        draw.random(len(clusters)) < draw.beta(accuracy * weight, (1 - accuracy) * weight, clusters[-1] + 1)[clusters]
    )


def scores(draw, clusters, alike=0.3):
    """Normal scores of mean 0 that are alike within clusters."""
    common = draw.normal(0, math.sqrt(alike), clusters[-1] + 1)[clusters]
    return common + draw.normal(0, math.sqrt(1 - alike), len(clusters))


def wilson(n, accuracy):
    def case(draw):
        interval = mean_interval(draw.random(n) < accuracy).interval
        return accuracy in interval, interval.note

    return case


def clustered_wilson(num_clusters, accuracy, unequal):
    def case(draw):
        clusters = clusters_of(draw, num_clusters, unequal)
        interval = mean_interval(right_or_wrong(draw, clusters, accuracy), clusters).interval
        return accuracy in interval, interval.note

    return case


def mean_of(sample, mean, n, method="t"):
    def case(draw):
        values = sample(draw, n)
        made = mean_interval(values) if method == "t" else bootstrap(values, n=400, seed=int(draw.integers(1 << 30)))
        return mean in made.interval, made.interval.note

    return case


def clustered_mean(num_clusters, unequal, method="t"):
    def case(draw):
        clusters = clusters_of(draw, num_clusters, unequal)
        values = scores(draw, clusters)
        if method == "t":
            interval = mean_interval(values, clusters).interval
        else:
            interval = bootstrap(values, n=400, clusters=clusters, seed=int(draw.integers(1 << 30))).interval
        return 0 in interval, interval.note

    return case


def tango(n, gained, lost):
    def case(draw):
        which = draw.random(n)
        first = (which < lost) | (which > 0.5)
        second = ((which >= lost) & (which < lost + gained)) | (which > 0.5)
        interval = paired(first, second).interval
        return gained - lost in interval, interval.note

    return case


def clustered_tango(draw):
    clusters = clusters_of(draw, 20, unequal=True)
    first, second = (right_or_wrong(draw, clusters, 0.7) for _ in range(2))
    interval = paired(first, second, clusters, n=20).interval
    return 0 in interval, interval.note


def exact_mcnemar(draw):
    gained, lost = draw.multinomial(164, [0.1, 0.1, 0.8])[:2].tolist()
    return mcnemar(lost, gained).p_value <= 0.05, ""


def sign_flips(sample, n):
    def case(draw):
        change = sample(draw, n)
        note = mean_interval(change).interval.note
        return sign_flip_test(change, n=500, seed=int(draw.integers(1 << 30))) <= 0.05, note

    return case


def clustered_sign_flips(draw):
    clusters = clusters_of(draw, 20, unequal=True)
    change = scores(draw, clusters)
    note = mean_interval(change, clusters).interval.note
    return sign_flip_test(change, n=500, seed=int(draw.integers(1 << 30)), clusters=clusters) <= 0.05, note


def detected(n, accuracy, correlation):
    """One model has the accuracy, the other one less the detectable effect."""
    other = accuracy - minimum_detectable_effect(n, accuracy=accuracy, correlation=correlation)
    both = accuracy * other + correlation * math.sqrt(accuracy * (1 - accuracy) * other * (1 - other))
    chances = [accuracy - both, other - both, 1 - accuracy - other + 2 * both]

    def case(draw):
        lost, gained = draw.multinomial(n, chances)[:2].tolist()
        return mcnemar(lost, gained).p_value <= 0.05, ""

    return case


def normal(draw, n):
    return draw.normal(size=n)


def bounded(draw, n):
    return draw.beta(2, 1, n)


def lognormal(draw, n):
    return draw.lognormal(0, 1, n)


def skewed(draw, n):
    return draw.lognormal(0, 1, n) - math.exp(0.5)


# (what, data, promised): a function of a generator that gives whether it covers (or rejects), and the note.
CASES = {
    ("Wilson", "20 answers, 50 % right", 0.95): wilson(20, 0.5),
    ("Wilson", "164 answers, 70 % right", 0.95): wilson(164, 0.7),
    ("Wilson", "25 answers, 96 % right", 0.95): wilson(25, 0.96),
    ("Wilson, clustered", "50 clusters of 10, 90 % right", 0.95): clustered_wilson(50, 0.9, False),
    ("Wilson, clustered", "50 unequal clusters, 90 % right", 0.95): clustered_wilson(50, 0.9, True),
    ("Wilson, clustered", "20 clusters of 10, 90 % right", 0.95): clustered_wilson(20, 0.9, False),
    ("Wilson, clustered", "20 unequal clusters, 90 % right", 0.95): clustered_wilson(20, 0.9, True),
    ("Wilson, clustered", "20 unequal clusters, 50 % right", 0.95): clustered_wilson(20, 0.5, True),
    ("Wilson, clustered", "8 unequal clusters, 80 % right", 0.95): clustered_wilson(8, 0.8, True),
    ("t", "8 normal values", 0.95): mean_of(normal, 0, 8),
    ("t", "20 values between 0 and 1, skewed", 0.95): mean_of(bounded, 2 / 3, 20),
    ("t", "8 lognormal values", 0.95): mean_of(lognormal, math.exp(0.5), 8),
    ("t", "50 lognormal values", 0.95): mean_of(lognormal, math.exp(0.5), 50),
    ("t, clustered", "8 unequal clusters, normal", 0.95): clustered_mean(8, True),
    ("t, clustered", "20 unequal clusters, normal", 0.95): clustered_mean(20, True),
    ("bootstrap", "8 normal values", 0.95): mean_of(normal, 0, 8, "bootstrap"),
    ("bootstrap", "20 values between 0 and 1, skewed", 0.95): mean_of(bounded, 2 / 3, 20, "bootstrap"),
    ("bootstrap, clustered", "8 clusters of 10, normal", 0.95): clustered_mean(8, False, "bootstrap"),
    ("bootstrap, clustered", "8 unequal clusters, normal", 0.95): clustered_mean(8, True, "bootstrap"),
    ("Tango", "40 pairs, 10 % gained and lost", 0.95): tango(40, 0.1, 0.1),
    ("Tango", "164 pairs, 3 % gained, 1 % lost", 0.95): tango(164, 0.03, 0.01),
    ("Tango, clustered", "20 unequal clusters, 70 % right", 0.95): clustered_tango,
    ("McNemar, exact", "164 pairs, equal models", 0.05): exact_mcnemar,
    ("permutation", "8 symmetric differences of mean 0", 0.05): sign_flips(normal, 8),
    ("permutation", "8 skewed differences of mean 0", 0.05): sign_flips(skewed, 8),
    ("permutation", "50 skewed differences of mean 0", 0.05): sign_flips(skewed, 50),
    ("permutation, clustered", "20 unequal clusters, mean 0", 0.05): clustered_sign_flips,
    ("McNemar, exact", "100 pairs, detectable effect, 80 % right", 0.8): detected(100, 0.8, 0.5),
    ("McNemar, exact", "164 pairs, detectable effect, 90 % right", 0.8): detected(164, 0.9, 0.3),
    ("McNemar, exact", "1319 pairs, detectable effect, 80 % right", 0.8): detected(1319, 0.8, 0.5),
}


def simulated(case, trials, seed=0):
    """The share of trials in which the case happens, and the share with a note."""
    draw = np.random.default_rng(seed)
    results = [case(draw) for _ in range(trials)]
    return sum(happened for happened, _ in results) / trials, sum(bool(note) for _, note in results) / trials


def line(key, share, noted):
    what, data, promised = key
    return f"| {what} | {data} | {promised:.2f} | {share:.3f} | {noted:.0%} |"


def documented():
    found = re.findall(
        r"^\| (.+?) \| (.+?) \| (0\.\d\d) \| (0\.\d{3}) \| (\d+)% \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    return {
        (what, data, float(promised)): (float(share), int(noted) / 100) for what, data, promised, share, noted in found
    }


@pytest.mark.parametrize("key", CASES, ids=lambda key: f"{key[0]}: {key[1]}")
def test_a_few_trials_are_no_worse_than_the_table(key):
    trials = 60 if "bootstrap" in key[0] or "clustered" in key[0] else 150
    share, _ = simulated(CASES[key], trials, seed=1)
    expected = documented()[key][0]
    slack = 4 * math.sqrt(expected * (1 - expected) / trials)
    assert share <= expected + slack if key[2] == 0.05 else share >= expected - slack


@pytest.mark.slow
@pytest.mark.parametrize("key", CASES, ids=lambda key: f"{key[0]}: {key[1]}")
def test_the_table_is_true(key):
    share, noted = simulated(CASES[key], TRIALS, seed=2)
    expected, expected_noted = documented()[key]
    for value, in_table in ((share, expected), (noted, expected_noted)):
        spread = math.sqrt(2 * max(in_table * (1 - in_table), 1e-4) / TRIALS)  # the table is a simulation, too
        assert abs(value - in_table) <= 4 * spread + 0.005


def test_the_table_has_every_case_and_whatever_falls_short_says_so():
    """An interval that covers less than it should by more than three points has a note nearly always."""
    table = documented()
    assert list(table) == list(CASES)
    for (what, data, promised), (share, noted) in table.items():
        short = share - promised if promised == 0.05 else promised - share
        assert short <= 0.03 or noted >= 0.8, (what, data)


if __name__ == "__main__":
    for one, case in CASES.items():
        sys.stdout.write(line(one, *simulated(case, TRIALS)) + "\n")
