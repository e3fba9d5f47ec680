"""Kill a download from a Hub at points that a seed decides; prints what was found as JSON.

python download_kills.py ENDPOINT SEED KILLS
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

HOME = tempfile.mkdtemp(prefix="downloads-")
os.environ |= {
    "HF_HOME": HOME,
    "HF_DATASETS_CACHE": f"{HOME}/datasets",
    "HF_HUB_OFFLINE": "0",
    "HF_HUB_CACHE": f"{HOME}/hub",
}
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1]))

import huggingface_hub.constants  # noqa: E402, F401
from support.kills import forked, kill_often  # noqa: E402

from crucible_datasets.sources.hub import HubRepo  # noqa: E402

ENDPOINT, SEED, KILLS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def work(there):
    if there == "whole":
        shutil.rmtree(f"{HOME}/hub")
        shutil.rmtree(f"{HOME}/datasets")
    repo = HubRepo("acme/plain", endpoint=ENDPOINT)
    repo.fetched(list(repo.files))


def check():
    """What is in the cache under its final name."""
    files = [path for path in Path(HOME, "hub").rglob("blobs/*") if "~" not in path.name]
    if any(hash_of(path) != path.name for path in files):
        return "wrong"
    links = [path for path in Path(HOME, "hub").rglob("snapshots/*/**/*") if path.is_file()]
    return "whole" if len(links) == 4 else "part" if files or links else "nothing"


def hash_of(path):
    content = path.read_bytes()
    if len(path.name) == 64:
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


try:
    found = kill_often(SEED, KILLS, work, check)
    assert forked(lambda: work("part")) == 0
    litter = [str(path) for path in Path(HOME).rglob("*~*") if path.is_file() or any(path.iterdir())]
    sys.stdout.write(json.dumps({"found": found, "at_last": check(), "litter": litter}))
finally:
    shutil.rmtree(HOME, ignore_errors=True)
