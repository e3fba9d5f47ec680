"""Large Parquet of a Hub is read while it comes: the rows are right from the first on, and all files come in the end."""

from __future__ import annotations

import errno
import os
import pickle
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import crucible_datasets as cd
from crucible_datasets import config
from crucible_datasets.exceptions import DatasetsError, FileFormatError, OfflineError, StorageError
from crucible_datasets.localhub import server as module
from crucible_datasets.localhub.server import serving
from crucible_datasets.reading.kept_footers import keep_footers
from crucible_datasets.tables.parquet import ParquetTable

pytestmark = pytest.mark.filterwarnings(
    "ignore:Use 'content=:DeprecationWarning", "ignore:.*fork.*:DeprecationWarning", "ignore:.*fork.*:RuntimeWarning"
)

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


def downloaded(tmp_path):
    """The numbers of the files that have been downloaded, once all downloads are done."""
    for thread in threading.enumerate():
        if thread.name == "crucible-download":
            thread.join()
    return sorted(int(path.stem[-1]) for path in (tmp_path / "cache").rglob("snapshots/*/train-*.parquet"))


SLICES = {
    "train[:10]": [0],
    "train[:1%]": [0],
    f"train[{ROWS}:{ROWS + 1}]": [1],
    f"train[{ROWS - 1}:{2 * ROWS + 1}]": [0, 1, 2],
    "train[-5:]": [5],
    "train[:5]+train[-5:]": [0, 5],
    "train[50%:]": [3, 4, 5],
    "train": [0, 1, 2, 3, 4, 5],
}


@pytest.mark.parametrize("spec", SLICES)
def test_a_slice_downloads_the_files_that_hold_its_rows(hub, tmp_path, monkeypatch, spec):
    rows = cd.load_dataset("acme/large", split=spec)
    assert downloaded(tmp_path) == SLICES[spec]
    expected = cd.Dataset.from_dict({"n": list(range(FILES * ROWS))})
    wanted = cd.splits.pieces_of(spec, {"train": len(expected)})
    assert rows["n"][:] == [n for piece in wanted for n in range(piece.start, piece.stop)]
    assert pickle.loads(pickle.dumps(rows))["n"][:] == rows["n"][:]
    assert downloaded(tmp_path) == SLICES[spec]

    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    hub.shutdown()
    again = cd.load_dataset("acme/large", split=spec)
    assert again["n"][:] == rows["n"][:]
    assert again._fingerprint == rows._fingerprint


def test_a_slice_of_a_pinned_revision_is_found_without_a_request(hub, tmp_path, monkeypatch):
    first = cd.load_dataset("acme/large", split="train[:10]")
    commit = cd.load_dataset_builder("acme/large").revision
    assert downloaded(tmp_path) == [0]
    asked, answer = [], module.answer
    monkeypatch.setattr(module, "answer", lambda request: asked.append(request.path) or answer(request))
    assert cd.load_dataset("acme/large", split="train[:10]", revision=commit)[:] == first[:]
    assert asked == []


def test_a_slice_keeps_its_identity_when_all_files_have_come(hub, tmp_path):
    sliced = cd.load_dataset("acme/large", split="train[:60]")
    whole = cd.load_dataset("acme/large", split="train")
    assert downloaded(tmp_path) == list(range(FILES))
    assert whole["n"][:] == list(range(FILES * ROWS))
    again = cd.load_dataset("acme/large", split="train[:60]")
    assert again._fingerprint == sliced._fingerprint and again[:] == sliced[:]


def test_a_slice_whose_files_are_not_all_here_needs_the_network(hub, tmp_path, monkeypatch):
    cd.load_dataset("acme/large", split="train[:10]")
    assert downloaded(tmp_path) == [0]
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    for spec in ("train[-1:]", "train"):
        with pytest.raises(OfflineError, match=r"train-\d.parquet of acme/large"):
            cd.load_dataset("acme/large", split=spec)


def test_only_footers_of_files_that_are_not_here_are_kept(hub, tmp_path):
    cd.load_dataset("acme/large", split="train[:10]")
    assert downloaded(tmp_path) == [0]
    shutil.rmtree(tmp_path / "datasets" / "hub" / "footers")
    assert cd.load_dataset("acme/large", split="train[-1:]")["n"][:] == [FILES * ROWS - 1]
    kept = os.listdir(tmp_path / "datasets" / "hub" / "footers")
    assert len(kept) == FILES - 1 and all(len(name) >= 40 for name in kept)  # hashes


