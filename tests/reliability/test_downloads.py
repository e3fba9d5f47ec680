"""Downloads that are killed, cut, delayed, swapped or raced: right bytes or a typed error, and nothing asked for twice."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.faulty_hub import faulty_hub

HERE = Path(__file__).parent
LARGE = 6 << 20
MIB = 1 << 20
KILLS = [pytest.param(1, 10), *(pytest.param(seed, 50, marks=pytest.mark.slow) for seed in (2, 3, 4, 5))]
LOAD = "import crucible_datasets as cd; rows = cd.load_dataset('acme/table', split='train'); assert sum(rows['n']) == 4950; "


@pytest.fixture
def hub(tmp_path):
    plain, table = tmp_path / "hub" / "acme" / "plain", tmp_path / "hub" / "acme" / "table"
    (plain / "data").mkdir(parents=True)
    (plain / "README.md").write_text("---\nlicense: mit\n---\n")
    (plain / "small.csv").write_bytes(b"a,b\n1,2\n" * 100)
    (plain / "data" / "large.parquet").write_bytes(random.Random(1).randbytes(LARGE))
    (plain / "data" / "other.parquet").write_bytes(random.Random(2).randbytes(MIB))
    table.mkdir()
    for part in range(2):
        numbers = range(50 * part, 50 * part + 50)
        pq.write_table(
            pa.table({"n": list(numbers), "text": [f"row {n}" * 50 for n in numbers]}), table / f"{part}.parquet"
        )
    with faulty_hub(str(tmp_path / "hub")) as hub:
        yield hub


@pytest.fixture
def surroundings(hub, tmp_path):
    """The variables of a process that has a home of its own and knows this Hub."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return {**known, "HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": hub.endpoint, "DATASETS_VERBOSITY": "error"}


