"""Worker processes: where they can be started from, what they see of the program, and how they end."""

import gc
import logging
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from crucible_datasets import config
from crucible_datasets import logging as own_logging
from crucible_datasets.exceptions import WorkerDiedError
from crucible_datasets.executors import forkserver, processes
from crucible_datasets.executors.base import EXECUTORS, Task
from crucible_datasets.executors.pickling import TaskPickler

STARTS = ["fork", "spawn"] if forkserver.START == "fork" else ["spawn"]


@pytest.fixture(params=STARTS, scope="module")  # one after the other: a forkserver is of use for one way only
def start(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forkserver, "START", request.param)
        yield request.param


def run(function, count=1, workers=2, advance=lambda rows: None):
    """The results of `function(number)` in worker processes."""
    tasks = [
        Task(lambda rank, advance, number=number: function(number), range(number * 10, number * 10 + 10), "f")
        for number in range(count)
    ]
    return list(processes.run(tasks, workers, advance))


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the second if it ends while it is looked at
        return False


def wait_until(true, seconds=20):
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    return true()


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")

# Where they can be started from

PROGRAM = """
from crucible_datasets.executors import processes
from crucible_datasets.executors.base import Task

class Thing:
    def __init__(self, n): self.n = n

def work(rank, advance):
    return Thing(rank)

def go():
    found = list(processes.run([Task(work, range(1))] * 3, 2, lambda n: None))
    assert [type(thing) is Thing for thing in found] == [True] * 3
    assert [thing.n for thing in found] == [0, 1, 2]
    print("done")

print("begun")
"""
CALLS = {
    "plain": "go()",
    "twice": "go(); go()",
    "thread": "import threading; t = threading.Thread(target=go); t.start(); t.join()",
    "daemonic": """
import multiprocessing
p = multiprocessing.get_context("fork").Process(target=go, daemon=True); p.start(); p.join(); assert p.exitcode == 0
""",
    "forked after use": """
import os
go()
pid = os.fork()
if pid == 0:
    go(); import sys; sys.stdout.flush(); os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
go()
""",
    "threads running": """
import threading, numpy as np, pyarrow as pa, pyarrow.compute as pc
stop = threading.Event()
def busy():
    while not stop.is_set():
        pc.sort_indices(pa.array(np.random.default_rng().random(10000))); np.ones((300, 300)) @ np.ones((300, 300))
threads = [threading.Thread(target=busy) for _ in range(4)]
for t in threads: t.start()
go(); stop.set()
for t in threads: t.join()
""",
}


# Each way to call them in a script, and each way to run a program with two calls.
PROGRAMS = [(call, "script") for call in CALLS] + [("twice", how) for how in ("-c", "stdin", "-m")]


@pytest.mark.parametrize(("call", "how"), PROGRAMS)
def test_no_guard_is_needed(call, how, tmp_path):
    code = PROGRAM + CALLS[call]
    (tmp_path / "program.py").write_text(code)
    words = {"script": ["program.py"], "-c": ["-c", code], "stdin": ["-"], "-m": ["-m", "program"]}[how]
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", *words],
        input=code if how == "stdin" else None,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.count("begun") == 1
    assert "done" in done.stdout


def test_modules_may_start_them_while_they_are_imported(tmp_path):
    (tmp_path / "whole.py").write_text(PROGRAM + "go()")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("from package.part import go\ngo()")
    (tmp_path / "package" / "part.py").write_text(PROGRAM + "go()")
    code = "import whole, package; whole.go(); package.go(); print('end')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.endswith("end\n")
    assert done.stderr == ""


# What they see of the program


def test_they_see_the_program_as_it_is_now(start, tmp_path, monkeypatch):
    (tmp_path / "fresh_module.py").write_text("value = 1")
    for value in ("one", "two"):
        monkeypatch.setenv("SEEN_BY_WORKERS", value)
        assert run(lambda _: os.environ["SEEN_BY_WORKERS"]) == [value]
    monkeypatch.chdir(tmp_path)
    assert run(lambda _: os.getcwd()) == [str(tmp_path)]
    monkeypatch.syspath_prepend(tmp_path)
    assert run(lambda _: __import__("fresh_module").value) == [1]
    (tmp_path / "fresh_module.py").write_text("value = 'edited'")
    assert run(lambda _: __import__("fresh_module").value) == ["edited"]
    monkeypatch.setattr(config, "MAX_CARD_VALUES", 17)
    assert run(lambda _: config.MAX_CARD_VALUES) == [17]


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_network_is_forbidden_to_them_as_to_the_program(start, monkeypatch, when):
    """Said by a variable while the program runs, before or after the server of workers has started."""
    for value in ("1", "0", "1"):
        monkeypatch.setenv("HF_HUB_OFFLINE", value)
        if when == "before":
            monkeypatch.setattr(forkserver, "_current", None)
        assert run(lambda _: config.is_offline()) == [config.is_offline()] == [value == "1"]


