"""What runs on a Ray cluster: tasks, and the actor that hears of their progress."""

from __future__ import annotations

import asyncio
import pickle
import time
import warnings
from collections import OrderedDict, defaultdict
from typing import Any

from crucible_datasets.exceptions import NotPicklableError
from crucible_datasets.executors.failures import packed_error
from crucible_datasets.executors.rayparcels import Packed, opened, packed
from crucible_datasets.registry import need

_SECONDS_BETWEEN_REPORTS = 0.1
_SHARED_VALUES_KEPT = 4  # They may hold models; where these are on a GPU, no second one may have room.
_shared: OrderedDict[str, Any] = OrderedDict()

End = tuple[str, int, Any]  # result, error or unfit; rows done; and which


class Ears:
    """Hears how many rows tasks have done, and tells the program when it asks."""

    def __init__(self) -> None:
        self._told: dict[str, dict[int, int]] = defaultdict(dict)
        self._news: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def hear(self, run: str, number: int, rows: int) -> None:
        self._told[run][number] = rows
        self._news[run].set()

    async def next(self, run: str) -> dict[int, int]:
        """The rows of all tasks that told of some since the last time; waits for the first one."""
        await self._news[run].wait()
        self._news[run].clear()
        return self._told.pop(run, {})

    async def forget(self, run: str) -> None:
        self._told.pop(run, None)
        if run in self._news:
            self._news.pop(run).set()


class _Progress:
    def __init__(self, ears: Any, run: str, number: int) -> None:
        self.ears, self.run, self.number = ears, run, number
        self.rows, self.told = 0, time.monotonic()

    def advance(self, rows: int) -> None:
        self.rows += rows
        if time.monotonic() - self.told >= _SECONDS_BETWEEN_REPORTS:
            self.told = time.monotonic()
            self.ears.hear.remote(self.run, self.number, self.rows)


def work(parcel: Any, once: dict[int, Any], surroundings: bytes, ears: Any, place: tuple[str, int]) -> End:
    """Do one task; what it gave, or raised."""
    progress = _Progress(ears, *place)
    try:
        pickle.loads(surroundings).take_over_elsewhere()  # noqa: S301  (from the program)
        title, rank, content = parcel
        result = _task(title, content, once)(rank, progress.advance)
        return "result", progress.rows, _sent(title, result)
    except BaseException as error:  # noqa: BLE001  (the program raises it)
        return "error", progress.rows, packed_error(error)


def _task(title: str, content: Packed, once: dict[int, Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Modules are imported that the program has imported long ago.
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
