"""Downloads from stores that are killed: the next process fetches the rest."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager

import pytest
from fsspec.core import url_to_fs
from support.relay import relayed
from support.servers import store

from crucible_datasets.sources.store_bodies import BODIES, _streamed

pytestmark = [
    pytest.mark.usefixtures("online"),
    pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning"),  # gcsfs sends whole bodies
]

MIB = 1 << 20
LARGE = 12 * MIB
# Of each run, the listing, the look at the file afterwards, and the heads of all responses: 2 to 3 kB were seen.
TALK = 8 << 10
DOWNLOAD = """
import json, sys
from crucible_datasets import DownloadConfig, DownloadManager
url, options = sys.argv[1], json.loads(sys.argv[2])
print(DownloadManager(download_config=DownloadConfig(storage_options=options)).download(url))
"""


@contextmanager
def stored(kind, content):
    """The URL of a file in a store, the options to get at it through a relay, and the relay."""
    known = store(kind)
    url = f"{known.root}/{uuid.uuid4().hex}/large.bin"
    system, path = url_to_fs(url, **known.options, skip_instance_cache=True)
    system.pipe_file(path, content)
    with relayed(known.options) as (relay, options):
        yield url, options, relay
    system.rm_file(path)


CASES = [
    pytest.param(kind, share, marks=[] if share in usual else pytest.mark.slow)
    for kind, usual in {"s3": (10, 50, 90), "gs": (50,), "az": (50,)}.items()
    for share in range(10, 100, 10)
]


@pytest.mark.parametrize(("kind", "share"), CASES)
def test_after_a_kill_only_the_rest_is_fetched(kind, share, tmp_path):
    content = random.Random(share).randbytes(LARGE)
    reached = LARGE * share // 100
    with stored(kind, content) as (url, options, relay):
        known = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        surroundings = {**known, "HF_HOME": str(tmp_path), "DATASETS_VERBOSITY": "error"}
        command = [sys.executable, "-c", DOWNLOAD, url, json.dumps(options)]
        relay.count_anew(halt_at=reached)
        process = subprocess.Popen(command, env=surroundings)
        until = time.monotonic() + 60
        while not relay.is_halted:
            assert process.poll() is None and time.monotonic() < until
            time.sleep(0.01)
        until = time.monotonic() + 5  # in which what has arrived is written
        while time.monotonic() < until and written(tmp_path) < reached - MIB:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert list(tmp_path.rglob("large.bin")) == []
        relay.count_anew()
        done = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert relay.sent <= LARGE - reached + MIB + TALK
    (path,) = tmp_path.rglob("large.bin*")
    assert str(path) == done.stdout.strip() and path.read_bytes() == content


@pytest.mark.parametrize("kind", sorted(BODIES))
def test_a_body_is_read_as_it_arrives(kind):
    """Otherwise downloads fall back to short requests, which are slow."""
    content = random.Random(1).randbytes(3 * MIB)
    with stored(kind, content) as (url, options, _):
        system, path = url_to_fs(url, **options, skip_instance_cache=True)
        pieces = list(_streamed(system, path, 100, len(content)))
    assert b"".join(pieces) == content[100:] and max(map(len, pieces)) < MIB


def written(folder):
    return sum(path.stat().st_size for path in folder.rglob("large.bin*.partial"))
