"""Kills processes that ingest a packed file, at seeded times, and prints as JSON what was found afterwards.

python ingest_kills.py EXTENSION SEED KILLS
"""

# ruff: noqa: T201 - seeds and what was found belong to the report

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"

from support.packed import archive_of, compressed

from crucible_datasets.cache import Cache
from crucible_datasets.download import DownloadConfig, DownloadManager
from crucible_datasets.load import load_dataset

# Imported before the forks, so that kills meet reading and not imports.
for module in ("reading.archives", "reading.prepare", "formats.csv", "cache", "ops.read"):
    import_module(f"crucible_datasets.{module}")
import_module("pyarrow.compute")

ROWS = 9000
PARTS = [
    (f"{part}.csv", b"n,t\n" + b"".join(b"%d,text %d\n" % (n, n) for n in range(part, ROWS, 3))) for part in range(3)
]


def ingest(path, cache):
    manager = DownloadManager(download_config=DownloadConfig(cache_dir=cache))
    unpacked = manager.extract(path)
    data = load_dataset("csv", data_files=path, split="train", cache_dir=cache)
    return data, unpacked


def is_right(path, cache):
    data, unpacked = ingest(path, cache)
    files = [unpacked] if os.path.isfile(unpacked) else sorted(str(file) for file in Path(unpacked).iterdir())
    sizes = [os.path.getsize(file) for file in files]
    wanted = [len(content) for _, content in (PARTS[:1] if len(files) == 1 else PARTS)]
    numbers = sorted(data["n"][:])
    expected = list(range(0, ROWS, 3)) if len(files) == 1 else list(range(ROWS))
    return sizes == wanted and numbers == expected and not Cache(os.path.join(cache, "crucible")).verify()


def in_child(act):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if act() is not False else 2
        finally:
            os._exit(code)
    return pid


def main(extension, seed, trials):
    rng, outcomes = random.Random(seed), {"killed": 0, "finished": 0, "wrong": 0, "litter": 0}
    root = tempfile.mkdtemp(prefix="ingest-")
    try:
        path = os.path.join(root, f"x{extension}")
        single = compressed(PARTS[0][1], extension.rpartition(".")[2]) if extension.startswith(".csv") else None
        Path(path).write_bytes(single if single is not None else archive_of(PARTS, extension))
        cache = os.path.join(root, "timed")
        began = time.perf_counter()
        assert os.waitpid(in_child(lambda: ingest(path, cache) and None), 0)[1] == 0
        takes = time.perf_counter() - began
        for trial in range(20 * trials):
            if outcomes["killed"] == trials:
                break
            cache = os.path.join(root, f"cache-{trial}")
            pid = in_child(lambda cache=cache: ingest(path, cache) and None)
            time.sleep(rng.uniform(0, takes))
            os.kill(pid, signal.SIGKILL)
            status = os.waitpid(pid, 0)[1]
            outcomes["killed" if os.WIFSIGNALED(status) else "finished"] += 1
            # The machine may have less to do by now than when the time was taken.
            takes *= 1.02 if os.WIFSIGNALED(status) else 0.9
            checked = os.waitpid(in_child(lambda cache=cache: is_right(path, cache)), 0)[1]
            outcomes["wrong"] += checked != 0
            work = Path(cache, "crucible", ".work")
            outcomes["litter"] += any(name.suffix == ".tmp" for name in work.iterdir())
            shutil.rmtree(cache)
    finally:
        shutil.rmtree(root)
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
