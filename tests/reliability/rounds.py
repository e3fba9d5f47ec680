"""Several processes that want one entry at the same time; prints what happened in each round as JSON.

    python rounds.py SEED ROUNDS PROCESSES

Each round has a new cache. In every second one the first maker is killed at its work.
"""

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from crucible_datasets.cache import Cache

CONTENT = b"right" * 1000


def makers(root):
    """The processes that have begun to make the entry."""
    path = Path(root, "makers")
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def want(root, start, first_is_stuck):
    def make(folder):
        with open(os.path.join(root, "makers"), "a") as file:
            file.write(f"{os.getpid()}\n")
        stuck = first_is_stuck and makers(root)[0] == os.getpid()
        Path(folder, "data").write_bytes(CONTENT[:100])
        time.sleep(60 if stuck else 0.02)
        Path(folder, "data").write_bytes(CONTENT)

    while time.monotonic() < start:
        pass
    folder = Cache(os.path.join(root, "cache")).made("key", make)
    return Path(folder, "data").read_bytes() == CONTENT


def one_round(rng, processes, kill):
    root = tempfile.mkdtemp(prefix="round-")
    try:
        start = time.monotonic() + 0.02
        pids = []
        for _ in range(processes):
            begin = start + rng.random() * 0.003
            pid = os.fork()
            if pid == 0:
                os._exit(0 if want(root, begin, kill) else 1)
            pids.append(pid)
        seconds = kill_the_maker(root, rng) if kill else 0
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
        Cache(os.path.join(root, "cache")).find("key")
        names = os.listdir(os.path.join(root, "cache", ".work"))
        return {
            "killed": kill,
            "made": len(makers(root)) - kill,
            "right": codes.count(0) + kill,
            "seconds": seconds,
            "litter": [name for name in names if f"-{os.getpid()}-" not in name],
        }
    finally:
        shutil.rmtree(root)


def kill_the_maker(root, rng):
    """The seconds until another one goes on."""
    while not makers(root):
        time.sleep(0.001)
    time.sleep(rng.random() * 0.2)
    (maker,) = makers(root)
    os.kill(maker, signal.SIGKILL)
    began = time.monotonic()
    while len(makers(root)) < 2 and time.monotonic() - began < 30:
        time.sleep(0.001)
    return time.monotonic() - began


if __name__ == "__main__":
    seed, rounds, processes = map(int, sys.argv[1:])
    rng = random.Random(seed)
    json.dump([one_round(rng, processes, index % 2) for index in range(rounds)], sys.stdout)
