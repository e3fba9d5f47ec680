"""kill -9 during map and filter: never a wrong result, at most one part per worker done again, no litter (R2)."""

import pytest

# Seeds that once failed are added here and run for ever: seed, workers, operation.
SEEDS = [(1, 0, "grown"), (2, 0, "filtered")]


@pytest.mark.parametrize(("seed", "workers", "operation"), SEEDS)
def test_a_kill_costs_one_part_at_most(program, seed, workers, operation):
    found = program("map_kills.py", seed, 5, workers, operation)
    assert found["failures"] == [] and found["killed"] >= 5


def test_a_kill_costs_each_worker_one_part_at_most(program):
    found = program("map_kills.py", 3, 2, 4, "mapped")
    assert found["failures"] == [] and found["killed"] >= 2


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["mapped", "grown", "filtered"])
@pytest.mark.parametrize("workers", [0, 4])
def test_200_kills_cost_each_worker_one_part_at_most(program, workers, operation):
    found = program("map_kills.py", 4, 200, workers, operation)
    assert found["failures"] == [] and found["entries"] > 5
