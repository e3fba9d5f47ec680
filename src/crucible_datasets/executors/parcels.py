"""Tasks and results as bytes that another process of this machine opens.

Functions travel by value where they cannot be imported: from the main module, and from modules whose
import is still going on. Large buffers are written once, to a file without a name that all workers map.
"""

from __future__ import annotations

import mmap
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import IO, Any

import cloudpickle

from crucible_datasets.exceptions import NotPicklableError
from crucible_datasets.executors.base import Task

_SMALL = 4096
_ALIGNED = 64  # as Arrow wants its buffers
Place = tuple[int, int, bool]  # first byte, length, whether it must not be written to


class Parcels:
    """Packs tasks. The large buffers of all of them are in one file."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._placed: dict[tuple[int, int], Place] = {}
        self._held: list[Any] = []  # While a buffer is alive, no other has its address.

    def packed(self, rank: int, task: Task[Any]) -> bytes:
        """A task as bytes."""
        places: list[Place] = []

        def keep_inside(buffer: pickle.PickleBuffer) -> bool:
            content = buffer.raw()
            if content.nbytes >= _SMALL:
                places.append(self._place(content))
            return content.nbytes < _SMALL

        try:
            with unfinished_modules_by_value():
                content = cloudpickle.dumps((rank, task.run), 5, keep_inside)
        except Exception as error:
            raise NotPicklableError(task.title, "cannot be sent to another process", error) from error
        return pickle.dumps((task.title, content, places))

    def _place(self, content: memoryview) -> Place:
        import pyarrow as pa

        key = pa.py_buffer(content).address, content.nbytes
        if key not in self._placed:
            self._held.append(content)
            # Arrow never writes to its buffers, whatever they say.
            fixed = content.readonly or isinstance(content.obj, pa.Buffer)
            self._placed[key] = self._written(content), content.nbytes, fixed
        return self._placed[key]

    def _written(self, content: memoryview) -> int:
        from crucible_datasets.tables.spill import nameless_file

        self._file = file = self._file or nameless_file()
        start = -(-file.tell() // _ALIGNED) * _ALIGNED
        file.seek(start)
        file.write(content)
        return start

    @property
    def shared(self) -> int | None:
        """The file of large buffers, if there are any."""
        if self._file is None:
            return None
        self._file.flush()
        return self._file.fileno()

    def __enter__(self) -> Parcels:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def opened(parcel: bytes, shared: int | None) -> tuple[str, int, Any]:
    """The title, the rank and the function of a task; `shared` is the file of large buffers."""
    title, content, places = pickle.loads(parcel)  # noqa: S301  (from the program itself)
    try:
        return title, *pickle.loads(content, buffers=_buffers(places, shared))  # noqa: S301
    except Exception as error:
        raise NotPicklableError(title, "cannot be opened in another process", error) from error


def _buffers(places: list[Place], shared: int | None) -> list[memoryview]:
    if not places or shared is None:
        return []
    # What may be written to is private: nobody else sees the change.
    kinds = {mmap.ACCESS_READ if fixed else mmap.ACCESS_COPY for *_, fixed in places}
    maps = {kind: memoryview(mmap.mmap(shared, 0, access=kind)) for kind in kinds}
    return [
        maps[mmap.ACCESS_READ if fixed else mmap.ACCESS_COPY][start : start + size] for start, size, fixed in places
    ]


@contextmanager
def unfinished_modules_by_value() -> Iterator[None]:
    """A worker that imported such a module would run the very import that waits for it."""
    unfinished = [
        module
        for name, module in list(sys.modules.items())
        if isinstance(module, ModuleType)
        and getattr(getattr(module, "__spec__", None), "_initializing", False)
        and name not in cloudpickle.list_registry_pickle_by_value()
    ]
    for module in unfinished:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in unfinished:
            cloudpickle.unregister_pickle_by_value(module)


def packed_result(title: str, result: Any) -> bytes:
    """What a task gave, as bytes."""
    try:
        return cloudpickle.dumps(result, 5)
    except Exception as error:
        raise NotPicklableError(title, "gave a result that cannot be sent back", error) from error


def opened_result(title: str, parcel: bytes) -> Any:
    try:
        return pickle.loads(parcel)  # noqa: S301  (from a worker of this program)
    except Exception as error:
        raise NotPicklableError(title, "gave a result that cannot be read here", error) from error
