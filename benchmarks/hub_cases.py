"""Datasets of a Hub: the local one, which a process of its own serves over HTTP, for both libraries alike.

A load is a program in a fresh interpreter with an empty cache, import included.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.cases import Setup, State, case
from benchmarks.data import FOLDER
from benchmarks.file_cases import FIRST_ROW, printed, warm

FILES, ROWS_OF_A_FILE = 20, 20_000  # 10 MB each
MANY = 20_000
SERVER = """
import sys
from crucible_datasets.localhub.server import HubServer
server = HubServer(sys.argv[1])
print(server.endpoint, flush=True)
server.serve_forever()
"""
LOADED = "import {module} as d\nrows = d.load_dataset('acme/speed', split='train')\n"
SHOWN = "print(rows[0], flush=True)"
EVERY_BYTE = "print(len(rows), sum(part['text'].nbytes > 0 for part in rows.with_format('arrow').iter(1000)))"
LISTED = "import {module} as d\nprint(d.get_dataset_config_names('acme/many'))\n"


def written() -> str:
    """The folder that is served, filled the first time: 200 MB in 20 files, and 20,000 files of a few bytes."""
    root = FOLDER / "hub-v1"
    if not root.exists():
        beside = FOLDER / f"hub-v1-{os.getpid()}"
        _write_speed(beside / "acme" / "speed" / "data")
        many = beside / "acme" / "many" / "data"
        many.mkdir(parents=True)
        for number in range(MANY):
            (many / f"train-{number:05d}-of-{MANY}.txt").write_text(f"{number}\n")
        beside.rename(root)
    return str(root)


def _write_speed(folder: Path) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    chance = np.random.default_rng(1)
    for number in range(FILES):
        letters = chance.integers(33, 127, ROWS_OF_A_FILE * 500, dtype=np.uint8).tobytes().decode("ascii")
        texts = [letters[start : start + 500] for start in range(0, len(letters), 500)]
        table = pa.table({"id": range(number * ROWS_OF_A_FILE, (number + 1) * ROWS_OF_A_FILE), "text": texts})
        pq.write_table(table, folder / f"train-{number:05d}-of-{FILES:05d}.parquet", row_group_size=2_000)


@cache
def hub() -> str:
    """Where the local Hub is, which ends with this process."""
    server = subprocess.Popen([sys.executable, "-c", SERVER, written()], stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    assert server.stdout is not None
    endpoint = server.stdout.readline().strip()
    for name in ("speed", "many"):  # so that no side waits until the server knows its files
        with urllib.request.urlopen(f"{endpoint}/api/datasets/acme/{name}/tree/main?recursive=true") as answer:
            answer.read()
    os.environ |= {"HF_ENDPOINT": endpoint, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
    return endpoint


def online(source: str) -> Setup:
    """A program that is timed, with the Hub at hand."""

    def setup(module: Any, path: Path) -> State:
        hub()
        return State(module, None, source.format(module=module))

    return setup


def load(name: str, setup: Setup, bar: float) -> None:
    """Register a load."""

    @case(name, setup=setup, imports=False, anyway=bar)
    def run(state: State) -> str:
        return printed(state.given)


@case("Hub, cold, first row seen", setup=online(LOADED + SHOWN), imports=False, anyway=10)
def seen(state: State) -> str:
    """The first row as the program sees it: files that come in the background are not waited for."""
    with subprocess.Popen([sys.executable, "-c", state.given], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        line = program.stdout.readline()
        program.kill()
    return line


load("Hub, cold, first row", online(LOADED + FIRST_ROW), 10)
load("Hub, cold, every byte", online(LOADED + EVERY_BYTE), 1.5)
load("Hub, cached, first row", warm(online(LOADED + FIRST_ROW)), 3)
load("Hub, list 20,000 files", online(LISTED), 2)
