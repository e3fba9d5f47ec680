"""What runs on a Ray cluster: tasks, and the actor that collects their progress."""

from __future__ import annotations

import asyncio
import pickle
import time
import warnings
from collections import OrderedDict, defaultdict
from typing import Any

from crucible_datasets.exceptions import NotPicklableError
from crucible_datasets.executors.failures import packed_error
from crucible_datasets.executors.rayobjects import Packed, opened, packed
from crucible_datasets.registry import need

_SECONDS_BETWEEN_REPORTS = 0.1
_SHARED_VALUES_KEPT = 4  # they may hold models; a GPU may have room for only one
_shared: OrderedDict[str, Any] = OrderedDict()

End = tuple[str, int, Any]  # "result", "error" or "unfit"; rows done; the result, error or reason


class ProgressActor:
    """Collects how many rows each task has done, for the program to poll."""

    def __init__(self) -> None:
        self._reported: dict[str, dict[int, int]] = defaultdict(dict)
        self._updated: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def report(self, run: str, number: int, rows: int) -> None:
        self._reported[run][number] = rows
        self._updated[run].set()

    async def next(self, run: str) -> dict[int, int]:
        """The rows done of all tasks that reported since the last call; waits for the first report."""
        await self._updated[run].wait()
        self._updated[run].clear()
        return self._reported.pop(run, {})

    async def forget(self, run: str) -> None:
        self._reported.pop(run, None)
        if run in self._updated:
            self._updated.pop(run).set()


class _Progress:
    def __init__(self, progress_actor: Any, run: str, number: int) -> None:
        self.progress_actor, self.run, self.number = progress_actor, run, number
        self.rows, self._last_report = 0, time.monotonic()

    def advance(self, rows: int) -> None:
        self.rows += rows
        if time.monotonic() - self._last_report >= _SECONDS_BETWEEN_REPORTS:
            self._last_report = time.monotonic()
            self.progress_actor.report.remote(self.run, self.number, self.rows)


def work(message: Any, once: dict[int, Any], process_state: bytes, progress_actor: Any, place: tuple[str, int]) -> End:
    """Run one task; its result or its error."""
    progress = _Progress(progress_actor, *place)
    try:
        pickle.loads(process_state).apply_remotely()  # noqa: S301  (from the program)
        title, rank, content = message
        result = _task(title, content, once)(rank, progress.advance)
        return "result", progress.rows, _sent(title, result)
    except BaseException as error:  # noqa: BLE001  (the program raises it)
        return "error", progress.rows, packed_error(error)


def _task(title: str, content: Packed, once: dict[int, Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # importing modules again repeats warnings that the program has shown
            return opened(content, lambda number: _shared_value(once[number]))
    except Exception as error:
        raise NotPicklableError(title, "cannot be opened on another machine", error) from error


def _shared_value(ref: Any) -> Any:
    ray, key = need("ray", "ray"), ref.hex()
    if key not in _shared:
        most = 1 if ray.get_gpu_ids() else _SHARED_VALUES_KEPT
        while len(_shared) >= most:
            _shared.popitem(last=False)
        _shared[key] = opened(ray.get(ref))
    _shared.move_to_end(key)
    return _shared[key]


def _sent(title: str, result: Any) -> Packed:
    try:
        return packed(result)
    except Exception as error:
        raise NotPicklableError(title, "gave a result that cannot be sent back", error) from error
