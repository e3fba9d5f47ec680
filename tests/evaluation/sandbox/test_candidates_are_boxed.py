"""Fifteen programs that try to get out (R30). Each says what it achieved; it must be nothing."""

import os
import socket
import subprocess
import sys
import time

import pytest
from support.isolation import needs_isolation

from crucible_datasets.evaluation.sandbox.boxes import borrowed
from crucible_datasets.evaluation.sandbox.limits import Limits
from crucible_datasets.evaluation.sandbox.running import run_program, run_tests
from crucible_datasets.exceptions import SandboxUnavailableError

pytestmark = needs_isolation

TRY = """
import sys
sys.stdout.reconfigure(line_buffering=True)
def attempt(what, *arguments, **named):
    try:
        print("DONE", str(what(*arguments, **named))[:80])
    except BaseException as error:
        print("refused", type(error).__name__)
"""

PROGRAMS = {
    "write outside": """
import os
for place in (PLACE, "/etc/x", "/usr/lib/x", "/x", "/dev/x", "/home/x", "/root/x", "/var/tmp/x", sys.prefix + "/x"):
    attempt(open, place, "w")
    attempt(os.mkdir, place)
attempt(os.remove, os.__file__)
""",
    "read home": """
import os
for place in ("~", "/home", "/etc/passwd", "/etc/shadow", "/proc/self/environ", "/var", "/run", "/work", "/srv"):
    attempt(os.listdir, os.path.expanduser(place)) if place[-1] not in "dnw" else attempt(open, place)
""",
    "network": """
import socket
attempt(socket.create_connection, ("127.0.0.1", PORT), 1)
attempt(socket.create_connection, ("1.1.1.1", 80), 1)
attempt(socket.getaddrinfo, "localhost.example", 80)
def served():
    server = socket.socket(); server.bind(("0.0.0.0", 0)); server.listen()
    socket.create_connection(server.getsockname(), 1)
attempt(served)
for family in (socket.AF_VSOCK, socket.AF_NETLINK, socket.AF_PACKET, socket.AF_ALG):
    attempt(socket.socket, family, socket.SOCK_RAW if family == socket.AF_PACKET else socket.SOCK_STREAM)
attempt(lambda: socket.socket(socket.AF_UNIX).connect("\\0" + UNIX))
""",
    "subprocess": """
import subprocess, os, importlib, multiprocessing
attempt(subprocess.run, ["/bin/sh", "-c", "echo"])
attempt(importlib.reload(subprocess).run, [sys.executable, "-c", "1"])
attempt(os.system, "true") if os.system("true") == 0 else print("refused")
attempt(os.posix_spawn, sys.executable, ["x"], {})
attempt(os.execv, sys.executable, ["x", "-c", "print('DONE')"])
attempt(multiprocessing.Process(target=print).start)
""",
    "fork bomb": """
import os
for _ in range(1000):
    try:
        if os.fork() == 0:
            while True: os.fork()
        print("DONE")
    except OSError: pass
while True: pass
""",
    "eight gigabytes": """
import mmap
attempt(mmap.mmap, -1, 8 << 30)  # at once, where filling it would outlast the time limit
attempt(bytearray, 8 << 30)
kept = []
try:
    while True: kept.append(bytearray(64 << 20))
except MemoryError: print("refused" if len(kept) < 9 else "DONE")
""",
    "fill the disk": """
import os
written = 0
try:
    for n in range(1000):
        with open(f"/tmp/{n}", "wb") as file:
            for _ in range(100): written += file.write(bytes(1 << 20)); file.flush()
except OSError as error: print("refused", error)
print("DONE" if written > 70 << 20 else "refused")
attempt(os.memfd_create, "x")
""",
    "ignore signals": """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass
""",
    "/proc": """
import os
attempt(os.listdir, "/proc"); attempt(os.listdir, "/sys"); os.mkdir("/tmp/p")
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print("refused" if libc.mount(b"proc", b"/tmp/p", b"proc", 0, None) else "DONE")
print("refused" if libc.umount2(b"/tmp", 2) else "DONE")
print("refused" if libc.chroot(b"/tmp") else "DONE")
""",
    "ptrace": """
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
for pid in [*range(2, 50), PARENT]:
    print("refused" if libc.ptrace(16, pid, 0, 0) else "DONE")
    attempt(os.kill, pid, 0)
attempt(os.kill, PARENT, signal.SIGTERM)
""",
    "zombies": """
import os, threading
attempt(os.fork)
attempt(os.forkpty)
threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=False).start()
while True: pass
""",
    "wait for input": "print('refused' if sys.stdin.read() == '' else 'DONE'); attempt(input)",
    "huge output": "while True: print('x' * 1000000)",
    "threads": """
import threading, time
started = 0
try:
    for _ in range(10000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); started += 1
except RuntimeError: print("refused")
print("DONE" if started > 32 else "refused")
while True: pass
""",
    "ctypes": """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x10000000, 0x20000, 0x40000000, 0x10000000 | 0x20000):
    print("refused" if libc.unshare(flag) else "DONE")
print("refused" if libc.setuid(0) else "DONE")
print("refused" if libc.fork() < 0 else "DONE")
print("refused" if libc.syscall(435, None, 0) < 0 else "DONE")
print("refused" if libc.execv(b"/bin/sh", None) < 0 else "DONE")
print("refused" if libc.sethostname(b"x", 1) else "DONE")
attempt(os.setuid, 0)
ctypes.string_at(0)
""",
}


