"""Writers of runs, killed one after the other; prints what went wrong as JSON.

    python result_kills.py SEED KILLS

A writer tells each sample it was promised over a pipe, and the end of the run too. Whenever it dies, all that was
promised must be there at the next look, with no repair in between; the next writer continues the run.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.kills import calls_of, forked

from crucible_datasets.evaluation import ResultStore, SampleResult
from crucible_datasets.evaluation.metrics.known import known_metric
from crucible_datasets.evaluation.outcome import Outcome

known_metric("exact_match")  # what a writer imports late is imported before the first fork

SAMPLES = 40
FACTS = {"run_id": "run", "model": "m", "dataset": "d", "metrics": ["exact_match@2"]}


def sample(number):
    text = "é\n" * (number * 7 % 50) + str(number)
    return SampleResult(str(number), text, text, {"exact_match@2": Outcome(float(number % 2))}, metadata={"n": number})


def write(root, told):
    """Continue the run from where it is, three ways of appending in turn, and finish it."""
    store = ResultStore(root)
    if "run" in store:
        return
    with store.open_run(resume=True, **FACTS) as run:
        left = [number for number in range(SAMPLES) if str(number) not in run.done()]
        while left:
            now, left = left[: 1 + left[0] % 3], left[1 + left[0] % 3 :]
            run.extend(map(sample, now))
            os.write(told, b"".join(b"%d\n" % number for number in now))
        run.finish()
        os.write(told, b"finished\n")


def seen(root):
    """The samples that a reader finds, and whether the run is finished."""
    store = ResultStore(root)
    finished = "run" in store
    if not finished and not store.unfinished():
        return {}, False
    result = store.load("run")
    return {one.id: one for one in result.samples}, finished


def missing(root, promised):
    """What was promised and is not there, or is not as it was."""
    found, finished = seen(root)
    wrong = [f"lost {number}" for number in promised - {"finished"} if found.get(number) != sample(int(number))]
    return wrong + (["not finished"] if "finished" in promised and not finished else [])


def answered(work):
    read, write = os.pipe()
    status = forked(lambda: os.write(write, json.dumps(work()).encode()))
    os.close(write)
    with os.fdopen(read) as answer:
        return json.loads(answer.read()) if status == 0 else [f"a reader ended with {status}"]


def one_run(rng, calls, takes):
    """Kill writers until one finishes the run; what went wrong, and how many were killed."""
    root, promised, wrong, killed = tempfile.mkdtemp(prefix="results-"), set(), [], 0
    try:
        while True:
            read, told = os.pipe()
            how = (
                {"kill_at_call": rng.randrange(calls)} if rng.random() < 0.6 else {"kill_after": rng.uniform(0, takes)}
            )
            status = forked(lambda: write(root, told), **how)
            os.close(told)
            with os.fdopen(read) as pipe:
                promised |= set(pipe.read().split())
            wrong += answered(lambda: missing(root, promised))
            if status != -9:
                break
            killed += 1
        if status != 0:
            wrong.append(f"a writer ended with {status}")
        wrong += answered(lambda: at_the_end(root))
        return wrong, killed
    finally:
        shutil.rmtree(root)


def at_the_end(root):
    store = ResultStore(root)
    result = store.load("run")
    wrong = (
        [] if result.samples.ids() == sorted(set(result.samples.ids()), key=int) else ["samples twice or in disorder"]
    )
    wrong += [] if result.value() == 0.5 and result.info.num_samples == SAMPLES else ["wrong summary"]
    store.list()
    litter = [str(path) for path in Path(root).rglob("*") if path.is_file() and path.suffix != ".parquet"]
    return wrong + [f"litter {path}" for path in litter]


def main(seed, kills):
    rng = random.Random(seed)
    roots = [tempfile.mkdtemp(prefix="results-") for _ in range(2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    calls = calls_of(lambda: write(roots[0], nowhere))
    began = time.perf_counter()
    assert forked(lambda: write(roots[1], nowhere)) == 0
    takes = time.perf_counter() - began
    for root in roots:
        shutil.rmtree(root)
    failures, killed, runs = [], 0, 0
    while killed < kills:
        wrong, more = one_run(rng, calls, takes)
        failures, killed, runs = failures + wrong, killed + more, runs + 1
    json.dump({"seed": seed, "killed": killed, "runs": runs, "failures": failures[:20]}, sys.stdout)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
