"""Keepers that have imported packages: once for all workers, never where copies would be unsafe, and none is left."""

import atexit
import gc
import importlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from tests.executors.test_processes import is_alive, needs_proc, run, wait_until

from crucible_datasets.exceptions import WorkerDiedError
from crucible_datasets.executors import forkserver, preloaded

pytestmark = pytest.mark.skipif(forkserver.START != "fork", reason="workers are copies of nobody")

COUNTED = """
import os
with open({noted!r}, "a") as file:
    print(os.getpid(), file=file)
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package of one module, which notes where it is imported, and import it here. Who imports it next?"""
    installed = tmp_path / "site-packages"
    installed.mkdir()
    monkeypatch.syspath_prepend(installed)
    monkeypatch.setattr(preloaded, "_unsafe", set())

    def install(name, code, folder=installed):
        noted = tmp_path / f"{name}.txt"
        (folder / f"{name}.py").write_text(COUNTED.format(noted=str(noted)) + textwrap.dedent(code))
        importlib.invalidate_caches()
        with monkeypatch.context() as here:
            here.setenv("IN_PROGRAM", "1")
            module = importlib.import_module(name)
        noted.write_text("")
        return module, lambda: [int(line) for line in noted.read_text().split()]

    before = set(sys.modules)
    yield install
    for name in set(sys.modules) - before:
        del sys.modules[name]


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_package_is_imported_once_for_all_workers_and_calls(install):
    heavy, importers = install("heavy_one", "import os\ndef value(): return os.getpid()")
    pids = run(lambda _: heavy.value(), 3, 3) + run(lambda _: heavy.value(), 3, 3)
    (importer,) = importers()
    assert importer not in {os.getpid(), *pids}

    def imports_late(_):
        import heavy_one

        return heavy_one.value()

    other, importers_of_other = install("heavy_two", "value = 2")
    assert run(lambda number: (imports_late(number), other.value), 2)[0][1] == 2
    assert (importers(), importers_of_other()) == ([importer], [importer])


def test_modules_of_users_are_imported_anew_and_what_they_import_is_not(install, tmp_path, monkeypatch):
    _, importers = install("heavy_three", "def value(): return 3")
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.syspath_prepend(own)
    mine, importers_of_mine = install("mine", "from heavy_three import value\ndef get(_): return value()", own)
    pids = run(lambda number: (mine.get(number), os.getpid())[1], 2, 2)
    assert set(importers_of_mine()) == set(pids)
    (own / "mine.py").write_text("from heavy_three import value\ndef get(_): return 'edited', value()")
    assert run(mine.get, 2) == [("edited", 3)] * 2
    assert len(importers()) == 1


def test_the_environment_and_the_path_are_those_of_now(install, tmp_path, monkeypatch):
    module, importers = install("reads_environment", "import os, sys; value = os.environ.get('MODE'), sys.path[0]")

    def seen():
        return run(lambda _: module.value)

    for mode in ("one", "two"):
        monkeypatch.setenv("MODE", mode)
        assert seen() == seen() == [(mode, sys.path[0])]
    monkeypatch.syspath_prepend(tmp_path)
    assert seen() == seen() == [("two", str(tmp_path))]
    assert len(importers()) == 3


UNSAFE = {
    "threads": "import threading, time; threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
    "connections": "import socket; kept = socket.socketpair()",
    "user": "import someone",
    "deadly": "os._exit(3)",
}


def test_a_process_that_must_not_be_copied_is_not(install, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "someone.py").write_text("")
    for name, code in UNSAFE.items():
        unless = "os.environ.get('IN_PROGRAM') or os.path.exists('spared')"
        module, importers = install(f"has_{name}", f"if not ({unless}):\n    {code}\ndef value(): return os.getpid()")
        monkeypatch.chdir(tmp_path)
        if name == "deadly":
            with pytest.raises(WorkerDiedError):
                run(lambda _: module.value())
            (tmp_path / "spared").touch()
        pids = run(lambda _: module.value(), 2, 2) + run(lambda _: module.value(), 2, 2)
        assert {pid for pid in importers() if pid in pids} == set(pids), name
        assert len(importers()) == len(set(pids)) + 1 + (name == "deadly"), name


def test_an_import_that_fails_fails_in_the_worker(install):
    module, _ = install("broken", "if not os.environ.get('IN_PROGRAM'): 1 / 0\ndef value(): return 1")
    with pytest.raises(Exception, match="division by zero"):
        run(lambda _: module.value())