@pytest.fixture
def listeners():
    """Two servers of this machine, which nobody must reach."""
    unix_name = f"crucible-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as unix:
        unix.bind("\0" + unix_name)
        unix.listen()
        for each in (server, unix):
            each.setblocking(False)
        yield server, unix, unix_name


def _reached(server: socket.socket) -> bool:
    try:
        server.accept()
    except BlockingIOError:
        return False
    return True


def _in_the_box(box) -> list[str]:
    """The processes below the keeper, by its own account of them."""
    keeper = _children(box.process.pid)
    return [child for each in keeper for child in _children(int(each))]


def _children(pid: int) -> list[str]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return file.read().split()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_achieves_nothing_outside_and_ends_in_time(name, listeners):
    server, unix, unix_name = listeners
    place = f"/var/tmp/crucible-{os.getpid()}"
    port = server.getsockname()[1]
    facts = f"PLACE = {place!r}; PARENT = {os.getpid()}; PORT = {port}; UNIX = {unix_name!r}\n"
    limits = Limits(timeout=1.0, memory=512 << 20, output=1 << 20)
    with borrowed() as box:
        pass
    ran = run_program(TRY + facts + PROGRAMS[name], limits=limits)
    assert "DONE" not in ran.output, ran
    assert ran.timed_out or ran.output, ran
    assert len(ran.output) <= limits.output
    assert not os.path.exists(place)
    assert not _reached(server)
    assert not _reached(unix)
    assert box.process.poll() is None
    assert _in_the_box(box) == []


def test_nothing_is_left_for_the_next_candidate():
    assert run_program("open('/tmp/left', 'w').write('x'); print('wrote')").output == "wrote\n"
    assert run_program("import os; print(os.listdir('/tmp'))").output == "[]\n"


def test_a_candidate_has_no_environment_and_no_packages(monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "tell-nobody")
    ran = run_program(
        "import os, sys; print('SECRET_TOKEN' in os.environ, any('site-packages' in p for p in sys.path))"
    )
    assert ran.output == "False False\n"


def test_what_cannot_be_shut_in_is_not_run():
    """A failure of the box is an error of the machine, and never a wrong answer of the model."""
    for run in (run_program, lambda code, **named: run_tests(code, ["assert True"], **named)):
        with pytest.raises(SandboxUnavailableError, match="shut in"):
            run("print(1)", limits=Limits(folder=-1))
        run("print(1)")


def test_a_candidate_may_use_an_event_loop_and_threads():
    code = """
import asyncio, threading
async def both(): return await asyncio.gather(asyncio.sleep(0, 1), asyncio.to_thread(int, 2))
print(asyncio.run(both()))
"""
    assert run_program(code).output == "[1, 2]\n"


def test_the_end_of_the_caller_is_the_end_of_the_box():
    """A caller that is killed in the midst of a check leaves no process behind."""
    code = (
        "from crucible_datasets.evaluation.sandbox import boxes, running\n"
        "from crucible_datasets.evaluation.sandbox.limits import Limits\n"
        "with boxes.borrowed() as box: print(box.process.pid, flush=True)\n"
        "running.run_program('while True: pass', limits=Limits(timeout=60))\n"
    )
    caller = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    keeper = int(caller.stdout.readline())
    while caller.poll() is None and not any(_children(int(each)) for each in _children(keeper)):
        time.sleep(0.01)
    caller.kill()
    caller.communicate()
    deadline = time.monotonic() + 20
    while os.path.exists(f"/proc/{keeper}") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not os.path.exists(f"/proc/{keeper}")
