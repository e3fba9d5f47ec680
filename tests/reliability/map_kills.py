"""Maps and filters of a file, killed one after the other; prints what went wrong as JSON.

    python map_kills.py SEED KILLS WORKERS OPERATION

The function notes every row it is called for. A run that is killed may cost the part that each worker was at, and no
other; the result is the one of a run that nobody disturbed, and nothing else is left.
"""

import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.kills import calls_of, forked

import crucible_datasets
from crucible_datasets import Dataset, config
from crucible_datasets.atomic.owners import taken_apart
from crucible_datasets.cache import default_cache
from crucible_datasets.ops import filter  # noqa: F401  (so that no child has to import it, or map)
from crucible_datasets.ops.mapping import shards

ROWS, PART = 6_000, 1024
shards._PART_ROWS = PART
crucible_datasets.disable_progress_bars()


def noting(path, work):
    def note(row):
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, b"%8d\n" % row["n"])
        os.close(file)
        return work(row)

    return note


def mapped(dataset, path, workers):
    return dataset.map(noting(path, lambda row: {"m": row["n"] * 2}), num_proc=workers)


def grown(dataset, path, workers):
    """The type of the column changes on the way, so what was written first is written again in the end."""
    half = ROWS // 2
    return dataset.map(noting(path, lambda row: {"m": row["n"] + (0.5 if row["n"] > half else 0)}), num_proc=workers)


def filtered(dataset, path, workers):
    return dataset.filter(noting(path, lambda row: row["n"] % 3 == 0), num_proc=workers)


OPERATIONS = {each.__name__: each for each in (mapped, grown, filtered)}
EXPECTED = {
    "mapped": [{"n": n, "m": n * 2} for n in range(ROWS)],
    "grown": [{"n": n, "m": n + (0.5 if n > ROWS // 2 else 0.0)} for n in range(ROWS)],
    "filtered": [{"n": n} for n in range(0, ROWS, 3)],
}


class Trial:
    def __init__(self, operation, workers):
        self.root = tempfile.mkdtemp(prefix="maps-")
        self.operation, self.workers = operation, workers
        self.notes = os.path.join(self.root, "notes")
        config.HF_DATASETS_CACHE = os.path.join(self.root, "cache")
        # In a child, so that this process has no threads when it forks.
        assert forked(lambda: Dataset.from_dict({"n": range(ROWS)}).to_parquet(self.file)) == 0

    @property
    def file(self):
        return os.path.join(self.root, "rows.parquet")

    def run(self):
        return OPERATIONS[self.operation](Dataset.from_parquet(self.file), self.notes, self.workers or None)

    def noted(self):
        text = Path(self.notes).read_text() if os.path.exists(self.notes) else ""
        return [int(line) for line in text.split("\n") if len(line) == 8]

    def check(self):
        """What is wrong after a run that was not killed, in a process of its own."""
        before = len(self.noted())
        found = self.run()
        wrong = [] if found.to_list() == EXPECTED[self.operation] else ["the result is wrong"]
        if len(self.noted()) != before:
            wrong.append("a finished result was not found again")
        if {entry.is_whole for entry in default_cache().entries()} != {True} or default_cache().verify():
            wrong.append("the cache is not whole")
        whole = {name for entry in default_cache().entries() for name in entry.files} | {"manifest.json"}
        rest = [
            path.name for path in Path(default_cache().root).rglob("*") if path.is_file() and path.name not in whole
        ]
        wrong += [f"left {name}" for name in rest if not name.endswith((".uses", ".ledger"))]
        Path(self.root, "wrong").write_text(json.dumps(wrong))

    def litter(self):
        """What is left of a run that was killed, after the next look at the cache, besides finished parts."""
        default_cache().size()
        names = [path.name for path in Path(default_cache().root, ".work").glob("*")]
        wrong = [name for name in names if (parts := taken_apart(name)) and parts.suffix not in {".uses", ".left"}]
        Path(self.root, "wrong").write_text(json.dumps(wrong))

    def found_wrong(self, look):
        status = forked(look)
        return json.loads(Path(self.root, "wrong").read_text()) if status == 0 else [f"{look.__name__}: {status}"]


def one_entry(rng, operation, workers, calls, takes, most):
    """Kill runs until one finishes, or enough were killed; what went wrong, and how many were killed."""
    trial, wrong, killed, redone, calls_before = Trial(operation, workers), [], 0, 0, Counter()
    try:
        while True:
            before = len(trial.noted())
            if killed >= most:
                status = forked(trial.run)
            elif rng.random() < 0.5:
                status = forked(trial.run, kill_at_call=rng.randrange(calls))
            else:
                status = forked(trial.run, kill_after=rng.uniform(0, takes))
            now = Counter(trial.noted()[before:])
            again = sum(1 for row in now if row in calls_before)
            if again > PART * max(workers, 1):
                wrong.append(f"after {killed} kills {again} rows were done again")
            redone, calls_before = redone + again, calls_before + now
            if status != -signal.SIGKILL:
                break
            killed += 1
            wrong += [f"litter {name}" for name in trial.found_wrong(trial.litter)]
        if status != 0:
            wrong.append(f"a run ended with {status}")
        return wrong + trial.found_wrong(trial.check), max(killed, 1), redone
    finally:
        shutil.rmtree(trial.root, ignore_errors=True)


def import_what_is_needed(trial):
    """Import what a run imports, so that the children that are killed need not; nothing of it starts threads."""
    read, write = os.pipe()
    before = set(sys.modules)

    def tell():
        trial.run()
        names = [
            name for name in sys.modules if name not in before and name.startswith(("crucible", "pyarrow", "numpy"))
        ]
        os.write(write, " ".join(names).encode())

    assert forked(tell) == 0
    os.close(write)
    with os.fdopen(read) as names:
        for name in names.read().split():
            importlib.import_module(name)


def main(seed, kills, workers, operation):
    rng = random.Random(seed)
    trial = Trial(operation, workers)
    import_what_is_needed(trial)
    shutil.rmtree(trial.root)
    trial = Trial(operation, workers)
    calls = calls_of(trial.run)
    shutil.rmtree(trial.root)
    trial = Trial(operation, workers)
    began = time.perf_counter()
    assert forked(trial.run) == 0
    takes = time.perf_counter() - began
    shutil.rmtree(trial.root)
    failures, killed, entries, redone = [], 0, 0, 0
    while killed < kills:
        wrong, more, again = one_entry(rng, operation, workers, calls, takes, kills - killed)
        failures, killed, entries, redone = failures + wrong, killed + more, entries + 1, redone + again
    json.dump({"killed": killed, "entries": entries, "redone": redone, "failures": failures}, sys.stdout)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), sys.argv[4])
