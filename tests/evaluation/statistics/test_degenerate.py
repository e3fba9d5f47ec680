"""Few, equal, missing and wild values: every function gives finite numbers, None, or a typed error; never a warning."""

from __future__ import annotations

import math

import numpy as np
import pytest

from crucible_datasets.evaluation.statistics import (
    bootstrap,
    clustered_stderr,
    design_effect,
    mean_interval,
    minimum_detectable_effect,
    paired,
    power_of,
    repeated_variance,
    required_sample_size,
    sign_flip_test,
    subgroups,
    unpaired,
)
from crucible_datasets.exceptions import ArgumentError

VALUES = {
    "none": [],
    "one": [1.0],
    "half": [0.5],
    "two alike": [1.0, 1.0],
    "two": [0.0, 1.0],
    "all right": [1.0] * 7,
    "all a tenth": [0.1] * 7,
    "tied": [0.25, 0.25, 0.5, 0.5],
    "a gap": [1.0, math.nan, 0.0],
    "endless": [1.0, math.inf],
    "nothing": [1.0, None],
    "texts": ["a", "b"],
    "a table": [[1.0, 2.0], [3.0, 4.0]],
}
CLUSTERS = {
    "own": lambda size: list(range(size)),
    "one": lambda size: ["x"] * size,
    "pairs": lambda size: [place // 2 for place in range(size)],
    "unknown": lambda size: [math.nan] * size,
    "too few": lambda size: [1],
}
ONE_SIDED = {
    "mean_interval": mean_interval,
    "bootstrap": lambda values, clusters=None: bootstrap(values, n=50, clusters=clusters),
    "bca": lambda values, clusters=None: bootstrap(values, n=50, clusters=clusters, method="bca"),
    "subgroups": lambda values, clusters=None: subgroups(values, ["a"] * len(values), clusters),
    "paired": lambda values, clusters=None: paired([1.0] * len(values), values, clusters, n=50),
    "sign_flip_test": lambda values, clusters=None: sign_flip_test(values, 50, clusters=clusters),
    "unpaired": lambda values, clusters=None: unpaired(values, [0.0, 1.0]),
    "repeated_variance": lambda values, clusters=None: repeated_variance(values, clusters or range(len(values))),
    "clustered_stderr": lambda values, clusters=None: clustered_stderr(values, clusters or range(len(values))),
}


def outcome(function, *given):
    try:
        return function(*given)
    except ArgumentError as error:
        return error


@pytest.mark.parametrize("name", ONE_SIDED)
def test_what_comes_is_finite_or_a_typed_error(name):
    for values in VALUES.values():
        for clusters in (None, *(make(len(values)) for make in CLUSTERS.values())):
            found = outcome(ONE_SIDED[name], values, clusters)
            assert isinstance(found, ArgumentError) or not {"nan", "inf"} & set(words_of(repr(found))), (values, found)


def words_of(text):
    return "".join(letter if letter.isalpha() else " " for letter in text).split()


@pytest.mark.parametrize("name", ["a gap", "endless", "nothing", "texts"])
def test_values_that_are_no_numbers_are_refused_by_name(name):
    for label, function in ONE_SIDED.items():
        found = outcome(function, VALUES[name])
        assert isinstance(found, ArgumentError), (label, found)
        assert found.name in ("values", "first", "second", "differences", "lengths"), (label, found)


def test_equal_values_have_no_spread_whatever_rounding_makes_of_their_mean():
    tenth = np.full(7, 0.1)
    assert tenth.std(ddof=1) > 0, "rounding leaves something, or this test says nothing"
    assert mean_interval(tenth).stderr == clustered_stderr(tenth, [1, 1, 1, 2, 2, 3, 3]) == 0.0
    assert math.isnan(design_effect(tenth, [1, 1, 1, 2, 2, 3, 3]))
    with pytest.raises(ArgumentError, match="clusters"):
        design_effect(tenth, ["one"] * 7)
    with pytest.raises(ArgumentError, match="lengths"):
        design_effect(tenth, [1, 2])


@pytest.mark.parametrize("wild", [math.nan, math.inf, -math.inf])
def test_no_plan_is_made_of_wild_numbers(wild):
    for ask in (
        lambda: minimum_detectable_effect(100, sd=wild),
        lambda: minimum_detectable_effect(100, sd_difference=wild),
        lambda: minimum_detectable_effect(100, accuracy=wild),
        lambda: minimum_detectable_effect(100, sd=1, correlation=wild),
        lambda: required_sample_size(wild, sd=1),
        lambda: power_of(0.1, 100, sd=wild),
    ):
        with pytest.raises(ArgumentError):
            ask()
    if not wild > 0:
        with pytest.raises(ArgumentError):
            minimum_detectable_effect(wild, sd=1)
        with pytest.raises(ArgumentError):
            power_of(0.1, wild, sd=1)
