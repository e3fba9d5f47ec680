"""Makers of one entry in parts, killed one after the other; prints what went wrong as JSON.

    python part_kills.py SEED KILLS

Every maker notes each part it begins. A maker that is killed may cost the part it was at, and no other.
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

from crucible_datasets.cache import Cache, Parts

PARTS = 6
CONTENT = {f"p{number}.{kind}": f"{number}{kind}".encode() * 5000 for number in range(PARTS) for kind in ("a", "b")}


def make_all(root):
    def make(folder):
        parts = Parts(folder)
        for number in range(PARTS):
            if parts.found(f"p{number}") is None:
                with open(os.path.join(root, "begun"), "a") as file:
                    file.write(f"{number}\n")
                names = [name for name in CONTENT if name.startswith(f"p{number}.")]
                for name in names:
                    Path(folder, name).write_bytes(CONTENT[name])
                parts.finish(f"p{number}", names, {"number": number})

    return Cache(os.path.join(root, "cache")).resumable("key", make)


def begun(root):
    path = Path(root, "begun")
    return path.read_text().split() if path.exists() else []


def litter(root):
    """Bytes that are neither of an entry nor of a finished part, after the next look at the cache."""
    cache = Cache(os.path.join(root, "cache"))
    cache.size()
    found = []
    for folder in Path(cache.root, ".work").glob("*"):
        if folder.suffix == ".left":
            parts = Parts(folder)
            known = {"plan.json", *parts.known(), *(f"p{number}.part.json" for number in range(PARTS))}
            found += [name for name in os.listdir(folder) if name not in known]
        elif folder.suffix != ".uses":
            found.append(folder.name)
    return found


def one_entry(rng, calls, takes):
    """Kill makers until one finishes; what went wrong, and how many were killed."""
    root, wrong, killed = tempfile.mkdtemp(prefix="parts-"), [], 0
    try:
        while True:
            if rng.random() < 0.5:
                status = forked(lambda: make_all(root), kill_at_call=rng.randrange(calls))
            else:
                status = forked(lambda: make_all(root), kill_after=rng.uniform(0, takes))
            if found := litter(root):
                wrong.append(f"litter {found}")
            if status != -9:
                break
            killed += 1
        if status != 0:
            wrong.append(f"a maker ended with {status}")
        folder = Cache(os.path.join(root, "cache")).find("key")
        if folder is None or any(Path(folder, name).read_bytes() != content for name, content in CONTENT.items()):
            wrong.append("the entry is wrong")
        if len(begun(root)) > PARTS + killed:
            wrong.append(f"{killed} kills, but parts begun: {begun(root)}")
        if left := list(Path(root, "cache", ".work").glob("*.left")):
            wrong.append(f"left {left}")
        return wrong, max(killed, 1)
    finally:
        shutil.rmtree(root)


def main(seed, kills):
    rng = random.Random(seed)
    root = tempfile.mkdtemp(prefix="parts-")
    calls = calls_of(lambda: make_all(root))
    shutil.rmtree(root)
    root = tempfile.mkdtemp(prefix="parts-")
    began = time.perf_counter()
    assert forked(lambda: make_all(root)) == 0
    takes = time.perf_counter() - began
    shutil.rmtree(root)
    failures, killed, entries = [], 0, 0
    while killed < kills:
        wrong, more = one_entry(rng, calls, takes)
        failures, killed, entries = failures + wrong, killed + more, entries + 1
    json.dump({"killed": killed, "entries": entries, "failures": failures}, sys.stdout)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
