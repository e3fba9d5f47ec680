"""Tasks as objects in Ray's store: what is small as bytes, what is large as buffers that workers map.

A `Once` is put there once for all tasks that hold it.
"""

from __future__ import annotations

import io
import pickle
from typing import Any
from weakref import WeakKeyDictionary

from crucible_datasets.exceptions import NotPicklableError
from crucible_datasets.executors.base import Once, Task
from crucible_datasets.executors.parcels import SharingPickler, SharingUnpickler, by_value, unfinished_modules

Packed = tuple[bytes, list[tuple[Any, bool]]]  # the bytes; the buffers, and whether they must not be written to


# What is in the store, by session, as long as somebody here may send it again: runs that follow each other share it.
_stored: WeakKeyDictionary[Once[Any], tuple[str, Any]] = WeakKeyDictionary()


class RayParcels:
    """Packs the tasks of one run."""

    def __init__(self, ray: Any) -> None:
        self._ray, self._session = ray, session_of(ray)
        self._unfinished = unfinished_modules()

    def packed(self, rank: int, task: Task[Any]) -> tuple[Any, dict[int, Any]]:
        """A task as an object in the store, and the objects that it shares with others."""
        wanted: dict[int, Any] = {}

        def number_of(once: Once[Any]) -> int:
            session, ref = _stored.get(once, ("", None))
            if session != self._session:
                ref = self._ray.put(packed(once.value))
                _stored[once] = self._session, ref
            wanted[id(once)] = ref
            return id(once)

        try:
            with by_value(self._unfinished):
                parcel = self._ray.put((task.title, rank, packed(task.run, number_of)))
        except NotPicklableError:
            raise
        except Exception as error:
            raise NotPicklableError(task.title, "cannot be sent to another machine", error) from error
        return parcel, wanted


def session_of(ray: Any) -> str:
    """What tells this connection to a cluster from others, before and after it."""
    here = ray.get_runtime_context()
    return f"{here.gcs_address} {here.get_job_id()}"


def packed(value: Any, number_of: Any = None) -> Packed:
    """A value; `number_of` gives numbers to values that are sent on their own."""
    import pyarrow as pa

    buffers: list[tuple[Any, bool]] = []

    def keep(buffer: pickle.PickleBuffer) -> None:
        content = buffer.raw()
        # Arrow never writes to its buffers, whatever they say.
        buffers.append((pa.py_buffer(content), content.readonly or isinstance(content.obj, pa.Buffer)))

    file = io.BytesIO()
    SharingPickler(file, number_of, keep).dump(value)
    return file.getvalue(), buffers


def opened(packed: Packed, once: Any = None) -> Any:
    """What was packed; `once` gives a shared value by its number."""
    content, buffers = packed
    return SharingUnpickler(content, [_usable(*buffer) for buffer in buffers], once).load()


def _usable(buffer: Any, fixed: bool) -> Any:
    """A buffer of the store, which is the same for all workers of a node; a copy if it may be written to."""
    return buffer if fixed else bytearray(buffer)
