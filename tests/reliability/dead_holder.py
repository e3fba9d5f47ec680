"""Kill the process that fetches a file while another waits for it; prints how long that one still waited, as JSON.

    python dead_holder.py ENDPOINT SEED KILLS

The Hub lets each first transfer hang in the middle.
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

HOME = tempfile.mkdtemp(prefix="holder-")
os.environ |= {
    "HF_HOME": HOME,
    "HF_DATASETS_CACHE": f"{HOME}/datasets",
    "HF_HUB_OFFLINE": "0",
    "HF_HUB_CACHE": f"{HOME}/hub",
}
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"

import huggingface_hub.constants  # noqa: E402, F401

from crucible_datasets.sources.hub import HubRepo  # noqa: E402

ENDPOINT, SEED, KILLS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
LARGE = "data/large.parquet"


def started():
    child = os.fork()
    if child == 0:
        try:
            HubRepo("acme/plain", endpoint=ENDPOINT).fetched([LARGE])
            os._exit(0)
        finally:
            os._exit(3)
    return child


def waited(seconds_apart):
    """Seconds from the death of the first process to the end of the second one's work, above what that takes alone."""
    holder = started()
    while not list(Path(HOME, "hub").rglob("*.partial")):
        time.sleep(0.005)
    waiter = started()
    time.sleep(seconds_apart)
    assert os.waitpid(waiter, os.WNOHANG)[0] == 0, "it did not wait"
    os.kill(holder, signal.SIGKILL)
    began = time.monotonic()
    os.waitpid(holder, 0)
    assert os.waitstatus_to_exitcode(os.waitpid(waiter, 0)[1]) == 0
    return time.monotonic() - began


try:
    chance, seconds = random.Random(SEED), []
    for _ in range(KILLS):
        seconds.append(waited(0.2 + chance.random() / 2))
        shutil.rmtree(f"{HOME}/hub")
    sys.stdout.write(json.dumps({"seconds": seconds}))
finally:
    shutil.rmtree(HOME, ignore_errors=True)
