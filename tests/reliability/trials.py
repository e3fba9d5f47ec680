"""Runs a scenario again and again, each time in a process that meets another fault; prints what went wrong as JSON.

    LD_PRELOAD=faults.so python trials.py SCENARIO kill|once|sticky|either SEED TRIALS

Faults come at the 1st, 2nd, 3rd … call until a run meets none. With fewer trials than calls,
the seed chooses the calls.
"""

import ctypes
import errno
import json
import os
import random
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from scenarios import SCENARIOS, NewEntry

from crucible_datasets.atomic.owners import taken_apart, unfinished_name
from crucible_datasets.exceptions import StorageError

DONE, TYPED, WRONG = 0, 3, 4
KILLED = -9
COUNT_ONLY, KILL = -1, 0
shim = ctypes.CDLL(None)


def litter(root, of_the_living):
    found = [path for path in Path(root).rglob("*~*") if (parts := taken_apart(path.name)) and parts.suffix != ".uses"]
    return [str(path) for path in found if str(path) != of_the_living]


def run(scenario, root, k, code, sticky):
    """The exit code of a process that meets the fault, the calls it made, and the error it raised if any."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        shim.arm(os.fsencode(root), k, code, sticky)
        outcome, error = DONE, ""
        try:
            scenario.act(root)
        except StorageError as found:
            outcome = TYPED if root in str(found) and found.errno == code else WRONG
            error = traceback.format_exc()
        except BaseException:
            outcome, error = WRONG, traceback.format_exc()
        count = shim.calls()
        shim.arm(b"", 0, COUNT_ONLY, 0)
        os.write(write, json.dumps([count, error]).encode())
        os._exit(outcome)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    exit_code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    count, error = json.loads(said) if said else (None, "")
    return exit_code, count, error


def trial(scenario, mode, k, code):
    """What is wrong after one run, and how it ended."""
    root = tempfile.mkdtemp(prefix="trial-")
    try:
        scenario.prepare(root)
        place = Path(root, ".work") if isinstance(scenario, NewEntry) else Path(root)
        place.mkdir(exist_ok=True)
        living = place / unfinished_name(".folder" if place == Path(root) else "key2")
        living.mkdir()
        (living / "data").write_text("of a living process")
        exit_code, _, error = run(scenario, root, k, code, mode == "sticky")
        wrong = []
        if exit_code not in ({DONE, KILLED} if mode == "kill" else {DONE, TYPED}):
            wrong.append(f"exit code {exit_code}: {error}")
        if mode != "kill" and (left := litter(root, str(living))):
            # The deciding rename has happened, and what follows it is finished by whoever comes next.
            # Finished parts wait for the next maker.
            may_stay = (".incoming", ".old", ".left")
            wrong += [f"left {path}" for path in left if not path.endswith(may_stay) and "incoming" not in path]
        state = scenario.state(root)
        if exit_code == DONE and state != "new":
            wrong.append(f"done, but the state is {state}")
        if state not in {scenario.old, "new"}:
            wrong.append(f"the state is {state}")
        if exit_code == TYPED and state == "new" and scenario.old == "absent":
            wrong.append("visible after an error")
        scenario.act(root)
        if (state := scenario.state(root)) != "new":
            wrong.append(f"after trying again the state is {state}")
        wrong += [f"litter {path}" for path in litter(root, str(living))]
        if not (living / "data").exists():
            wrong.append("the work of a living process was removed")
        return wrong, exit_code
    finally:
        shutil.rmtree(root)


def main(name, mode, seed, trials):
    rng = random.Random(seed)
    scenario = SCENARIOS[name]()
    root = tempfile.mkdtemp(prefix="trial-")
    scenario.prepare(root)
    _, calls, error = run(scenario, root, 1 << 30, KILL if mode == "kill" else errno.EIO, 0)
    shutil.rmtree(root)
    assert calls and not error, error
    points = list(range(1, calls + 3))
    if trials < len(points):
        points = sorted(rng.sample(points, trials))
    elif mode == "kill":
        points = [*points, *(rng.choice(points) for _ in range(trials - len(points)))]
    failures, outcomes = [], {}
    for k in points:
        code = KILL if mode == "kill" else rng.choice([errno.ENOSPC, errno.EIO, errno.EDQUOT])
        wrong, exit_code = trial(scenario, rng.choice(["once", "sticky"]) if mode == "either" else mode, k, code)
        outcomes[exit_code] = outcomes.get(exit_code, 0) + 1
        failures += [f"call {k} of {calls}, code {code}: {each}" for each in wrong]
    json.dump({"calls": calls, "trials": len(points), "outcomes": outcomes, "failures": failures}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