def test_the_stronger_variable_forbids_the_network_whatever_becomes_of_the_other(monkeypatch):
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    monkeypatch.setattr(config, "_OFFLINE_VARIABLES", config.offline_variables())
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert config.is_offline()


def test_they_share_nothing_with_the_next_call(start):
    def mark(_):
        before = getattr(os, "marked", None)
        os.marked = True
        return before, os.getpid()

    seen = run(mark) + run(mark) + run(mark)
    assert [before for before, _ in seen] == [None] * 3
    assert len({pid for _, pid in seen}) == 3


def test_they_draw_different_random_numbers(start):
    def draw(_):
        time.sleep(0.05)
        return os.getpid(), random.random(), np.random.random()

    drawn = {pid: numbers for pid, *numbers in run(draw, 3, 3) + run(draw, 2, 2)}
    assert len({number for numbers in drawn.values() for number in numbers}) == 2 * len(drawn)


def test_they_warn_and_log_like_the_program(start):
    def settings(_):
        with warnings.catch_warnings(record=True) as caught:
            warnings.warn("quiet", UserWarning, stacklevel=1)
        return len(caught), logging.getLogger("someone").level, own_logging.get_verbosity()

    before = own_logging.get_verbosity()
    try:
        own_logging.set_verbosity_debug()
        logging.getLogger("someone").setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert run(settings) == [(0, logging.ERROR, logging.DEBUG)]
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            assert run(settings) == [(1, logging.ERROR, logging.DEBUG)]
    finally:
        own_logging.set_verbosity(before)
        logging.getLogger("someone").setLevel(logging.NOTSET)


def test_what_they_print_and_log_appears_and_they_read_nothing(tmp_path):
    program = """
    import logging, sys
    from crucible_datasets.executors import processes
    from crucible_datasets.executors.base import Task
    from crucible_datasets import progress
    logging.basicConfig(level=logging.INFO, format="<%(message)s>")
    def work(rank, advance):
        sys.stdout.write(f"printed {rank}\\n")
        logging.info("logged %d", rank)
        return sys.stdin.read(), progress.are_progress_bars_disabled()
    assert list(processes.run([Task(work, range(1))] * 2, 2, print)) == [("", True)] * 2
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        input="not for them",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, sorted(done.stdout.split("\n"))) == (0, ["", "printed 0", "printed 1"]), done.stderr
    assert sorted(done.stderr.split("\n")) == ["", "<logged 0>", "<logged 1>"]


def test_progress_is_told_now_and_then(start):
    told = []

    def work(rank, advance):
        for _ in range(10_000):
            advance(1)

    list(processes.run([Task(work, range(10_000))], 1, told.append))
    assert sum(told) == 10_000
    assert len(told) < 100


def test_large_data_is_written_once(start):
    import pyarrow as pa

    table, array = pa.table({"n": np.arange(100_000)}), np.arange(100_000)
    with TaskPickler() as pickler:
        packed = [pickler.packed(rank, Task(lambda rank, advance: (table, array), range(1), "f")) for rank in range(5)]
        assert os.fstat(pickler.shared).st_size < 2 * 8 * 100_000 + 1000
        assert max(map(len, packed)) < 10_000


# How they end

ENDS = {
    "SIGKILL": (lambda: os.kill(os.getpid(), signal.SIGKILL), -9, "killed by SIGKILL"),
    "SIGSEGV": (lambda: os.kill(os.getpid(), signal.SIGSEGV), -11, "crashed with SIGSEGV"),
    "os._exit": (lambda: os._exit(7), 7, "exit code 7"),
    "os._exit(0)": (lambda: os._exit(0), 0, "exit code 0"),
}


def test_a_death_is_told_with_its_rows(start, tmp_path):
    for name, (die, code, words) in ENDS.items():

        def work(number, die=die):
            (tmp_path / str(os.getpid())).touch()
            if number == 1:
                die()
            time.sleep(60)

        with pytest.raises(WorkerDiedError) as found:
            run(work, 2, 2)
        assert (found.value.rows, found.value.exit_code, found.value.function) == (range(10, 20), code, "f"), name
        assert words in str(found.value)
        assert "rows 10 to 19" in str(found.value)
        assert not any(is_alive(file.name) for file in tmp_path.iterdir()), name
    assert run(lambda number: number, 2) == [0, 1]


def test_a_worker_whose_child_lives_on_is_dead_all_the_same(start, tmp_path):
    def work(_):
        pid = os.fork()
        if pid == 0:
            time.sleep(30)
            os._exit(0)
        (tmp_path / "child").write_text(str(pid))
        os._exit(1)

    with pytest.raises(WorkerDiedError, match="exit code 1"):
        run(work)
    os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


def test_one_that_dies_in_the_middle_of_its_answer_is_dead(start):
    def work(_):
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
        return bytes(50_000_000)

    tasks = [Task(lambda rank, advance: work(rank), range(1), "f")] * 2
    results = processes.run(tasks, 2, lambda rows: time.sleep(0.5))
    try:
        assert all(len(result) == 50_000_000 for result in results)
    except WorkerDiedError as error:
        assert error.exit_code == -9


def test_they_end_in_order(start, tmp_path):
    def work(number):
        import atexit

        atexit.register((tmp_path / "ended").touch)

    run(work)
    assert (tmp_path / "ended").exists()


def test_one_that_does_not_want_to_end_is_killed(start, monkeypatch):
    monkeypatch.setattr(processes, "_SECONDS_TO_LEAVE", 0.1)

    def work(number):
        import atexit

        atexit.register(time.sleep, 60)
        return os.getpid()

    (pid,) = run(work)
    assert not is_alive(pid)


def test_calls_from_several_threads_do_not_meet(start):
    found = {}

    def call(name):
        found[name] = run(lambda number: (name, number), 3)

    threads = [threading.Thread(target=call, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {name: [(name, number) for number in range(3)] for name in "abc"}


@needs_proc
def test_no_file_and_no_process_is_left(start):
    def open_files():
        return len(os.listdir("/proc/self/fd"))

    run(lambda number: number, 2)
    gc.collect()  # what earlier tests left open is none of these
    before = open_files()
    for _ in range(2):
        pids = run(lambda number: os.getpid(), 3)
        with pytest.raises(ZeroDivisionError):
            run(lambda number: 1 // number, 2)
        with pytest.raises(WorkerDiedError):
            run(lambda number: os._exit(1), 2)
        assert not any(map(is_alive, pids))
    assert open_files() <= before


LONG = """
import os, sys, time
from crucible_datasets.executors import forkserver, processes
from crucible_datasets.executors.base import Task
forkserver.START = sys.argv[1]
def work(rank, advance):
    os.write(1, f"{os.getpid()}\\n".encode())
    while True:
        advance(1)
        time.sleep(0.01) if rank else sum(range(1000))