def test_a_damaged_footer_is_read_again(hub, tmp_path):
    rows = cd.load_dataset("acme/large", split="train[:10]")[:]
    for footer in (tmp_path / "datasets" / "hub" / "footers").iterdir():
        footer.write_bytes(footer.read_bytes()[:-30])
    assert cd.load_dataset("acme/large", split="train[:10]")[:] == rows


def test_a_footer_that_lies_about_the_rows_is_read_again(hub, tmp_path, monkeypatch):
    rows = cd.load_dataset("acme/large", split="train[-10:]")[:]
    footers = [path for path in (tmp_path / "datasets" / "hub" / "footers").iterdir() if path.suffix == ""]
    assert len(footers) == FILES
    for footer in footers:  # every byte that holds the number of rows, and some others
        content = footer.read_bytes()
        footer.write_bytes(content.replace(bytes([2 * ROWS]), bytes([2 * ROWS - 2])))
        assert footer.read_bytes() != content
    assert cd.load_dataset("acme/large", split="train[-10:]")[:] == rows
    monkeypatch.setattr(config, "HF_HUB_OFFLINE", True)
    assert cd.load_dataset("acme/large", split="train[-10:]")[:] == rows  # kept anew


def test_no_footers_are_kept_of_files_that_are_here(hub, tmp_path):
    assert cd.load_dataset("acme/large", split="train[:10]")[0]["n"] == 0  # so its file is here
    footers = tmp_path / "datasets" / "hub" / "footers"
    before = sorted(footers.iterdir())
    keep_footers(ParquetTable.open([str(path) for path in (tmp_path / "cache").rglob("*.parquet")]).source.parts)
    assert sorted(footers.iterdir()) == before


def test_a_slice_in_memory_downloads_the_files_that_hold_its_rows(hub, tmp_path):
    rows = cd.load_dataset("acme/large", split="train[60:70]", keep_in_memory=True)
    assert downloaded(tmp_path) == [1]
    assert (rows["n"][:], rows.cache_files) == (list(range(60, 70)), [])
    both = cd.load_dataset("acme/large", split=["train[:5]", "train"], keep_in_memory=True)
    assert [part["n"][:] for part in both] == [list(range(5)), list(range(FILES * ROWS))]
    assert cd.load_dataset("acme/large", keep_in_memory=True)["train"].cache_files == []


PROGRAM = """
import crucible_datasets as cd
print(cd.load_dataset("acme/large", split="train")[0]["n"])
"""


def around(served, tmp_path):
    known = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    surroundings = {**known, "HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": served.endpoint}
    return {"env": {**surroundings, "CRUCIBLE_BACKGROUND_DOWNLOADS": "1"}, "capture_output": True, "text": True}


def sum_offline(surroundings):
    """What a program without the network says of all rows."""
    offline = "import crucible_datasets as cd; print(sum(cd.load_dataset('acme/large', split='train')['n']))"
    how = {**surroundings, "env": {**surroundings["env"], "HF_HUB_OFFLINE": "1"}}
    return subprocess.run([sys.executable, "-c", offline], timeout=60, check=False, **how).stdout


@pytest.mark.parametrize("ending", ["", "import sys; sys.exit(0)", "raise ValueError('mine')"])
def test_a_program_that_ends_well_leaves_everything_and_one_that_fails_ends_at_once(served, tmp_path, ending):
    surroundings = around(served, tmp_path)
    ran = subprocess.run([sys.executable, "-c", PROGRAM + ending], timeout=60, check=False, **surroundings)
    assert ran.stdout == "0\n"
    assert ran.returncode == (1 if "raise" in ending else 0), ran.stderr
    if ran.returncode == 0:
        assert sum_offline(surroundings) == f"{sum(range(FILES * ROWS))}\n"


NO_NEW_THREADS = """
import threading
start = threading.Thread.start
def strict(self):
    if not threading.main_thread().is_alive():
        raise RuntimeError("can't create new thread at interpreter shutdown")
    start(self)
threading.Thread.start = strict
"""


