"""Tasks on a Ray cluster: a running one, or a new local one that only this machine can reach.

Tasks and rows go through Ray's object store as bytes that this library has pickled, rows as Arrow. A task whose worker
or node dies is retried elsewhere while the others go on.
"""

from __future__ import annotations

import pickle
import platform
import uuid
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar

from crucible_datasets import __version__
from crucible_datasets.exceptions import ClusterError, NotPicklableError, WorkerDiedError
from crucible_datasets.executors import rayworker
from crucible_datasets.executors.base import Advance, Task
from crucible_datasets.executors.environment import ProcessState
from crucible_datasets.executors.failures import opened_error
from crucible_datasets.executors.raycluster import connected
from crucible_datasets.executors.rayobjects import Packed, RayTaskPickler, opened, session_of
from crucible_datasets.executors.rayversion import version_checked_worker
from crucible_datasets.registry import need

_SECONDS_TO_END, _SECONDS_TO_HEED, _SECONDS_TO_DIE = 0.1, 1.0, 5.0


@dataclass(frozen=True)
class RayExecutor:
    """Runs tasks on the Ray cluster at `address`.

    Without an address it is the cluster this process is connected to, else the one named by RAY_ADDRESS or started by
    `ray start` on this machine, else a new one with the processors of this machine, without a dashboard, on loopback.
    A task takes `num_cpus`, `num_gpus` and `resources` as Ray counts them, and is retried up to `retries` times if its
    worker dies. `shared_disk` says whether all nodes find the files of this machine under the same paths; by default
    that is assumed only if all nodes are this machine.
    """

    address: str | None = None
    num_cpus: float = 1
    num_gpus: float = 0
    resources: Mapping[str, float] = field(default_factory=dict)
    retries: int = 3
    shared_disk: bool | None = None
    name: ClassVar[str] = "ray"
    aliases: ClassVar[tuple[str, ...]] = ()
    shares_disk: ClassVar[bool] = False

    def workers(self) -> int:
        """How many tasks the cluster can run at once."""
        has = connected(self.address).cluster_resources()
        asked = {"CPU": self.num_cpus, "GPU": self.num_gpus, **self.resources}
        room = [int(has.get(name, 0) // amount) for name, amount in asked.items() if amount]
        if not all(room):
            raise ClusterError(f"a task takes {_counted(asked)}, and the whole cluster has {_counted(has)}")
        return min(room, default=1)

    def sees_files(self) -> bool:
        """Whether all nodes find the files of this machine under the same paths."""
        if self.shared_disk is not None:
            return self.shared_disk
        names = {node["NodeManagerHostname"] for node in connected(self.address).nodes() if node["Alive"]}
        return names <= {platform.node()}

    def run(self, tasks: Sequence[Task[Any]], workers: int, advance: Advance) -> Iterator[Any]:
        """The results of the tasks, in order, computed by at most `workers` workers at once."""
        if not tasks:
            return
        ray = connected(self.address)
        calls = _Calls(self, ray, tasks, min(max(workers, 1), self.workers()), advance)
        try:
            yield from calls.results()
        finally:
            calls.stop()

    def options(self) -> dict[str, Any]:
        """The options of every task. Ray's own retries are off: they would hide that a worker died."""
        return {
            "num_cpus": self.num_cpus,
            "num_gpus": self.num_gpus,
            "resources": dict(self.resources),
            "max_retries": 0,
        }


class _Calls:
    """The tasks of one run: waiting, running and done."""

    def __init__(
        self, executor: RayExecutor, ray: Any, tasks: Sequence[Task[Any]], room: int, advance: Advance
    ) -> None:
        self.executor, self.ray, self.tasks, self.room, self.advance = executor, ray, tasks, room, advance
        self.run = uuid.uuid4().hex
        self.pickler = RayTaskPickler(ray)
        self.process_state = ray.put(pickle.dumps(_process_state()))
        self.work = _work(session_of(ray)).options(**executor.options())
        self.progress_actor: Any = _progress_actor(ray)
        self.actors_lost = 0
        self.waiting = deque(range(len(tasks)))
        self.packed: dict[int, Any] = {}
        self.deaths = dict.fromkeys(range(len(tasks)), 0)
        self.reported = dict.fromkeys(range(len(tasks)), 0)
        self.running: dict[Any, int] = {}
        self.done: dict[int, Any] = {}
        self.update: Any = None

    def results(self) -> Iterator[Any]:
        for number in range(len(self.tasks)):
            while number not in self.done:
                self._hand_out()
                self._await_event()
            yield self.done.pop(number)

    def _hand_out(self) -> None:
        while self.waiting and len(self.running) < self.room:
            number = self.waiting.popleft()
            if number not in self.packed:
                self.packed[number] = self.pickler.packed(number, self.tasks[number])
            message, once = self.packed[number]
            self.running[
                self.work.remote(message, once, self.process_state, self.progress_actor, (self.run, number))
            ] = number

    def _await_event(self) -> None:
        """Wait for the next event, progress or the end of a task, and handle it."""
        if self.update is None and self.actors_lost <= self.executor.retries:
            self.update = self.progress_actor.next.remote(self.run)
        awaited = [*self.running] if self.update is None else [self.update, *self.running]
        ready, _ = self.ray.wait(awaited, num_returns=1)
        for ref in ready:
            if ref == self.update:
                self._take_update()
            else:
                self._take_result(self.running.pop(ref), ref)

    def _take_update(self) -> None:
        update, self.update = self.update, None
        try:
            reported = self.ray.get(update)
        except self.ray.exceptions.RayError:  # the actor's node is gone, and progress with it
            self.actors_lost += 1
            self.progress_actor = _progress_actor(self.ray, replaced=True)
            return
        for number, rows in reported.items():
            self._advance(number, rows)

    def _advance(self, number: int, rows: int) -> None:
        """Report progress, but not again for rows that an earlier attempt has reported."""
        if rows > self.reported[number]:
            before, self.reported[number] = self.reported[number], rows
            self.advance(rows - before)

    def _take_result(self, number: int, ref: Any) -> None:
        task = self.tasks[number]
        try:
            kind, rows, content = self.ray.get(ref)
        except self.ray.exceptions.RayTaskError as error:  # what tasks raise is caught there
            raise ClusterError(f"a worker cannot run tasks of this library: {error.cause}") from error
        except self.ray.exceptions.RayError as error:
            self._retry(number, error)
            return
        if kind == "unfit":
            raise ClusterError(content)
        self._advance(number, rows)
        if kind == "error":
            raise opened_error(content)
        self.done[number] = task.taken(_opened(task.title, content))
        self.packed.pop(number)

    def _retry(self, number: int, error: Exception) -> None:
        self.deaths[number] += 1
        if self.deaths[number] > self.executor.retries:
            task = self.tasks[number]
            raise WorkerDiedError(task.title, task.rows, None) from error
        self.waiting.appendleft(number)

    def _unfinished(self, refs: list[Any], seconds: float) -> list[Any]:
        return list(self.ray.wait(refs, num_returns=len(refs), timeout=seconds)[1]) if refs else []

    def stop(self) -> None:
        """Cancel the running tasks."""
        if not self.ray.is_initialized():  # all tasks have ended, and any call would start another cluster
            return
        # Ray 2.60 kills this whole process if a task ends while it is cancelled. So those about to end get a moment.
        left = self._unfinished(list(self.running), _SECONDS_TO_END)
        # A worker whose task is cancelled gently keeps what it has loaded.
        for force, seconds in ((False, _SECONDS_TO_HEED), (True, _SECONDS_TO_DIE)):
            for ref in left:
                self.ray.cancel(ref, force=force)
            left = self._unfinished(left, seconds)
        self.progress_actor.forget.remote(self.run)


def _process_state() -> ProcessState:
    from crucible_datasets.sources.hub.environment import token

    state, hub_token = ProcessState.capture(), token()
    if hub_token is not None:  # it may come from a file on this machine
        state.environment.setdefault("HF_TOKEN", hub_token)
    return state


def _opened(title: str, result: Packed) -> Any:
    try:
        return opened(result)
    except Exception as error:
        raise NotPicklableError(title, "gave a result that cannot be read here", error) from error


@cache
def _work(session: str) -> Any:
    """The remote function: the same for all runs, or each worker would unpickle it for every run."""
    return need("ray", "ray").remote(version_checked_worker(__version__))


@cache
def _progress_actor_numbered(session: str, number: int) -> Any:
    ray = need("ray", "ray")
    return ray.remote(rayworker.ProgressActor).options(num_cpus=0, max_concurrency=1000).remote()


_lost_actors = 0


def _progress_actor(ray: Any, replaced: bool = False) -> Any:
    """The actor that collects progress: one for all runs of this program."""
    global _lost_actors
    _lost_actors += replaced
    return _progress_actor_numbered(session_of(ray), _lost_actors)


def _counted(amounts: Mapping[str, float]) -> str:
    """Resources as text, without those that only identify nodes."""
    shown = {name: amount for name, amount in amounts.items() if amount and ":" not in name and "memory" not in name}
    return ", ".join(f"{amount:g} {name}" for name, amount in sorted(shown.items())) or "nothing"


EXECUTOR = RayExecutor()
