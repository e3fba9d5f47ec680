"""Datasets of a Hub: a local one, served over HTTP by a separate process, for both libraries.

A load is a program in a new interpreter with an empty cache, import included, except for the call that is timed alone,
after all imports. The bar of 10 for a first row is that of the call: importing Arrow alone takes most of the time that
it would leave to a new program.
"""

from __future__ import annotations

import atexit
import importlib
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
WIDTH = 20  # columns of the wide file, which has 32 MB
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
    """The folder that is served, filled the first time: 200 MB in 20 files, 20,000 files of a few bytes, and others."""
    root = FOLDER / "hub-v3"
    if not root.exists():
        beside = FOLDER / f"hub-v3-{os.getpid()}"
        _write_parquet(beside / "acme" / "speed" / "data", FILES)
        _write_parquet(beside / "acme" / "small" / "data", 1)
        _write_wide(beside / "acme" / "wide" / "data")
        many = beside / "acme" / "many" / "data"
        many.mkdir(parents=True)
        for number in range(MANY):
            (many / f"train-{number:05d}-of-{MANY}.txt").write_text(f"{number}\n")
        beside.rename(root)
    return str(root)


def _write_parquet(folder: Path, files: int) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    chance = np.random.default_rng(1)
    for number in range(files):
        letters = chance.integers(33, 127, ROWS_OF_A_FILE * 500, dtype=np.uint8).tobytes().decode("ascii")
        texts = [letters[start : start + 500] for start in range(0, len(letters), 500)]
        table = pa.table({"id": range(number * ROWS_OF_A_FILE, (number + 1) * ROWS_OF_A_FILE), "text": texts})
        pq.write_table(table, folder / f"train-{number:05d}-of-{files:05d}.parquet", row_group_size=2_000)


def _write_wide(folder: Path) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    columns = {f"c{number}": np.random.default_rng(number).random(200_000) for number in range(WIDTH)}
    pq.write_table(pa.table(columns), folder / "train.parquet", row_group_size=20_000)


@cache
def hub() -> str:
    """The URL of the local Hub, which ends with this process."""
    server = subprocess.Popen([sys.executable, "-c", SERVER, written()], stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    assert server.stdout is not None
    endpoint = server.stdout.readline().strip()
    for name in ("speed", "many"):  # so that neither side waits until the server has indexed its files
        with urllib.request.urlopen(f"{endpoint}/api/datasets/acme/{name}/tree/main?recursive=true") as answer:
            answer.read()
    os.environ |= {"HF_ENDPOINT": endpoint, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
    return endpoint


def online(source: str) -> Setup:
    """The setup of a timed program that uses the Hub."""

    def setup(module: Any, path: Path) -> State:
        hub()
        return State(module, None, source.format(module=module))

    return setup


def load(name: str, setup: Setup, bar: float) -> None:
    """Register a load."""

    @case(name, setup=setup, imports=False, anyway=bar)
    def run(state: State) -> str:
        return printed(state.given)


def imported(module: Any, path: Path) -> State:
    """The library, which has loaded another dataset of the Hub before."""
    hub()
    library = importlib.import_module(module)
    library.load_dataset("acme/small", split="train")[0]
    return State(library, None)


@case("Hub, cold, call to first row", setup=imported, imports=False, anyway=10)
def called(state: State) -> object:
    """The call alone, with an empty cache."""
    return state.module.load_dataset("acme/speed", split="train")[0]


@case("Hub, one of 20 columns", setup=imported, imports=False, anyway=1)
def one_column(state: State) -> object:
    """A column of a wide file. It may not cost more than a tenth of the file's bytes here."""
    before = received()
    column = state.module.load_dataset("acme/wide", split="train", columns=["c3"])["c3"][:]
    share = (received() - before) / (FOLDER / "hub-v3/acme/wide/data/train.parquet").stat().st_size
    if state.module.__name__ == "crucible_datasets" and share > 0.1:
        raise RuntimeError(f"one of {WIDTH} columns took {share:.0%} of the bytes")
    return sum(column)


def received() -> int:
    """Bytes that this machine has sent to itself; 0 where the system does not count them."""
    counters = Path("/proc/net/dev")
    lines = counters.read_text().splitlines() if counters.exists() else []
    return next((int(line.split(":")[1].split()[0]) for line in lines if line.strip().startswith("lo:")), 0)


@case("Hub, cold, first row seen", setup=online(LOADED + SHOWN), imports=False, anyway=5)
def seen(state: State) -> str:
    """The first row as the program sees it: files that come in the background are not waited for."""
    with subprocess.Popen([sys.executable, "-c", state.given], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        line = program.stdout.readline()
        program.kill()
    return line


load("Hub, cold, first row", online(LOADED + FIRST_ROW), 2.5)
load("Hub, cold, every byte", online(LOADED + EVERY_BYTE), 1.5)
load("Hub, cached, first row", warm(online(LOADED + FIRST_ROW)), 3)
load("Hub, list 20,000 files", online(LISTED), 2)
