"""Kill a process in the middle of its work, many times, at points that a seed decides.

A run is a program of its own: it imports the library once, starts no threads, and forks a child
for every piece of work, so a kill costs milliseconds. Half of the children are killed after a
random time, half at a random call of the operating system, which also meets the moments between
two renames.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

Work = Callable[[], Any]
FAILED = 3
_CALLS = ("open", "os.", "shutil.")


def forked(work: Work, kill_after: float | None = None, kill_at_call: int | None = None) -> int:
    """Do the work in a child and give its status; a negative one names the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            if kill_at_call is not None:
                _die_at_call(kill_at_call)
            work()
            os._exit(0)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
            os._exit(FAILED)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _die_at_call(number: int) -> None:
    left = number

    def count(event: str, _: Any) -> None:
        nonlocal left
        if event.startswith(_CALLS):
            left -= 1
            if left == -1:  # the kill is a call itself
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


def calls_of(work: Work) -> int:
    """How many calls the work makes at which it can be killed."""
    read, write = os.pipe()

    def counted() -> None:
        count = 0

        def hook(event: str, _: Any) -> None:
            nonlocal count
            count += event.startswith(_CALLS)

        sys.addaudithook(hook)
        work()
        os.write(write, str(count).encode())

    assert forked(counted) == 0
    os.close(write)
    with os.fdopen(read) as answer:
        return int(answer.read())


def kill_often(seed: int, kills: int, work: Callable[[str], Any], check: Callable[[], str]) -> Counter[str]:
    """Kill the work `kills` times and count what `check`, in a child, says of what is left.

    The work is told what is there, so that each time it can replace it by something else.
    """
    chance = random.Random(seed)
    there = _answer(check)
    calls = calls_of(lambda: work(there))
    there = _answer(check)
    began = time.perf_counter()
    assert forked(lambda: work(there)) == 0
    takes = time.perf_counter() - began
    there = _answer(check)
    found: Counter[str] = Counter()
    for number in range(kills):
        if number % 2:
            status = forked(lambda: work(there), kill_at_call=chance.randrange(calls))
        else:
            status = forked(lambda: work(there), kill_after=chance.uniform(0, takes * 1.1))
        assert status in (0, -signal.SIGKILL), f"seed {seed}, kill {number}: the work ended with {status}"
        before, there = there, _answer(check)
        found["killed" if status else "finished"] += 1
        found["kept" if there == before else "replaced"] += 1
        found[there] += 1
    return found


def _answer(check: Callable[[], str]) -> str:
    read, write = os.pipe()
    status = forked(lambda: os.write(write, check().encode()))
    os.close(write)
    with os.fdopen(read) as answer:
        return answer.read() if status == 0 else "unreadable"


def run(module: str, *arguments: str, timeout: float = 600) -> str:
    """What a program prints that runs `module` as a script; it fails when that does."""
    path = os.pathsep.join([str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, module, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
