"""Tasks as objects in Ray's object store: pickled bytes, and large buffers out of band, which workers map.

A `Once` is stored once for all tasks that share it.
"""

from __future__ import annotations

import io
import pickle
from typing import Any
from weakref import WeakKeyDictionary

from crucible_datasets.exceptions import NotPicklableError
from crucible_datasets.executors.base import Once, Task
from crucible_datasets.executors.pickling import SharingPickler, SharingUnpickler, by_value, unfinished_modules

Packed = tuple[bytes, list[tuple[Any, bool]]]  # the bytes; the buffers, and whether they must not be written to


# Values already in the store, with their session: later runs reuse them.
_stored: WeakKeyDictionary[Once[Any], tuple[str, Any]] = WeakKeyDictionary()


class RayTaskPickler:
    """Pickles the tasks of one run into Ray's store."""

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
                message = self._ray.put((task.title, rank, packed(task.run, number_of)))
        except NotPicklableError:
            raise
        except Exception as error:
            raise NotPicklableError(task.title, "cannot be sent to another machine", error) from error
        return message, wanted


def session_of(ray: Any) -> str:
    """An identifier of this connection to a cluster."""
    here = ray.get_runtime_context()
    return f"{here.gcs_address} {here.get_job_id()}"


def packed(value: Any, number_of: Any = None) -> Packed:
    """A value, pickled; `number_of` numbers the shared values, which are sent separately."""
    import pyarrow as pa

    buffers: list[tuple[Any, bool]] = []

    def keep(buffer: pickle.PickleBuffer) -> None:
        content = buffer.raw()
        # Arrow never writes to its buffers, even where they claim to be mutable.
        buffers.append((pa.py_buffer(content), content.readonly or isinstance(content.obj, pa.Buffer)))

    file = io.BytesIO()
    SharingPickler(file, number_of, keep).dump(value)
    return file.getvalue(), buffers


def opened(packed: Packed, once: Any = None) -> Any:
    """The unpickled value; `once` looks up a shared value by its number."""
    content, buffers = packed
    return SharingUnpickler(content, [_usable(*buffer) for buffer in buffers], once).load()


def _usable(buffer: Any, fixed: bool) -> Any:
    """A read-only buffer shared by all workers of a node; a copy if the value may be written to."""
    return buffer if fixed else bytearray(buffer)