def run(program, *arguments, **how):
    """What a program prints."""
    command = [*how.pop("before", []), sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def transfers(hub):
    return [path for method, path in hub.asked if method == "GET" and "/contents/" in path]


@pytest.mark.parametrize(("seed", "kills"), KILLS)
def test_a_killed_download_leaves_right_files_or_none(hub, program, seed, kills):
    report = program("download_kills.py", hub.endpoint, seed, kills)
    assert report["found"].get("wrong", 0) == 0 and report["found"].get("unreadable", 0) == 0
    assert report["found"]["killed"] > kills / 4
    assert (report["at_last"], report["litter"]) == ("whole", [])


SHARES = [10, 50, 90, *(pytest.param(share, marks=pytest.mark.slow) for share in (20, 30, 40, 60, 70, 80))]


@pytest.mark.parametrize("share", SHARES)
def test_after_a_kill_only_the_rest_is_fetched(hub, surroundings, tmp_path, share):
    fetch = "from crucible_datasets.sources.hub import HubRepo; HubRepo('acme/plain').fetched(['data/large.parquet'])"
    reached = LARGE * share // 100
    hub.plan.append(("/contents/", f"halt {reached}"))
    process = subprocess.Popen([sys.executable, "-c", fetch], env=surroundings)
    blobs = tmp_path / "home" / "hub" / "datasets--acme--plain" / "blobs"
    while hub.plan or not any(path.stat().st_size >= reached - MIB // 2 for path in blobs.glob("*.partial")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert [path.name for path in blobs.iterdir() if "~" not in path.name] == []
    hub.sent, hub.asked = 0, []
    run(fetch, env=surroundings)
    assert hub.sent <= LARGE - reached + MIB
    (blob,) = blobs.iterdir()
    assert blob.read_bytes() == random.Random(1).randbytes(LARGE)


ROUNDS = [(1, 1, 4), *(pytest.param(seed, 5, 8, marks=pytest.mark.slow) for seed in (2, 3, 4, 5))]


@pytest.mark.parametrize(("seed", "rounds", "number"), ROUNDS)
def test_many_processes_make_one_transfer(hub, surroundings, tmp_path, seed, rounds, number):
    chance = random.Random(seed)
    for _ in range(rounds):
        shutil.rmtree(tmp_path / "home", ignore_errors=True)
        hub.asked = []
        programs = [f"import time; time.sleep({chance.random() / 5}); {LOAD}" for _ in range(number)]
        processes = [subprocess.Popen([sys.executable, "-c", each], env=surroundings) for each in programs]
        assert [process.wait(120) for process in processes] == [0] * number
        assert len(transfers(hub)) == 2


@pytest.mark.slow
def test_a_forced_refresh_disturbs_nobody(hub, surroundings):
    refresh = LOAD.replace("split=", "download_mode='force_redownload', split=")
    for _ in range(5):
        programs = [LOAD, refresh] * 4
        processes = [subprocess.Popen([sys.executable, "-c", each], env=surroundings) for each in programs]
        assert [process.wait(120) for process in processes] == [0] * 8


@pytest.fixture(scope="module")
def locks(tmp_path_factory):
    """A library that makes file locks lie, fail or hang."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("locks are made to fail with a C library, which needs Linux and cc")
    library = tmp_path_factory.mktemp("shim") / "locks.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, HERE / "locks.c", "-ldl"], check=True)
    return str(library)


@pytest.mark.parametrize(
    "how", ["hang", *(pytest.param(how, marks=pytest.mark.slow) for how in ("lie", "ENOLCK", "EIO"))]
)
def test_locks_that_lie_fail_or_hang_do_not_matter(hub, surroundings, locks, how):
    broken = {**surroundings, "LD_PRELOAD": locks, "LOCKS": how}
    processes = [subprocess.Popen([sys.executable, "-c", LOAD], env=broken) for _ in range(2)]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert len(transfers(hub)) == 2


def test_the_locks_of_that_library_are_broken(locks, tmp_path):
    program = "import fcntl, sys; fcntl.flock(open(sys.argv[1], 'w'), fcntl.LOCK_EX)"
    with pytest.raises(AssertionError, match="No locks available"):
        run(program, tmp_path / "file", env={**os.environ, "LD_PRELOAD": locks, "LOCKS": "ENOLCK"})


@pytest.mark.parametrize(("seed", "kills"), [(1, 3), pytest.param(2, 50, marks=pytest.mark.slow)])
def test_a_dead_process_holds_up_nobody(hub, program, seed, kills):
    hub.plan = [("/contents/", "halt 1000"), ("/contents/", "fine")] * kills
    report = program("dead_holder.py", hub.endpoint, seed, kills)
    assert len(report["seconds"]) == kills
    assert max(report["seconds"]) <= 1


COUNTED = """
import sys
calls = []
sys.addaudithook(lambda event, facts: calls.append((event, str(facts))) if event.startswith("socket.") else None)
"""
NO_CALLS = "assert calls == [], calls"
# A socket that is made and connected nowhere asks nobody; pandas, asyncio and ssl make none at import.


def test_offline_what_is_cached_loads_without_a_socket(hub, surroundings):
    run(LOAD, env=surroundings)
    offline = {**surroundings, "HF_HUB_OFFLINE": "1"}
    run(COUNTED + LOAD + NO_CALLS, env=offline)
    missing = "import crucible_datasets as cd\ntry: cd.load_dataset('acme/plain')\nexcept cd.exceptions.OfflineError as error: print(error)\n"
    assert "acme/plain" in run(COUNTED + missing + NO_CALLS, env=offline)


def test_a_pinned_revision_that_is_cached_loads_without_a_socket(hub, surroundings):
    revision = hub.server.hub.repo("acme/table").find("main").id
    pinned = LOAD.replace("split=", f"revision={revision!r}, split=")
    run(pinned, env=surroundings)
    hub.asked = []
    run(COUNTED + pinned + NO_CALLS, env=surroundings)
    assert hub.asked == []


def test_in_a_namespace_without_a_network_what_is_cached_loads(hub, surroundings):
    empty = ["unshare", "-rn"]
    if shutil.which("unshare") is None or subprocess.run([*empty, "true"], capture_output=True).returncode:
        pytest.skip("an empty network namespace is not permitted here")
    run(LOAD, env=surroundings)
    run(LOAD, env={**surroundings, "HF_HUB_OFFLINE": "1"}, before=empty)


@pytest.mark.slow
def test_without_a_network_what_was_seen_last_will_do(hub, surroundings):
    run(LOAD, env=surroundings)
    run(LOAD, env={**surroundings, "HF_ENDPOINT": "http://127.0.0.1:9"})