def test_what_an_import_opens_is_closed_by_the_fork_server(install, tmp_path):
    code = f"""
    import atexit, tempfile, weakref
    def end(): open({str(tmp_path / "ended")!r}, "a").write(f"{{os.getpid()}} ")
    atexit.register(end)
    unwanted = lambda: open({str(tmp_path / "unwanted")!r}, "a")
    atexit.register(unwanted); atexit.unregister(unwanted)
    folder = tempfile.TemporaryDirectory()
    """
    module, importers = install("opens", code)
    atexit.unregister(module.end)  # of this process, whose end comes when tmp_path is gone
    module.folder.cleanup()

    def use(_):
        import tempfile

        kept = module.own = tempfile.TemporaryDirectory()
        return os.path.isdir(module.folder.name), module.folder.name, kept.name

    seen = run(use, 2, 2) + run(use, 2, 2)
    assert all(is_there for is_there, _, _ in seen)
    (folder,) = {folder for _, folder, _ in seen}
    assert not any(os.path.exists(own) for _, _, own in seen)
    assert not (tmp_path / "ended").exists()
    (importer,) = importers()
    preloaded._current._end()
    assert wait_until(lambda: not is_alive(importer))
    assert (tmp_path / "ended").read_text().split() == [str(importer)]
    assert not os.path.exists(folder)
    assert not (tmp_path / "unwanted").exists()


def test_what_an_import_says_is_not_repeated(install, capfd):
    code = "import logging, sys; print('said'); print('said', file=sys.stderr); logging.basicConfig()"
    module, _ = install("talks", code + "\nvalue = 1")
    capfd.readouterr()
    run(lambda _: (module.value, sys.stdout.write("worked\n")), 2, 2)
    assert capfd.readouterr() == ("worked\n" * 2, "")


def test_workers_and_copies_of_the_program_have_fork_servers_of_their_own(install):
    module, importers = install("nested", "def value(): return 5")
    assert run(lambda _: run(lambda _: module.value(), 2), 2) == [[5, 5]] * 2
    assert len(importers()) == 3
    pid = os.fork()
    if pid == 0:
        with suppress(BaseException):
            os._exit(run(lambda _: module.value())[0])
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
    assert run(lambda _: module.value()) == [5]
    assert len(importers()) == 4


def test_an_interrupt_does_not_wait_for_imports(install, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "import time\nif os.path.exists('slow'): time.sleep(60)\ndef value(): return 6"
    module, importers = install("slow_one", code)
    (tmp_path / "slow").touch()
    here = threading.get_ident()

    def interrupt():
        # One that came in a collection of garbage, or before a socket is held by anybody, would be told of as a warning.
        assert wait_until(lambda: importers() and sys._current_frames()[here].f_code.co_name == "select")
        signal.pthread_kill(here, signal.SIGINT)

    killer = threading.Thread(target=interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which another test may have changed
    gc.disable()
    killer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(lambda _: module.value(), 2)
    finally:
        killer.join()
        gc.enable()
        signal.signal(signal.SIGINT, before)
    assert wait_until(lambda: not any(map(is_alive, importers())), 5)
    (tmp_path / "slow").unlink()
    assert run(lambda _: module.value(), 2) == [6, 6]


LONG = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
import heavy
from crucible_datasets.executors import processes
from crucible_datasets.executors.base import Task
def work(rank, advance):
    os.write(1, f"{os.getpid()}\\n".encode())
    while heavy.is_there:
        time.sleep(0.01)
list(processes.run([Task(work, range(1))] * 2, 2, lambda n: None))
"""


@needs_proc
@pytest.mark.parametrize("whom", ["program", "forkserver", "preloaded server"])
def test_none_of_them_outlives_another(whom, tmp_path):
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "heavy.py").write_text("is_there = True")
    words = [sys.executable, "-c", LONG, str(tmp_path / "site-packages")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        pids = [int(program.stdout.readline()) for _ in range(2)]
        preloaded_server = parent_of(pids[0])
        first_server = parent_of(preloaded_server)
        assert parent_of(first_server) == program.pid
        victims = {"program": program.pid, "forkserver": first_server, "preloaded server": preloaded_server}
        os.kill(victims[whom], signal.SIGKILL)
        assert program.wait(20) == (-9 if whom == "program" else 1)
        assert ("WorkerDiedError" in program.stderr.read()) == (whom != "program")
        assert wait_until(lambda: not any(map(is_alive, [*pids, preloaded_server, first_server])), 5)


@needs_proc
def test_no_file_is_left_open_and_none_is_left_idle(install, monkeypatch):
    module, importers = install("again", "value = 1")
    counts = []
    for _ in range(3):
        run(lambda _: module.value, 2)
        counts.append(len(os.listdir("/proc/self/fd")))
    assert len(set(counts)) == 1
    monkeypatch.setattr(forkserver, "IDLE_SECONDS", 0)
    assert run(lambda _: module.value) == [1]
    assert len(importers()) == 2
    assert wait_until(lambda: not is_alive(importers()[0]))
