"""Tasks in worker processes, started by the fork server of this process (see `forkserver`).

A worker has one task at a time. When a worker dies, a task fails or the caller closes the iterator, all workers are
stopped before the call ends.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from multiprocessing.connection import Pipe, wait
from typing import Any

from crucible_datasets.exceptions import WorkerDiedError
from crucible_datasets.executors.base import Advance, LocalExecutor, Task
from crucible_datasets.executors.environment import ProcessState
from crucible_datasets.executors.failures import opened_error
from crucible_datasets.executors.forkserver import EXIT_CODE, ForkServer, current
from crucible_datasets.executors.pickling import TaskPickler, opened_result
from crucible_datasets.executors.preloaded import PreloadedServer, server_for

# A worker that has nothing left to do exits by itself; one that takes longer is killed.
_SECONDS_TO_LEAVE = 2.0
_SECONDS_TO_DIE = 5.0


def run(tasks: Sequence[Task[Any]], workers: int, advance: Advance) -> Iterator[Any]:
    """The results of the tasks, in order, computed by `workers` processes."""
    if not tasks:
        return
    current()  # it starts up while the tasks are pickled
    with ExitStack() as stack:
        pickler = stack.enter_context(TaskPickler())
        packed = [pickler.packed(rank, task) for rank, task in enumerate(tasks)]
        server = server_for(pickler.modules)
        pool = stack.enter_context(WorkerPool(server, min(max(workers, 1), len(tasks)), pickler.shared))
        yield from pool.results(tasks, packed, advance)
        pool.finish()


class Worker:
    """The program's end of one worker."""

    def __init__(self, server: ForkServer | PreloadedServer, shared: int | None) -> None:
        self.task: int | None = None
        self.channel, channel = Pipe()
        self.lease, lease = socket.socketpair()
        with channel, lease, open(os.devnull, "w") as nowhere:
            streams = [file if _is_open(file) else nowhere.fileno() for file in (1, 2)]
            server.start(lease.fileno(), channel.fileno(), *streams, *([] if shared is None else [shared]))

    def send(self, message: bytes) -> None:
        """Send a message. If the worker is dead, its lease becomes readable."""
        with suppress(OSError):
            self.channel.send_bytes(message)

    def received(self) -> Iterator[tuple[str, Any]]:
        """The messages that have arrived, and ("end", None) if the channel is closed."""
        try:
            while self.channel.poll():
                yield pickle.loads(self.channel.recv_bytes())  # noqa: S301  (from a worker of this program)
        except (EOFError, OSError):
            yield "end", None

    def exit_code(self) -> int | None:
        """The exit code; None if unknown."""
        content = self.lease.recv(EXIT_CODE.size) if wait([self.lease], _SECONDS_TO_DIE) else b""
        return EXIT_CODE.unpack(content)[0] if content else None


class WorkerPool:
    """Workers that share the tasks of one call."""

    def __init__(self, server: ForkServer | PreloadedServer, size: int, shared: int | None) -> None:
        self.server = server  # keeps the server alive
        self.workers: list[Worker] = []
        try:
            self.workers.extend(Worker(server, shared) for _ in range(size))
            state = pickle.dumps(ProcessState.capture())
            for worker in self.workers:
                worker.send(state)
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def results(self, tasks: Sequence[Task[Any]], packed: Sequence[bytes], advance: Advance) -> Iterator[Any]:
        """The results, in the order of the tasks."""
        waiting = deque(range(len(tasks)))
        done: dict[int, Any] = {}
        for number in range(len(tasks)):
            while number not in done:
                self._hand_out(waiting, packed)
                for worker, kind, content in self._received():
                    if kind == "advance":
                        advance(content)
                    elif kind == "error":
                        raise opened_error(content)
                    elif kind == "result" and worker.task is not None:
                        ended, worker.task = worker.task, None
                        done[ended] = tasks[ended].taken(opened_result(tasks[ended].title, content))
                    elif worker.task is not None:
                        lost = tasks[worker.task]
                        raise WorkerDiedError(lost.title, lost.rows, worker.exit_code())
            yield done.pop(number)

    def _hand_out(self, waiting: deque[int], packed: Sequence[bytes]) -> None:
        for worker in self.workers:
            if worker.task is None and waiting:
                worker.task = waiting.popleft()
                worker.send(packed[worker.task])

    def _received(self) -> Iterator[tuple[Worker, str, Any]]:
        """The next messages of workers, and "end" for one that has exited and sent all it had to send."""
        busy = [worker for worker in self.workers if worker.task is not None]
        ready = set(wait([end for worker in busy for end in (worker.channel, worker.lease)]))
        for worker in busy:
            if ready & {worker.channel, worker.lease}:
                for kind, content in worker.received():
                    yield worker, kind, content
                if worker.lease in ready:
                    yield worker, "end", None

    def finish(self) -> None:
        """Let the workers exit by themselves."""
        for worker in self.workers:
            worker.channel.close()
        self._await_exits(_SECONDS_TO_LEAVE)

    def stop(self) -> None:
        """Stop the workers that are still running."""
        for worker in self.workers:
            worker.channel.close()
            with suppress(OSError):  # it may have exited
                worker.lease.shutdown(socket.SHUT_WR)
        self._await_exits(_SECONDS_TO_DIE)
        for worker in self.workers:
            worker.lease.close()

    def _await_exits(self, seconds: float) -> None:
        for worker in self.workers:
            wait([worker.lease], seconds)


def _is_open(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return False
    return True


EXECUTOR = LocalExecutor("processes", run)
