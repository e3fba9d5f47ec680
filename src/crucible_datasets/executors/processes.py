"""Tasks in processes of their own, started by the keeper of this process (see `keeper`).

A worker has one task at a time. When a worker dies, a task fails or the caller loses interest, all
workers are stopped before the call ends.
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
from crucible_datasets.executors.failures import opened_error
from crucible_datasets.executors.keeper import EXIT_CODE, Keeper, current
from crucible_datasets.executors.parcels import Parcels, opened_result
from crucible_datasets.executors.seasoned import Seasoned, keeper_for
from crucible_datasets.executors.surroundings import Surroundings

# A worker that has nothing left to do ends by itself; one that takes longer is killed.
_SECONDS_TO_LEAVE = 2.0
_SECONDS_TO_DIE = 5.0


def run(tasks: Sequence[Task[Any]], workers: int, advance: Advance) -> Iterator[Any]:
    """The results of the tasks, in their order, worked out by as many processes."""
    if not tasks:
        return
    current()  # It gets ready while tasks are packed.
    with ExitStack() as stack:
        parcels = stack.enter_context(Parcels())
        packed = [parcels.packed(rank, task) for rank, task in enumerate(tasks)]
        keeper = keeper_for(parcels.modules)
        crew = stack.enter_context(Crew(keeper, min(max(workers, 1), len(tasks)), parcels.shared))
        yield from crew.results(tasks, packed, advance)
        crew.dismiss()


class Worker:
    """The program's end of one worker."""

    def __init__(self, keeper: Keeper | Seasoned, shared: int | None) -> None:
        self.task: int | None = None
        self.channel, channel = Pipe()
        self.lease, lease = socket.socketpair()
        with channel, lease, open(os.devnull, "w") as nowhere:
            streams = [file if _is_open(file) else nowhere.fileno() for file in (1, 2)]
            keeper.start(lease.fileno(), channel.fileno(), *streams, *([] if shared is None else [shared]))

    def send(self, message: bytes) -> None:
        """A message for it. If it is dead, its lease will tell."""
        with suppress(OSError):
            self.channel.send_bytes(message)

    def heard(self) -> Iterator[tuple[str, Any]]:
        """What it has sent since."""
        try:
            while self.channel.poll():
                yield pickle.loads(self.channel.recv_bytes())  # noqa: S301  (from a worker of this program)
        except (EOFError, OSError):
            yield "end", None

    def exit_code(self) -> int | None:
        """How it ended; None if that is unknown."""
        said = self.lease.recv(EXIT_CODE.size) if wait([self.lease], _SECONDS_TO_DIE) else b""
        return EXIT_CODE.unpack(said)[0] if said else None


class Crew:
    """Workers that share the tasks of one call."""

    def __init__(self, keeper: Keeper | Seasoned, size: int, shared: int | None) -> None:
        self.keeper = keeper  # Without its program's end it would leave.
        self.workers: list[Worker] = []
        try:
            self.workers.extend(Worker(keeper, shared) for _ in range(size))
            surroundings = pickle.dumps(Surroundings.here())
            for worker in self.workers:
                worker.send(surroundings)
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Crew:
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
                for worker, kind, said in self._heard():
                    if kind == "advance":
                        advance(said)
                    elif kind == "error":
                        raise opened_error(said)
                    elif kind == "result" and worker.task is not None:
                        ended, worker.task = worker.task, None
                        done[ended] = tasks[ended].taken(opened_result(tasks[ended].title, said))
                    elif worker.task is not None:
                        lost = tasks[worker.task]
                        raise WorkerDiedError(lost.title, lost.rows, worker.exit_code())
            yield done.pop(number)

    def _hand_out(self, waiting: deque[int], packed: Sequence[bytes]) -> None:
        for worker in self.workers:
            if worker.task is None and waiting:
                worker.task = waiting.popleft()
                worker.send(packed[worker.task])

    def _heard(self) -> Iterator[tuple[Worker, str, Any]]:
        """What workers say next, and "end" for one that is gone and has nothing more to say."""
        busy = [worker for worker in self.workers if worker.task is not None]
        ready = set(wait([end for worker in busy for end in (worker.channel, worker.lease)]))
        for worker in busy:
            if ready & {worker.channel, worker.lease}:
                for kind, said in worker.heard():
                    yield worker, kind, said
                if worker.lease in ready:
                    yield worker, "end", None

    def dismiss(self) -> None:
        """Let them end by themselves."""
        for worker in self.workers:
            worker.channel.close()
        self._await_ends(_SECONDS_TO_LEAVE)

    def stop(self) -> None:
        """Stop those that are still there."""
        for worker in self.workers:
            worker.channel.close()
            with suppress(OSError):  # It may have ended.
                worker.lease.shutdown(socket.SHUT_WR)
        self._await_ends(_SECONDS_TO_DIE)
        for worker in self.workers:
            worker.lease.close()

    def _await_ends(self, seconds: float) -> None:
        for worker in self.workers:
            wait([worker.lease], seconds)


def _is_open(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return False
    return True


EXECUTOR = LocalExecutor("processes", run)
