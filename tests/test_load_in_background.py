"""Large Parquet of a Hub is read while it comes: the rows are right from the first on, and all files come in the end."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crucible_datasets as cd
from crucible_datasets import config
from crucible_datasets.exceptions import DatasetsError
from crucible_datasets.localhub import server as module
from crucible_datasets.localhub.server import serving

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

FILES, ROWS = 6, 50


def numbers(file):
    return list(range(file * ROWS, (file + 1) * ROWS))


@pytest.fixture
def served(tmp_path):
    folder = tmp_path / "hub" / "acme" / "large"
    folder.mkdir(parents=True)
    for file in range(FILES):
        table = pa.table({"n": numbers(file), "text": [f"row {n} " * 40 for n in numbers(file)]})
        pq.write_table(table, folder / f"train-{file}.parquet", row_group_size=20)
    with serving(str(tmp_path / "hub")) as server:
        yield server


@pytest.fixture
def hub(served, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(config, "HF_ENDPOINT", served.endpoint)
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.setattr(config, "CRUCIBLE_BACKGROUND_DOWNLOADS", 1)
    yield served
    for thread in threading.enumerate():
        if thread.name == "crucible-download":
            thread.join()


@pytest.fixture
def gate(monkeypatch):
    """Lets whole files pass only when it is open; parts of files always pass."""
    opened, answer = threading.Event(), module.answer

    def waiting(request):
        if request.path.endswith(".parquet") and "Range" not in request.headers and request.method == "GET":
            assert opened.wait(20)
        return answer(request)

    monkeypatch.setattr(module, "answer", waiting)
    return opened


def files_of(dataset):
    return [file["filename"] for file in dataset.cache_files]


def test_what_is_known_of_the_rows_is_known_before_they_are_here(hub, gate):
    rows = cd.load_dataset("acme/large", split="train")
    try:
        assert len(rows) == FILES * ROWS
        assert rows.column_names == ["n", "text"]
        assert not any(os.path.exists(path) for path in files_of(rows))
    finally:
        gate.set()
    assert rows["n"][:] == list(range(FILES * ROWS))
    assert all(os.path.exists(path) for path in files_of(rows))


def test_any_row_can_be_read_from_any_thread_at_any_time(hub):
    rows = cd.load_dataset("acme/large", split="train").shuffle(seed=3)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda place: rows[place]["n"], range(len(rows))))
    assert sorted(found) == list(range(FILES * ROWS))


def test_the_identity_is_the_same_as_when_all_files_are_here(hub, monkeypatch):
    rows = cd.load_dataset("acme/large", split="train")
    before = rows._fingerprint
    made = rows.map(lambda row: {"m": row["n"] + 1})
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    again = cd.load_dataset("acme/large", split="train")
    assert again._fingerprint == before
    assert again.map(lambda row: {"m": row["n"] + 1}).cache_files == made.cache_files


def test_a_copy_is_made_of_whole_files(hub):
    rows = pickle.loads(pickle.dumps(cd.load_dataset("acme/large", split="train")))
    assert all(os.path.exists(path) for path in files_of(rows))
    assert sum(rows["n"]) == sum(range(FILES * ROWS))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_and_forked_processes_read_it(hub):
    rows = cd.load_dataset("acme/large", split="train")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, str(sum(rows["n"])).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert int(os.read(reading, 20)) == sum(range(FILES * ROWS))
    assert rows.map(lambda row: {"m": -row["n"]}, num_proc=2)["m"][:3] == [0, -1, -2]


def test_a_file_with_other_bytes_is_an_error_for_its_rows_only(hub, served, monkeypatch, caplog):
    answer = module.answer

    def swapping(request):
        given = answer(request)
        if request.path.endswith("train-4.parquet") and "Range" not in request.headers and request.method == "GET":
            return answer_with(given)
        return given

    def answer_with(given):
        path = os.path.join(served.hub.root, "acme", "large", "train-4.parquet")
        with open(path, "rb") as file:
            body = file.read()
        with open(path, "wb") as file:
            file.write(body[:200] + bytes([body[200] ^ 1]) + body[201:])
        return given

    monkeypatch.setattr(module, "answer", swapping)
    rows = cd.load_dataset("acme/large", split="train")
    assert rows[0]["n"] == 0
    with pytest.raises(DatasetsError):
        rows[4 * ROWS]


PROGRAM = """
import crucible_datasets as cd
print(cd.load_dataset("acme/large", split="train")[0]["n"])
"""


@pytest.mark.parametrize("ending", ["", "import sys; sys.exit(0)", "raise ValueError('mine')"])
def test_a_program_that_ends_well_leaves_everything_and_one_that_fails_ends_at_once(served, tmp_path, ending):
    known = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    surroundings = {**known, "HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": served.endpoint}
    how = {"env": {**surroundings, "CRUCIBLE_BACKGROUND_DOWNLOADS": "1"}, "capture_output": True, "text": True}
    ran = subprocess.run([sys.executable, "-c", PROGRAM + ending], timeout=60, check=False, **how)
    assert ran.stdout == "0\n"
    assert ran.returncode == (1 if "raise" in ending else 0), ran.stderr
    if ran.returncode == 0:
        how["env"]["HF_HUB_OFFLINE"] = "1"
        offline = "import crucible_datasets as cd; print(sum(cd.load_dataset('acme/large', split='train')['n']))"
        again = subprocess.run([sys.executable, "-c", offline], timeout=60, check=False, **how)
        assert again.stdout == f"{sum(range(FILES * ROWS))}\n", again.stderr
