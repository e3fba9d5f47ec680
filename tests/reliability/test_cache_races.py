"""Many processes, one entry: made once, right for all, and the death of its maker delays nobody."""

import pytest


def check(found, processes):
    for each in found:
        assert (each["made"], each["right"], each["litter"]) == (1, processes, [])
        assert each["seconds"] < 1


def test_eight_processes_make_one_entry_once(rounds):
    check(rounds(1, 6, 8), 8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4, 5, 6])
def test_eight_processes_make_one_entry_once_in_every_round(rounds, seed):
    found = rounds(seed, 40, 8)
    check(found, 8)
