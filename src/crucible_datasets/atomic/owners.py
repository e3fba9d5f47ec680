"""Names of temporary files, which identify their owner, so that others can tell when it is dead.

    data.csv~1f3a9c02-4711-88123~4711-9c0e12ab.tmp
    ↑ what   ↑ owner            ↑ thread and chance

An owner is a machine (host, boot and process namespace), a process id and its start time, since ids are reused.
"""

from __future__ import annotations

import os
import platform
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import NamedTuple

import xxhash

# Processes of other machines cannot be checked. None goes a day without touching its files.
SILENCE_OF_THE_DEAD = 24 * 3600.0
_NAME = re.compile(
    r"(?P<what>.*)~(?P<owner>[0-9a-f]{8}-\d+-\d+)~(?P<thread>\d+)-[0-9a-f]{8}(?P<suffix>\.\w+)", re.DOTALL
)


class Unfinished(NamedTuple):
    """The parsed name of a temporary file."""

    what: str
    owner: str
    thread: str
    suffix: str

    @property
    def is_mine(self) -> bool:
        """Whether it belongs to this thread."""
        return (self.owner, self.thread) == (me(), str(threading.get_native_id()))


def unfinished_name(what: str, suffix: str = ".tmp") -> str:
    """A new temporary name for this thread; a long `what` is cut, because file names are limited to 255 bytes."""
    return f"{_short(what)}~{me()}~{threading.get_native_id()}-{os.urandom(4).hex()}{suffix}"


def _short(what: str) -> str:
    """At most 40 characters that tell a name from others, also from those that begin alike."""
    return what if len(what) <= 40 else f"{what[:31]}-{xxhash.xxh32_hexdigest(os.fsencode(what))}"


def taken_apart(name: str) -> Unfinished | None:
    """The parts of a name, or None if it is not that of a temporary file."""
    match = _NAME.fullmatch(name)
    return Unfinished(*match.groups()) if match else None


def unfinished_in(folder: str, what: str | None = None) -> Iterator[tuple[str, Unfinished]]:
    """The temporary files in a folder, of one target or all, with their parsed names."""
    with suppress(FileNotFoundError, PermissionError):  # there are none, or they are not for us
        for name in sorted(os.listdir(folder)):
            parts = taken_apart(name) if "~" in name else None
            if parts is not None and (what is None or parts.what == _short(what)):
                yield os.path.join(folder, name), parts


def me() -> str:
    """This process as an owner."""
    return _owner(os.getpid())


def is_alive(owner: str) -> bool | None:
    """Whether a process is still running; None if unknown, as for other machines."""
    machine, _, process = owner.partition("-")
    pid, _, started = process.partition("-")
    if machine != _machine() or not pid.isdecimal():
        return None
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # the process of another user
    state, began = _state_and_start(int(pid))
    # A killed process stays a zombie until its parent reaps it.
    return state not in {"Z", "X"} and began in {started, "0"}


def is_abandoned(owner: str, silent_for: float) -> bool:
    """Whether the owner is gone, given the seconds since the file was last touched."""
    alive = is_alive(owner)
    return silent_for > SILENCE_OF_THE_DEAD if alive is None else not alive


@cache
def _owner(pid: int) -> str:
    return f"{_machine()}-{pid}-{_state_and_start(pid)[1]}"


@cache
def _machine() -> str:
    facts = [platform.node()]
    with suppress(OSError), open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        facts.append(file.read())
    with suppress(OSError):
        facts.append(os.readlink("/proc/self/ns/pid"))
    return xxhash.xxh32_hexdigest("\n".join(facts).encode())


def _state_and_start(pid: int) -> tuple[str, str]:
    """The state and start time of a process, if the system provides them."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return fields[0], fields[19]
    except (OSError, IndexError):
        return "?", "0"
