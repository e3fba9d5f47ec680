"""Tasks and results as bytes for another process on this machine.

Functions are pickled by value where workers cannot import them: from the main module, and from modules whose import
is still in progress. Large buffers are written once, to an unlinked file that all workers map.
"""

from __future__ import annotations

import io
import mmap
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import IO, Any

import cloudpickle

from crucible_datasets.exceptions import NotPicklableError
from crucible_datasets.executors.base import Once, Task
from crucible_datasets.executors.packages import modules_behind

_SMALL = 4096
_ALIGNED = 64  # as Arrow wants its buffers
Place = tuple[int, int, bool]  # first byte, length, whether it must not be written to


class TaskPickler:
    """Pickles tasks, with the large buffers of all of them in one shared file."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._placed: dict[tuple[int, int], Place] = {}
        self.modules: set[str] = set()  # modules that the tasks refer to
        self._held: list[Any] = []  # keeps buffers alive, so that their addresses stay unique
        self._once: dict[int, tuple[bytes, list[Place]]] = {}
        self._unfinished = unfinished_modules()

    def packed(self, rank: int, task: Task[Any]) -> bytes:
        """A task as bytes."""
        try:
            with by_value(self._unfinished):
                content, places = self._pickled((rank, task.run))
        except Exception as error:
            raise NotPicklableError(task.title, "cannot be sent to another process", error) from error
        return pickle.dumps((task.title, content, places))

    def _pickled(self, value: Any) -> tuple[bytes, list[Place]]:
        places: list[Place] = []

        def keep_inside(buffer: pickle.PickleBuffer) -> bool:
            content = buffer.raw()
            if content.nbytes >= _SMALL:
                places.append(self._place(content))
            return content.nbytes < _SMALL

        file = io.BytesIO()
        _ModuleTrackingPickler(file, self._shared_once, keep_inside, self.modules).dump(value)
        return file.getvalue(), places

    def _shared_once(self, once: Once[Any]) -> tuple[int, bytes, list[Place]]:
        """A value that tasks share, pickled once; each worker unpickles it once."""
        if id(once) not in self._once:
            self._once[id(once)] = self._pickled(once.value)
            self._held.append(once)
        return id(once), *self._once[id(once)]

    def _place(self, content: memoryview) -> Place:
        import pyarrow as pa

        key = pa.py_buffer(content).address, content.nbytes
        if key not in self._placed:
            self._held.append(content)
            # Arrow never writes to its buffers, even where they claim to be mutable.
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
        """The descriptor of the file with large buffers, if there are any."""
        if self._file is None:
            return None
        self._file.flush()
        return self._file.fileno()

    def __enter__(self) -> TaskPickler:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


class SharingPickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Replaces every `Once` by the persistent id that `named` returns."""

    def __init__(self, file: IO[bytes], named: Callable[[Once[Any]], Any] | None, keep: Any) -> None:
        super().__init__(file, 5, keep)
        self._named = named

    def persistent_id(self, value: Any) -> Any:
        return self._named(value) if self._named and type(value) is Once else None


class _ModuleTrackingPickler(SharingPickler):
    """Records the modules of everything that it pickles."""

    def __init__(self, file: IO[bytes], named: Callable[[Once[Any]], Any], keep: Any, noted: set[str]) -> None:
        super().__init__(file, named, keep)
        self._noted = noted

    def reducer_override(self, value: Any) -> Any:
        self._noted.update(modules_behind(value))
        return super().reducer_override(value)


class SharingUnpickler(pickle.Unpickler):
    """Restores every `Once`; `known` looks up its value by the persistent id."""

    def __init__(self, content: bytes, buffers: list[Any], known: Callable[[Any], Any]) -> None:
        super().__init__(io.BytesIO(content), buffers=buffers)
        self._known = known

    def persistent_load(self, named: Any) -> Once[Any]:
        return Once(self._known(named))


_opened_once: dict[int, Any] = {}  # in a worker, which serves a single run


def opened(message: bytes, shared: int | None) -> tuple[str, int, Any]:
    """The title, the rank and the function of a task; `shared` is the file of large buffers."""
    title, content, places = pickle.loads(message)  # noqa: S301  (from the program itself)

    def value_of(named: tuple[int, bytes, list[Place]]) -> Any:
        number, inner, its_places = named
        if number not in _opened_once:
            _opened_once[number] = SharingUnpickler(inner, _buffers(its_places, shared), value_of).load()
        return _opened_once[number]

    try:
        return title, *SharingUnpickler(content, _buffers(places, shared), value_of).load()
    except Exception as error:
        raise NotPicklableError(title, "cannot be opened in another process", error) from error


def _buffers(places: list[Place], shared: int | None) -> list[Any]:
    if not places or shared is None:
        return []
    # Writable buffers are mapped privately: changes stay in this process.
    kinds = {mmap.ACCESS_READ if fixed else mmap.ACCESS_COPY for *_, fixed in places}
    maps = {kind: memoryview(mmap.mmap(shared, 0, access=kind)) for kind in kinds}
    return [
        maps[mmap.ACCESS_READ if fixed else mmap.ACCESS_COPY][start : start + size] for start, size, fixed in places
    ]


def unfinished_modules() -> list[ModuleType]:
    """Modules whose import is in progress. A worker that imported one would repeat the call that waits for it."""
    return [
        module
        for module in list(sys.modules.values())
        if isinstance(module, ModuleType) and getattr(getattr(module, "__spec__", None), "_initializing", False)
    ]


@contextmanager
def by_value(modules: Sequence[ModuleType]) -> Iterator[None]:
    """Within this context, functions of these modules are pickled by value, not by name."""
    known = cloudpickle.list_registry_pickle_by_value() if modules else ()
    added = [module for module in modules if module.__name__ not in known]
    for module in added:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in added:
            cloudpickle.unregister_pickle_by_value(module)


def packed_result(title: str, result: Any) -> bytes:
    """The result of a task, pickled."""
    try:
        return cloudpickle.dumps(result, 5)
    except Exception as error:
        raise NotPicklableError(title, "gave a result that cannot be sent back", error) from error


def opened_result(title: str, message: bytes) -> Any:
    try:
        return pickle.loads(message)  # noqa: S301  (from a worker of this program)
    except Exception as error:
        raise NotPicklableError(title, "gave a result that cannot be read here", error) from error
