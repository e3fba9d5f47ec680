"""The collector of garbage rests, or works less, only as long as rows are made."""

from __future__ import annotations

import gc

import pytest

from crucible_datasets import Dataset
from crucible_datasets.outputs.python import collecting_rarely, collector_paused


@pytest.fixture(autouse=True)
def as_before():
    thresholds = gc.get_threshold()
    yield
    gc.enable()
    gc.set_threshold(*thresholds)


@pytest.mark.parametrize("usual", [(700, 10, 10), (0, 10, 10), (90_000, 7, 3)])
def test_it_works_as_before_afterwards_also_after_an_error(usual):
    gc.set_threshold(*usual)
    with pytest.raises(KeyError), collecting_rarely():
        assert gc.get_threshold()[0] >= usual[0] and gc.get_threshold()[1:] == usual[1:]
        raise KeyError
    assert gc.get_threshold() == usual


def test_one_that_was_off_stays_off():
    gc.disable()
    with collector_paused():
        pass
    assert not gc.isenabled()


def test_what_functions_make_is_still_collected():
    class Knot:
        alive = 0

        def __init__(self):
            self.itself = self
            Knot.alive += 1

        def __del__(self):
            Knot.alive -= 1

    most = 0

    def rows():
        nonlocal most
        for number in range(100_000):
            Knot()
            most = max(most, Knot.alive)
            yield {"number": number}

    assert len(Dataset.from_generator(rows, keep_in_memory=True)) == 100_000
    assert most < 60_000


def test_the_usual_threshold_is_back_when_the_last_of_several_threads_is_done():
    usual, first, second = gc.get_threshold(), collecting_rarely(), collecting_rarely()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold() != usual
    second.__exit__(None, None, None)
    assert gc.get_threshold() == usual
