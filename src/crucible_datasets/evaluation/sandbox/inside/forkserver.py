"""The fork server of a box: a bare interpreter that forks occupants, one check at a time.

It is started by `python -I -S` with one socket. A message has the roles of a check and their files. The fork server
forks once per role, waits until the check is decided or times out, kills what is left, and replies how each ended. It
never reads the files. When the socket is closed, it ends, and everything in the box with it.
"""

from __future__ import annotations

import array
import gc
import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from crucible_datasets.evaluation.sandbox.inside import descriptors, kernel, namespaces, occupant, syscalls

_LONGEST = 1 << 16
_MOST_FILES = 16


class Occupied(BaseException):
    """Leaves the fork server in a forked process, so that its code runs as a main program: with an empty stack."""

    def __init__(self, role: Callable[[], None]) -> None:
        super().__init__()
        self.role = role


def main(number: int) -> Callable[[], None]:
    """Set up the namespaces, and serve until the socket is closed; returns in forked processes, with what they run."""
    control = socket.socket(fileno=number)
    try:
        if not syscalls.supported(kernel.machine()):
            raise OSError(f"no list of system calls for the processor {kernel.machine()}")
        _load_common_modules()
        namespaces.enter()
    except Exception as error:  # noqa: BLE001 – whatever it is, there is no box
        control.send(json.dumps({"refused": f"{type(error).__name__}: {error}"}).encode())
        os._exit(1)
    try:
        _fork_and_wait(control)
    except Occupied as occupied:
        return occupied.role


def _fork_and_wait(control: socket.socket) -> NoReturn:
    """Fork the server: only a child is in the new PID namespace."""
    pid = os.fork()
    if pid:
        control.close()
        os.waitpid(pid, 0)
        os._exit(0)
    kernel.die_with_parent()
    ForkServer(control).run()
    os._exit(0)


def _load_common_modules() -> None:
    """Import the modules that solutions use most, so that forks have them."""
    import bisect, cmath, collections, copy, datetime, decimal, fractions, functools, heapq, itertools, math  # noqa: E401, F401, I001
    import operator, random, re, statistics, string, typing, hashlib, traceback, io, types, dataclasses, enum  # noqa: E401, F401
    import site

    # `exit`, `quit`, `help` …: without -S, site would define them, and make installed packages visible.
    site.setquit()
    site.setcopyright()
    site.sethelper()
    os.environ.clear()
    gc.collect()
    gc.freeze()


class ForkServer:
    """The loop of a box."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.self_fd = os.pidfd_open(os.getpid())

    def run(self) -> None:
        """Serve checks until the socket is closed."""
        self.control.send(b'{"ready": true}')
        while True:
            message, files = _received(self.control)
            if not message:
                return
            reply = self.check(json.loads(message), files)
            self.control.send(json.dumps(reply).encode())

    def check(self, order: Mapping[str, Any], files: list[int]) -> dict[str, Any]:
        """Run one check."""
        links = socket.socketpair() if len(order["roles"]) > 1 else ()
        reading, writing = os.pipe()
        pids: dict[str, int] = {}
        for index, role in enumerate(order["roles"]):
            files_of = {int(place): files[at] for place, at in role["files"].items()} | {descriptors.TROUBLE: writing}
            if links:
                files_of[descriptors.LINK] = links[index].fileno()
            pids[role["name"]] = self._occupied(role["name"], files_of, order["limits"], [self.control, *links])
        for file in files:
            os.close(file)
        for link in links:
            link.close()
        os.close(writing)
        ended = self._settled(pids, order["decisive"], order["seconds"])
        # Occupants report errors of their set-up on it, and close it before they run untrusted code.
        ended["trouble"] = os.read(reading, 1000).decode("utf-8", "replace")
        os.close(reading)
        return ended

    def _occupied(
        self, role: str, files: Mapping[int, int], limits: Mapping[str, int], sockets: list[socket.socket]
    ) -> int:
        # When the first process of a PID namespace ends, the kernel kills all others and closes the namespace, so
        # every occupant gets a new one inside that of the fork server.
        kernel.setns(self.self_fd, kernel.NEWPID)
        kernel.unshare(kernel.NEWPID)
        pid = os.fork()
        if pid == 0:
            for each in sockets:
                each.detach()  # their descriptors are closed, and their numbers used again
            raise Occupied(occupant.occupy(role, files, limits))
        return pid

    def _settled(self, pids: Mapping[str, int], decisive: str, seconds: float) -> dict[str, Any]:
        start = time.monotonic()
        in_time = self._waited(pids[decisive], seconds)
        ends = {}
        for role, pid in pids.items():
            if role != decisive or not in_time:
                os.kill(pid, signal.SIGKILL)
            ends[role] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return {"timed_out": not in_time, "ends": ends, "seconds": time.monotonic() - start}

    def _waited(self, pid: int, seconds: float) -> bool:
        """Whether the process ended in time. If the caller ends, the fork server exits."""
        handle = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.register(self.control, 0)  # only hang-ups
        events = poll.poll(seconds * 1000)
        os.close(handle)
        if any(file == self.control.fileno() for file, _ in events):
            os._exit(0)
        return bool(events)


def _received(control: socket.socket) -> tuple[bytes, list[int]]:
    message, ancillary, _, _ = control.recvmsg(_LONGEST, socket.CMSG_SPACE(_MOST_FILES * array.array("i").itemsize))
    files = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    return message, list(files)
