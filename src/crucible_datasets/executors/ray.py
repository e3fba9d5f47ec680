"""Tasks on a Ray cluster: one that runs already, or one of this machine that nobody else can reach.

Nothing but bytes of this library travels: what is done with rows, and rows as Arrow, through Ray's object store. A task
whose worker or node dies is begun again elsewhere; the others go on.
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
from crucible_datasets.executors.failures import opened_error
from crucible_datasets.executors.raycluster import connected
from crucible_datasets.executors.rayfitness import fit_worker
from crucible_datasets.executors.rayparcels import Packed, RayParcels, opened, session_of
from crucible_datasets.executors.surroundings import Surroundings
from crucible_datasets.registry import need

_SECONDS_TO_END, _SECONDS_TO_HEED, _SECONDS_TO_DIE = 0.1, 1.0, 5.0


@dataclass(frozen=True)
class RayExecutor:
    """Runs tasks on the Ray cluster at `address`.

    Without an address that is the cluster this process is connected to, else the one that RAY_ADDRESS or `ray start`
    on this machine tell of, else a new one with the processors of this machine, without a dashboard and on loopback.
    A task takes `num_cpus`, `num_gpus` and `resources` as Ray counts them, and is begun again `retries` times if its
    worker dies. With a `shared_disk`, all nodes find the files of this machine under their names; by default that is
    taken for granted if they are this machine.
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
        """How many tasks the cluster has room for."""
        has = connected(self.address).cluster_resources()
        asked = {"CPU": self.num_cpus, "GPU": self.num_gpus, **self.resources}
        room = [int(has.get(name, 0) // amount) for name, amount in asked.items() if amount]
        if not all(room):
            raise ClusterError(f"a task takes {_counted(asked)}, and the whole cluster has {_counted(has)}")
        return min(room, default=1)

    def sees_files(self) -> bool:
        """Whether all nodes find the files of this machine under their names."""
        if self.shared_disk is not None:
            return self.shared_disk
        names = {node["NodeManagerHostname"] for node in connected(self.address).nodes() if node["Alive"]}
        return names <= {platform.node()}

    def run(self, tasks: Sequence[Task[Any]], workers: int, advance: Advance) -> Iterator[Any]:
        """The results of the tasks, in their order, worked out by as many workers at once."""
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
    """The tasks of one run: those that wait, those under way, and what has come of the others."""

    def __init__(
        self, executor: RayExecutor, ray: Any, tasks: Sequence[Task[Any]], room: int, advance: Advance
    ) -> None:
        self.executor, self.ray, self.tasks, self.room, self.advance = executor, ray, tasks, room, advance
        self.run = uuid.uuid4().hex
        self.parcels = RayParcels(ray)
        self.surroundings = ray.put(pickle.dumps(_surroundings()))
        self.work = _work(session_of(ray)).options(**executor.options())
        self.ears: Any = _ears(ray)
        self.ears_lost = 0
        self.waiting = deque(range(len(tasks)))
        self.packed: dict[int, Any] = {}
        self.deaths = dict.fromkeys(range(len(tasks)), 0)
        self.told = dict.fromkeys(range(len(tasks)), 0)
        self.under_way: dict[Any, int] = {}
        self.done: dict[int, Any] = {}
        self.news: Any = None

    def results(self) -> Iterator[Any]:
        for number in range(len(self.tasks)):
            while number not in self.done:
                self._hand_out()
                self._hear()
            yield self.done.pop(number)

    def _hand_out(self) -> None:
        while self.waiting and len(self.under_way) < self.room:
            number = self.waiting.popleft()
            if number not in self.packed:
                self.packed[number] = self.parcels.packed(number, self.tasks[number])
            parcel, once = self.packed[number]
            self.under_way[self.work.remote(parcel, once, self.surroundings, self.ears, (self.run, number))] = number

    def _hear(self) -> None:
        """Wait for what comes next, progress or the end of a task, and take it in."""
        if self.news is None and self.ears_lost <= self.executor.retries:
            self.news = self.ears.next.remote(self.run)
        awaited = [*self.under_way] if self.news is None else [self.news, *self.under_way]
        ready, _ = self.ray.wait(awaited, num_returns=1)
        for ref in ready:
            if ref == self.news:
                self._take_news()
            else:
                self._take_end(self.under_way.pop(ref), ref)

    def _take_news(self) -> None:
        news, self.news = self.news, None
        try:
            told = self.ray.get(news)
        except self.ray.exceptions.RayError:  # the actor's node is gone, and progress with it
            self.ears_lost += 1
            self.ears = _ears(self.ray, anew=True)
            return
        for number, rows in told.items():
            self._advance(number, rows)

    def _advance(self, number: int, rows: int) -> None:
        """Rows that an earlier attempt has told of are not told again."""
        if rows > self.told[number]:
            before, self.told[number] = self.told[number], rows
            self.advance(rows - before)

    def _take_end(self, number: int, ref: Any) -> None:
        task = self.tasks[number]
        try:
            kind, rows, content = self.ray.get(ref)
        except self.ray.exceptions.RayTaskError as error:  # what tasks raise is caught there
            raise ClusterError(f"a worker cannot run tasks of this library: {error.cause}") from error
        except self.ray.exceptions.RayError as error:
            self._begin_again(number, error)
            return
        if kind == "unfit":
            raise ClusterError(content)
        self._advance(number, rows)
        if kind == "error":
            raise opened_error(content)
        self.done[number] = task.taken(_opened(task.title, content))
        self.packed.pop(number)

    def _begin_again(self, number: int, error: Exception) -> None:
        self.deaths[number] += 1
        if self.deaths[number] > self.executor.retries:
            task = self.tasks[number]
            raise WorkerDiedError(task.title, task.rows, None) from error
        self.waiting.appendleft(number)

    def _unfinished(self, refs: list[Any], seconds: float) -> list[Any]:
        return list(self.ray.wait(refs, num_returns=len(refs), timeout=seconds)[1]) if refs else []

    def stop(self) -> None:
        """Cancel the tasks that are under way."""
        if not self.ray.is_initialized():  # They have ended, and a question to Ray would start another cluster.
            return
        # Ray 2.60 ends this whole process when a task ends while it is cancelled. So those that are about to end, may.
        left = self._unfinished(list(self.under_way), _SECONDS_TO_END)
        # A worker that only lets go of its task keeps what it has loaded.
        for force, seconds in ((False, _SECONDS_TO_HEED), (True, _SECONDS_TO_DIE)):
            for ref in left:
                self.ray.cancel(ref, force=force)
            left = self._unfinished(left, seconds)
        self.ears.forget.remote(self.run)


def _surroundings() -> Surroundings:
    from crucible_datasets.sources.hub.surroundings import token

    here, known = Surroundings.here(), token()
    if known is not None:  # It may stand in a file of this machine.
        here.environment.setdefault("HF_TOKEN", known)
    return here


def _opened(title: str, result: Packed) -> Any:
    try:
        return opened(result)
    except Exception as error:
        raise NotPicklableError(title, "gave a result that cannot be read here", error) from error


@cache
def _work(session: str) -> Any:
    """What does tasks: one function for all runs of this program, or each worker would open it for every run."""
    return need("ray", "ray").remote(fit_worker(__version__))


@cache
def _made_ears(session: str, number: int) -> Any:
    ray = need("ray", "ray")
    return ray.remote(rayworker.Ears).options(num_cpus=0, max_concurrency=1000).remote()


_lost_ears = 0


def _ears(ray: Any, anew: bool = False) -> Any:
    """Who hears the progress of tasks: one actor for all runs of this program."""
    global _lost_ears
    _lost_ears += anew
    return _made_ears(session_of(ray), _lost_ears)


def _counted(amounts: Mapping[str, float]) -> str:
    """Resources in words, without those by which Ray tells nodes apart."""
    shown = {name: amount for name, amount in amounts.items() if amount and ":" not in name and "memory" not in name}
    return ", ".join(f"{amount:g} {name}" for name, amount in sorted(shown.items())) or "nothing"


EXECUTOR = RayExecutor()
