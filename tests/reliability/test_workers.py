"""R13: a dead worker is reported, not waited for. R14: workers start wherever a copy of the process would hang.

A hang is a failure: `program` gives every run a time limit.
"""

import pytest


def check_kills(found):
    for each in found:
        assert (each["found"], each["rows"], each["code"]) == ("WorkerDiedError", True, -9)
        assert each["seconds"] < 5
        assert (each["left"], each["works again"]) == ([], True)


def test_a_killed_worker_is_told(program):
    check_kills(program("workers.py", "kills", 1, 3))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_a_killed_worker_is_told_every_time(program, seed):
    check_kills(program("workers.py", "kills", seed, 50))


def test_threads_do_not_matter(program):
    assert program("workers.py", "threads", 1, 3) == [True] * 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["threads", "torch"])
def test_threads_never_matter(program, kind):
    assert program("workers.py", kind, 2, 100) == [True] * 100


def test_imports_do_not_matter(program):
    assert program("workers.py", "imports", 1, 3) == ["done\n"] * 3


@pytest.mark.slow
def test_imports_never_matter(program):
    assert program("workers.py", "imports", 2, 100) == ["done\n"] * 100
