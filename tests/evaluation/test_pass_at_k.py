"""pass@k: the table of the reference, an oracle by counting, and what is not defined."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible_datasets.benchmarks import load_samples
from crucible_datasets.evaluation import evaluate
from crucible_datasets.evaluation.metrics import METRICS
from crucible_datasets.evaluation.metrics.passing import pass_at_k
from crucible_datasets.exceptions import TooFewCompletionsError

TABLE = {
    (1, 0, 1): 0.0,
    (1, 1, 1): 1.0,
    (5, 2, 1): 0.4,
    (10, 3, 1): 0.3,
    (10, 3, 5): 0.9166666666666666,
    (100, 1, 10): 0.1,
    (200, 20, 1): 0.1,
    (200, 20, 10): 0.660225623763214,
    (200, 20, 100): 0.9999996678312922,
    (10, 8, 3): 1.0,
}


@pytest.mark.parametrize(("given", "expected"), TABLE.items())
def test_the_table(given, expected):
    assert pass_at_k(*given) == pytest.approx(expected, rel=1e-15)


@given(n=st.integers(1, 9), data=st.data())
def test_it_is_the_share_of_draws_with_a_right_one(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws), rel=1e-15)
    assert METRICS["pass_at_k"].score([True] * c + [False] * (n - c), None, k=k).value == pass_at_k(n, c, k)


def test_large_numbers_are_exact():
    assert pass_at_k(10_000, 1, 1000) == 0.1


@pytest.mark.parametrize("n", [1, 4])
def test_fewer_completions_than_k_are_an_error_and_not_a_one(n):
    with pytest.raises(TooFewCompletionsError, match="at least 5"):
        pass_at_k(n, n, 5)
    with pytest.raises(TooFewCompletionsError):
        METRICS["pass_at_k"].score_many([[True] * n], [None], k=5)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_impossible_counts_are_errors(n, c, k):
    with pytest.raises(ValueError, match="completion"):
        pass_at_k(n, c, k)


def test_a_completion_that_is_not_there_passes_nothing():
    score = METRICS["pass_at_k"].score
    assert score([True, None, None, None], None, k=1).value == pass_at_k(4, 1, 1)
    assert score([True, None, False, None], None, k=1, extract="code/completion").value == pass_at_k(4, 1, 1)
    ran = score(["def f(): return 1", None], None, k=1, tests="assert f() == 1", allow_code_execution=True)
    assert (ran.value, ran.detail) == (0.5, {"n": 2, "c": 1, "k": 1})


def test_completions_that_are_missing_count_as_the_call_says():
    samples = load_samples([{"id": name, "input": name, "target": "x"} for name in "ab"])
    given = {"a": [True, None, None, None], "b": [True, True]}
    policies = {
        policy: evaluate(given, samples, metrics="pass@1", missing=policy).value() for policy in ("wrong", "ignore")
    }
    assert policies == {"wrong": (0.25 + 1) / 2, "ignore": 1.0}