list(processes.run([Task(work, range(1))] * 2, 2, lambda n: None))
"""


@needs_proc
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_they_do_not_outlive_the_program(start, sent):
    with subprocess.Popen(
        [sys.executable, "-c", LONG, start], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        pids = [int(program.stdout.readline()) for _ in range(2)]
        kept = int(Path(f"/proc/{pids[0]}/stat").read_text().rpartition(")")[2].split()[1])
        program.send_signal(sent)
        assert program.wait(10) in {-sent, 1}
        assert wait_until(lambda: not any(map(is_alive, [*pids, kept])), 5)
        assert ("KeyboardInterrupt" in program.stderr.read()) == (sent == signal.SIGINT)


@needs_proc
def test_they_do_not_outlive_the_fork_server(start):
    with subprocess.Popen(
        [sys.executable, "-c", LONG, start], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        pids = [int(program.stdout.readline()) for _ in range(2)]
        kept = int(Path(f"/proc/{pids[0]}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(kept, signal.SIGKILL)
        assert program.wait(10) == 1
        assert "WorkerDiedError" in program.stderr.read()
        assert wait_until(lambda: not any(map(is_alive, pids)), 5)


def test_the_fork_server_leaves_when_it_is_idle(start, monkeypatch):
    run(lambda number: number)
    first = forkserver.current()
    assert forkserver.current() is first
    monkeypatch.setattr(forkserver, "IDLE_SECONDS", 0)
    assert forkserver.current() is not first


def test_the_number_of_workers_is_known_where_the_system_does_not_tell_the_processors_of_a_process(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)  # as on macOS
    monkeypatch.delattr(os, "process_cpu_count", raising=False)  # before Python 3.13
    assert EXECUTORS["processes"].workers() >= 1


def test_users_may_say_how_many_processors_a_process_has(monkeypatch):
    monkeypatch.setattr(os, "process_cpu_count", lambda: 3, raising=False)  # PYTHON_CPU_COUNT=3, since Python 3.13
    assert EXECUTORS["processes"].workers() == 3
