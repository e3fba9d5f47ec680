"""kill -9 at any moment: what was there stays or what is new is whole, and the next one tidies up."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from scenarios import SCENARIOS

# Seeds that once failed are added here and run for ever.
SEEDS = [1]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_kill_leaves_old_or_new_and_no_litter(trials, scenario, seed):
    report = trials(scenario, "kill", seed, 20)
    assert report["failures"] == []
    assert report["outcomes"]["-9"] > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_200_kills_leave_old_or_new_and_no_litter(trials, scenario, seed):
    report = trials(scenario, "kill", seed, 200)
    assert report["failures"] == []
