"""kill -9 while an entry is made in parts: no wrong result, at most one part again per kill, no litter."""

import pytest

# Seeds that once failed are added here and run for ever.
SEEDS = [1]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_kill_costs_one_part_at_most(program, seed):
    found = program("part_kills.py", seed, 20)
    assert found["failures"] == [] and found["killed"] >= 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_200_kills_cost_one_part_each_at_most(program, seed):
    found = program("part_kills.py", seed, 200)
    assert found["failures"] == [] and found["entries"] > 5