def test_files_come_also_where_a_program_that_ends_may_start_no_threads(served, tmp_path):
    """As since Python 3.12."""
    surroundings = around(served, tmp_path)
    ran = subprocess.run([sys.executable, "-c", NO_NEW_THREADS + PROGRAM], timeout=60, check=False, **surroundings)
    assert (ran.stdout, ran.returncode, ran.stderr) == ("0\n", 0, "")
    assert sum_offline(surroundings) == f"{sum(range(FILES * ROWS))}\n"


def test_a_program_that_fails_gives_up_a_file_in_the_middle_of_it(served, tmp_path, monkeypatch):
    """What came of the file stays, and is gone on from."""
    copy = module._copy

    def slowly(file, to, length):
        pause = 0.05 if file.tell() == 0 else 0  # only whole files begin at their first byte
        for start in range(0, length, 200):
            copy(file, to, min(200, length - start))
            to.flush()
            time.sleep(pause)

    monkeypatch.setattr(module, "_copy", slowly)
    surroundings = around(served, tmp_path)
    program = PROGRAM.replace('[0]["n"]', ".num_rows") + "raise ValueError('mine')"
    ran = subprocess.run([sys.executable, "-c", program], timeout=60, check=False, **surroundings)
    assert ran.returncode == 1 and "mine" in ran.stderr
    suffixes = [path.suffix for path in (tmp_path / "home").rglob("blobs/*")]
    assert ".partial" in suffixes
    assert suffixes.count("") <= 1  # the first one, which comes while the footers do


def test_a_process_that_was_forked_while_all_were_busy_loads_on_its_own(hub, gate):
    rows = cd.load_dataset("acme/large", split="train")
    from crucible_datasets.reading import background_downloads

    held = [background_downloads._at_once.acquire(timeout=0.1) for _ in range(background_downloads._WORKERS)]
    child = os.fork()
    if child == 0:
        os._exit(0 if background_downloads._at_once.acquire(timeout=5) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for was_held in held:
        if was_held:
            background_downloads._at_once.release()
    gate.set()
    assert len(rows) == FILES * ROWS


def test_an_error_of_any_kind_leaves_no_one_waiting(tmp_path):
    from crucible_datasets.reading.background_downloads import BackgroundDownloads

    paths = [str(tmp_path / f"{number}") for number in range(20)]
    failed = []

    def download(path, advance):
        if path not in failed and paths.index(path) % 3 == 0:
            failed.append(path)
            raise [RuntimeError, KeyError, OSError][paths.index(path) % 9 // 3](path)
        with open(path, "w") as file:
            file.write("x")
        advance(1)

    downloads = BackgroundDownloads(download, dict.fromkeys(paths, 1), "test")
    downloads.start_first()
    downloads.start(paths[:12])  # the others are downloaded by who waits for them
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda path: _wait_twice(downloads, path), paths[::-1]))
    assert all(os.path.exists(path) for path in paths)


def test_where_no_thread_can_be_started_files_come_when_they_are_read(hub, monkeypatch):
    start = threading.Thread.start

    def refuse(thread):
        if thread.name == "crucible-download":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    rows = cd.load_dataset("acme/large", split="train")
    assert rows["n"][:] == list(range(FILES * ROWS))


def test_when_a_footer_cannot_be_read_only_the_first_file_comes(hub, tmp_path):
    (tmp_path / "hub" / "acme" / "large" / "train-3.parquet").write_bytes(b"no Parquet" * 100)
    with pytest.raises(FileFormatError, match=r"train-3\.parquet"):
        cd.load_dataset("acme/large", split="train")
    assert downloaded(tmp_path) in ([], [0])


def test_a_full_disk_is_told_once_and_to_whoever_needs_the_rest(tmp_path, caplog):
    from crucible_datasets.reading.background_downloads import BackgroundDownloads

    def download(path, advance):
        raise StorageError(path, errno.ENOSPC)

    paths = [str(tmp_path / f"{number}") for number in range(20)]
    downloads = BackgroundDownloads(download, dict.fromkeys(paths, 1), "test")
    downloads.start_first()
    downloads.start(paths)
    for path in paths:
        with pytest.raises(StorageError, match="space"):
            downloads.wait(path)
    # Those that were on their way at that moment are told too.
    assert len(caplog.records) <= 8


def _wait_twice(downloads, path):
    """Who fetches a file itself gets its error, and may ask again."""
    try:
        downloads.wait(path)
    except (RuntimeError, KeyError, OSError):
        downloads.wait(path)
