"""What runs in the fork server: it starts workers, reports how they ended, and kills those that are left behind."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
import sys
import warnings
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, NoReturn

from crucible_datasets.exceptions import NOT_STARTED
from crucible_datasets.executors.forkserver import EXIT_CODE, FORK_SERVER, IDLE_SECONDS, IMPORTS, command

if TYPE_CHECKING:
    from crucible_datasets.executors.preloading import Preloader


def main(control: int, start: str, modules: Iterable[str]) -> None:
    """Start workers until the program closes its end of the control socket."""
    signal.signal(signal.SIGINT, _nothing)  # the program handles interrupts, and stops the workers
    warnings.simplefilter("ignore")
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001, S112  (the task that needs it will raise the error)
            continue
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=control) as socket_of_program:
        _Server(socket_of_program, start).serve()


def _nothing(*_: Any) -> None: ...


class _Server:
    def __init__(self, control: socket.socket, start: str) -> None:
        self.control, self.start = control, start
        self.leases: dict[int, socket.socket] = {}
        self.doomed: set[int] = set()
        self.preloader: Preloader | None = None
        self.ended, ended = socket.socketpair()
        for end in (self.ended, ended):
            end.setblocking(False)
        self._ended = ended
        signal.signal(signal.SIGCHLD, _nothing)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})  # the thread that started us may have blocked it
        signal.set_wakeup_fd(ended.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        try:
            while self._round():
                self._reap()
        finally:
            for pid in self.leases:
                os.kill(pid, signal.SIGKILL)
            for pid in self.leases:
                os.waitpid(pid, 0)

    def _round(self) -> bool:
        held = {lease: pid for pid, lease in self.leases.items() if pid not in self.doomed}
        ready = wait([self.control, self.ended, *held], None if self.leases else IDLE_SECONDS)
        if self.ended in ready:
            self.ended.recv(4096)
        for lease in held.keys() & set(ready):
            self.doomed.add(held[lease])
            os.kill(held[lease], signal.SIGKILL)  # a lease becomes readable only when the program closes it
        return self._started() if self.control in ready else bool(ready)

    def _reap(self) -> None:
        while self.leases:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self.doomed.discard(pid)
            _tell(self.leases.pop(pid), os.waitstatus_to_exitcode(status))

    def _started(self) -> bool:
        asked, files, _, _ = socket.recv_fds(self.control, 1, 5)
        if not asked:
            return False
        for file in files:
            os.set_inheritable(file, False)
        if asked == IMPORTS:
            self._import(files[0])
            return True
        lease = socket.socket(fileno=files[0])
        try:
            pid = self._fork(lease, files[1:], asked) if self.start == "fork" else _spawn(files[1:])
            self.leases[pid] = lease
        except OSError as error:
            _tell(lease, NOT_STARTED + (error.errno or 0))
        for file in files[1:]:
            os.close(file)
        return True

    def _import(self, order: int) -> None:
        from crucible_datasets.executors.preloading import Preloader

        self.preloader = self.preloader or Preloader()
        with open(order) as lines, suppress(OSError):  # the program may be gone
            self.control.sendall(self.preloader.import_(lines.readline()).encode() + b"\n")

    def _fork(self, lease: socket.socket, files: list[int], asked: bytes) -> int:
        pid = os.fork()
        if pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for held in (lease, self.control, self.ended, self._ended, *self.leases.values()):
                    held.close()
                channel, out, err, *shared = files
                os.dup2(out, 1)
                os.dup2(err, 2)
                os.close(out)
                os.close(err)
                if self.preloader is not None:
                    self.preloader.disarm_finalizers()
                _serve(channel) if asked == FORK_SERVER else _work(channel, *shared)
            except BaseException:  # noqa: BLE001  (it must not continue in the server's code)
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(1)
        return pid


def _work(channel: int, *shared: int) -> NoReturn:
    from crucible_datasets.executors import worker

    worker.main(channel, *shared)


def _serve(control: int) -> NoReturn:
    """Run as a fork server of its own, which will preload packages."""
    from crucible_datasets.executors import worker

    worker.die_with_parent()
    with socket.socket(fileno=control) as socket_of_program:
        _Server(socket_of_program, "fork").serve()
    worker.leave()


def _spawn(files: list[int]) -> int:
    channel, out, err, *shared = files
    for file in (channel, *shared):
        os.set_inheritable(file, True)
    streams = [(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, err, 2)]
    words = command("worker", ", ".join(map(str, [channel, *shared])))
    return os.posix_spawn(words[0], words, os.environ, file_actions=streams)


def _tell(lease: socket.socket, code: int) -> None:
    with lease, suppress(OSError):  # the program may be gone
        lease.sendall(EXIT_CODE.pack(code))
