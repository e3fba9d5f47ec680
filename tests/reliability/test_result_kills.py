"""kill -9 while results are appended: nothing that was acknowledged is lost, and no run needs a repair."""

import pytest

# Seeds that once failed are added here and run for ever.
SEEDS = [1]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_acknowledged_survives(program, seed):
    found = program("result_kills.py", seed, 12)
    assert found["failures"] == [] and found["killed"] >= 12


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_what_was_acknowledged_survives_200_kills(program, seed):
    found = program("result_kills.py", seed, 200)
    assert found["failures"] == [] and found["killed"] >= 200
