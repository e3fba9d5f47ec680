"""A full or failing disk at any call: a typed error that names the path, nothing half, no litter, and a retry succeeds."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from scenarios import SCENARIOS


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_fault_at_any_call_is_a_storage_error(trials, scenario):
    report = trials(scenario, "either", 1, 14)
    assert report["failures"] == []
    assert report["outcomes"]["3"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
@pytest.mark.parametrize("mode", ["once", "sticky"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_fault_at_every_call_is_a_storage_error(trials, scenario, mode, seed):
    report = trials(scenario, mode, seed, 1_000_000)
    assert report["failures"] == []
    assert report["trials"] == report["calls"] + 2
