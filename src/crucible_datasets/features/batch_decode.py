"""Decoding many values of a column: media by several threads, in order, with errors that name column and row.

Libraries that decode media release the GIL, so threads help. Only a few values are decoded in advance, since an image
takes many times the memory of its file.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import call
from typing import TYPE_CHECKING, Any

import numpy as np

from crucible_datasets import config
from crucible_datasets.exceptions import BadMediaError
from crucible_datasets.features.decode import Decoder, decoder
from crucible_datasets.features.decode_pipeline import Stages
from crucible_datasets.features.media import Media
from crucible_datasets.features.types import any_leaf
from crucible_datasets.lazy_imports import LazyModule

if TYPE_CHECKING:
    from concurrent import futures
else:
    futures = LazyModule("concurrent.futures")  # rarely needed

_MOST_THREADS = 8
_VALUES_AT_ONCE = 8  # submitting values one by one takes a tenth of the time of a small image
_AHEAD_PER_THREAD = 2


def decoded(values: Sequence[Any], feature: Any, column: str | None = None) -> list[Any]:
    """The values as the user sees them."""
    if decoder(feature) is None:
        return list(values) if not isinstance(values, list) else values
    return list(in_turn(values, feature, column))


def in_turn(values: Sequence[Any], feature: Any, column: str | None = None) -> Iterator[Any]:
    """The values as the user sees them, one after the other."""
    decode = decoder(feature)
    if decode is None:
        return iter(values)
    if not is_media(feature):
        return map(decode, values)
    parts = [values[at : at + _VALUES_AT_ONCE] for at in range(0, len(values), _VALUES_AT_ONCE)]
    threads = min(threads_for(feature), len(parts))
    if threads > 1 and (stages := Stages.of(feature)) is not None:
        read = _by_threads(parts, partial(_part, stages.read), threads)
        begun = map(partial(_then, stages.begin), read)
        return _located(_by_threads(begun, partial(_then, call), threads), column)
    if threads > 1:
        return _located(_by_threads(parts, partial(_part, decode), threads), column)
    return _located((_part(decode, [value]) for value in values), column)


def is_media(feature: Any) -> bool:
    """Whether a feature holds media, which take time and memory to decode."""
    return any_leaf(feature, (Media,))


def outcomes(values: Sequence[Any], feature: Any, show: Callable[[Any], Any] | None = None) -> list[Any]:
    """The decoded values, formatted by `show` if given, with an error in place of each that cannot be decoded."""
    decode = decoder(feature) or (lambda value: value)

    def outcome(value: Any) -> Any:
        try:
            return decode(value) if show is None else show(decode(value))
        except Exception as error:  # noqa: BLE001  (it is raised when somebody looks at the value)
            return error

    threads = min(threads_for(feature), len(values))
    if threads < 2:
        return [outcome(value) for value in values]
    with futures.ThreadPoolExecutor(threads) as pool:
        return list(pool.map(outcome, values))


def threads_for(feature: Any) -> int:
    """How many threads decode values of a feature."""
    if not is_media(feature):
        return 1
    if config.CRUCIBLE_DECODE_THREADS:
        return config.CRUCIBLE_DECODE_THREADS
    # With several processes, threads of each would only compete.
    return 1 if _is_child() else min(processors(), _MOST_THREADS)


def _is_child() -> bool:
    """Whether this process was started by `multiprocessing`, like the workers of data loaders."""
    processes = sys.modules.get("multiprocessing.process")
    return processes is not None and processes.parent_process() is not None


def processors() -> int:
    """How many processors this process may use, as far as the system says."""
    if hasattr(os, "process_cpu_count"):  # since Python 3.13, where users may set it
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


Part = tuple[list[Any], Exception | None]


def _part(decode: Decoder, values: Sequence[Any]) -> Part:
    """The values up to the first that cannot be decoded, and its error."""
    made: list[Any] = []
    try:
        made.extend(map(decode, values))
    except Exception as error:  # noqa: BLE001  (it is raised once the values before it are taken)
        return made, error
    return made, None


def _then(step: Callable[[Any], Any], part: Part) -> Part:
    """A part after one more step; an error of this step precedes an earlier step's error in a later value."""
    values, earlier = part
    made, error = _part(step, values)
    return made, error or earlier


def _by_threads(parts: Iterable[Any], work: Callable[[Any], Part], threads: int) -> Iterator[Part]:
    pool = futures.ThreadPoolExecutor(threads)
    waiting: deque[futures.Future[Part]] = deque()
    try:
        for part in parts:
            waiting.append(pool.submit(work, part))
            if len(waiting) >= threads * _AHEAD_PER_THREAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _located(parts: Iterator[Part], column: str | None) -> Iterator[Any]:
    row = 0
    for values, error in parts:
        yield from values
        row += len(values)
        if isinstance(error, BadMediaError):
            raise error.at(column, row) from error.__cause__
        if error is not None:
            raise error


class Located:
    """A context in which media errors name the column, and the row of the dataset instead of the index in `rows`.

    If `rows` is None, they name no row.
    """

    __slots__ = ("column", "rows")

    def __init__(self, column: str | None, rows: Sequence[int] | np.ndarray[Any, Any] | None) -> None:
        self.column, self.rows = column, rows

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, BadMediaError):
            row = None if self.rows is None else int(self.rows[error.row or 0])
            raise error.at(self.column, row) from error.__cause__
