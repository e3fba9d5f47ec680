"""Runs scenarios once and then looks at every state that a power failure may leave; prints what is wrong as JSON.

    LD_PRELOAD=recorder.so python power.py SCENARIO,SCENARIO SEED STATES

With fewer states asked for than there are, the seed chooses; with more, it makes states in between.
"""

import ctypes
import json
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from exports import EXPORTS
from journal import LOSSES, Disk, as_on_disk, calls_in, lay_out, lay_out_mixed
from scenarios import SCENARIOS, NewEntry, RunUnderWay

from crucible_datasets.cache import manifest

shim = ctypes.CDLL(None)
ALL = {**SCENARIOS, **EXPORTS, "RunUnderWay": RunUnderWay}


def recorded(scenario, root):
    """The calls of a process that runs the scenario."""
    with tempfile.TemporaryFile() as log:
        pid = os.fork()
        if pid == 0:
            outcome = 1
            try:
                shim.record(os.fsencode(root), log.fileno())
                scenario.act(root)
                shim.record(b"", -1)
                outcome = 0
            finally:
                os._exit(outcome)
        assert os.waitpid(pid, 0)[1] == 0
        log.seek(0)
        return list(calls_in(log.read()))


def points(calls, seed, number):
    """Pairs of a number of calls that were made and of a loss, by name or by the seed of one in between."""
    rng = random.Random(seed)
    every = [(count, loss) for count in range(len(calls) + 1) for loss in LOSSES]
    if number <= len(every):
        # What was told to be done is lost most easily in the end.
        done = [(len(calls), "unforced bytes"), (len(calls), "all that was not forced")]
        return done + rng.sample([point for point in every if point not in done], number - len(done))
    between = [(rng.randint(0, len(calls)), rng.getrandbits(32)) for _ in range(number - len(every))]
    return every + between


def judged(scenario, disk, loss, is_done):
    """What is wrong with a state."""
    place = Path(tempfile.mkdtemp(prefix="lost-"))
    try:
        if isinstance(loss, str):
            lay_out(disk.top, place / "root", *LOSSES[loss])
        else:
            lay_out_mixed(disk.top, place / "root", random.Random(loss))
        state = scenario.state(str(place / "root"))
        # What is in the cache can be made again, and need not have lasted.
        wanted = {"new"} if is_done and not isinstance(scenario, NewEntry) else {scenario.old, "new"}
        if state not in wanted:
            return [f"the state is {str(state)[:300]}, wanted {sorted(wanted)}"]
        scenario.act(str(place / "root"))
        again = scenario.state(str(place / "root"))
        return [] if again == "new" else [f"after trying again the state is {str(again)[:300]}"]
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    finally:
        os.chdir("/")
        shutil.rmtree(place)


def report(name, seed, number):
    """The calls of a scenario, and what is wrong with the states that they may leave."""
    scenario = ALL[name]()
    root = tempfile.mkdtemp(prefix="power-")
    scenario.prepare(root)
    before = as_on_disk(Path(root))
    calls = recorded(scenario, root)
    assert scenario.state(root) == "new"
    shutil.rmtree(root)
    failures, states = [], 0
    by_count = {}
    for count, loss in points(calls, seed, number):
        by_count.setdefault(count, []).append(loss)
    disk = Disk(root, before)
    before_the_failure, manifest.boot = manifest.boot, lambda: "another start"
    for count in range(len(calls) + 1):
        for loss in by_count.get(count, ()):
            states += 1
            wrong = judged(scenario, disk, loss, count == len(calls))
            failures += [f"after call {count} of {len(calls)}, lost {loss}: {each}" for each in wrong]
        if count < len(calls):
            disk.apply(calls[count])
    manifest.boot = before_the_failure
    kinds = {word: sum(call.word == word for call in calls) for word in sorted({call.word for call in calls})}
    return {"calls": kinds, "states": states, "failures": failures[:20], "wrong": len(failures)}


if __name__ == "__main__":
    reports = {}
    for each in sys.argv[1].split(","):
        reports[each] = report(each, int(sys.argv[2]), int(sys.argv[3]))
    json.dump(reports, sys.stdout)
