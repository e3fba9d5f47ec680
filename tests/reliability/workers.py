"""Workers that are killed, and workers that are started where a copy of the process would hang; prints JSON.

python workers.py kills SEED ROUNDS        one of four workers is killed in every round (R13)
python workers.py threads SEED ROUNDS      calls while threads hold locks, allocate and compute (R14)
python workers.py imports SEED ROUNDS      calls from modules that are being imported (R14)
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from crucible_datasets.exceptions import WorkerDiedError
from crucible_datasets.executors import processes
from crucible_datasets.executors.base import Task

WORKERS = 4
ROWS = 1000


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def tasks(work):
    return [Task(work, range(number * ROWS, (number + 1) * ROWS), "work") for number in range(WORKERS)]


def begun(folder):
    """The workers that have begun, by their rank."""
    return {int(path.stem): int(path.read_text()) for path in Path(folder).glob("*.pid")}


def kills(rng):
    """Kill a worker at its work; how that is told."""
    with tempfile.TemporaryDirectory() as folder:
        busy = rng.random() < 0.5

        def work(rank, advance):
            Path(folder, f"{rank}.tmp").write_text(str(os.getpid()))
            os.rename(Path(folder, f"{rank}.tmp"), Path(folder, f"{rank}.pid"))
            for _ in range(2000):
                advance(1)
                sum(range(300_000)) if busy else time.sleep(0.02)

        victim, delay, killed_at = rng.randrange(WORKERS), rng.random() * 0.05, []

        def kill():
            while len(begun(folder)) < WORKERS:
                time.sleep(0.002)
            time.sleep(delay)
            os.kill(begun(folder)[victim], signal.SIGKILL)
            killed_at.append(time.monotonic())

        killer = threading.Thread(target=kill)
        killer.start()
        found, error = "nothing", None
        try:
            list(processes.run(tasks(work), WORKERS, lambda rows: None))
        except WorkerDiedError as caught:
            found, error = "WorkerDiedError", caught
        seconds = time.monotonic() - killed_at[0]
        killer.join()
        again = list(processes.run(tasks(lambda rank, advance: rank), WORKERS, lambda rows: None))
        return {
            "found": found,
            "rows": error is not None and [error.rows.start, error.rows.stop] == [victim * ROWS, (victim + 1) * ROWS],
            "code": error and error.exit_code,
            "seconds": seconds,
            "left": [pid for pid in begun(folder).values() if alive(pid)],
            "works again": again == list(range(WORKERS)),
        }


def library_with_threads():
    """A library that computes in threads of its own, already at it."""
    try:
        import torch
    except ImportError:
        import jax.numpy as jnp

        return lambda: (jnp.ones((50, 50)) @ jnp.ones((50, 50))).sum().item()
    return lambda: (torch.ones(50, 50) @ torch.ones(50, 50)).sum().item()


def threads(rng, number, *more):
    """Calls while threads are at everything that a copied process would inherit locked."""
    import logging

    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    stop = threading.Event()
    values = np.random.default_rng(rng.randrange(1 << 30)).random(2_000)
    logger = logging.getLogger("noise")
    logger.addHandler(logging.StreamHandler(open(os.devnull, "w")))
    logger.propagate = False
    work = [
        *more,
        lambda: pc.sort_indices(pa.array(values)),
        lambda: values.reshape(20, 100) @ values.reshape(100, 20),
        lambda: logger.warning("noise"),
        lambda: [bytearray(1000) for _ in range(1000)],
        lambda: __import__("json.tool"),
    ]

    def repeat(act):
        while not stop.is_set():
            act()
            time.sleep(rng.random() * 0.03)

    busy = [threading.Thread(target=repeat, args=(act,), daemon=True) for act in work]
    for thread in busy:
        thread.start()

    def sums(rank, advance):
        return float(pc.sum(pa.array(np.ones(10_000))).as_py())

    try:
        return [
            list(processes.run(tasks(sums), WORKERS, lambda rows: None)) == [10_000.0] * WORKERS for _ in range(number)
        ]
    finally:
        stop.set()
        for thread in busy:
            thread.join()


MODULE = """
from crucible_datasets.executors import processes
from crucible_datasets.executors.base import Task
def double(n):
    return 2 * n
def work(rank, advance):
    return double(rank)
found = list(processes.run([Task(work, range(1))] * {count}, {workers}, lambda rows: None))
assert found == [double(n) for n in range({count})]
"""


def imports(rng):
    """Calls at the import of a module; the program that imports it has no guard."""
    with tempfile.TemporaryDirectory() as folder:
        module = MODULE.format(count=rng.randrange(1, 6), workers=rng.randrange(1, 4))
        Path(folder, "at_import.py").write_text(module)
        Path(folder, "program.py").write_text(f"import at_import\n{module if rng.random() < 0.5 else ''}print('done')")
        done = subprocess.run(
            [sys.executable, "program.py"], cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
        return done.stdout + done.stderr


if __name__ == "__main__":
    kind, seed, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    if kind == "threads":
        found = threads(rng, rounds)
    elif kind == "torch":
        found = threads(rng, rounds, library_with_threads())
    else:
        found = [{"kills": kills, "imports": imports}[kind](rng) for _ in range(rounds)]
    json.dump(found, sys.stdout)
