"""Set-up of a process in the box before it runs untrusted code: a private folder, limits, no privileges."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping

from crucible_datasets.evaluation.sandbox.inside import candidate, examiner, kernel, namespaces, program, syscalls
from crucible_datasets.evaluation.sandbox.inside.descriptors import LINK, RESULT, TEXT, TROUBLE

_MIB = 1 << 20


def occupy(role: str, files: Mapping[int, int], limits: Mapping[str, int]) -> Callable[[], None]:
    """Restrict this process, and return what it runs."""
    try:
        _keep_only(files)
        _shut_in(limits)
        os.close(TROUBLE)
    except BaseException as error:  # noqa: BLE001 – whatever it is, this process ends here
        _say(error, TROUBLE)
        os._exit(1)
    return _ROLES[role]


def _to_the_end(role: Callable[[], None]) -> None:
    """Run a role; whatever it raises, this process ends here."""
    try:
        role()
    except BaseException as error:  # noqa: BLE001
        _say(error, 2)
        os._exit(1)
    os._exit(0)


_ROLES: dict[str, Callable[[], None]] = {
    "program": lambda: program.run_script(TEXT),
    "candidate": lambda: _to_the_end(lambda: candidate.serve(TEXT, LINK)),
    "examiner": lambda: _to_the_end(lambda: examiner.examine(TEXT, LINK, RESULT)),
    "together": lambda: _to_the_end(lambda: program.run_together(TEXT, RESULT)),
}


def _say(error: BaseException, file: int) -> None:
    with contextlib.suppress(OSError):
        os.write(file, f"{type(error).__name__}: {error}"[:1000].encode("utf-8", "replace"))


def _keep_only(files: Mapping[int, int]) -> None:
    """Close all other file descriptors, above all those of the fork server."""
    # Duplicated to high numbers first, so that none is overwritten.
    high = {place: os.dup2(file, 200 + place) for place, file in files.items()}
    os.closerange(0, 200)
    os.closerange(210, 1 << 16)
    for place in range(10):
        if place in high:
            os.dup2(high[place], place)
    os.closerange(200, 210)
    for place in (0, 1, 2):
        if place not in high:
            os.dup2(os.open("/dev/null", os.O_RDWR), place)


def _shut_in(limits: Mapping[str, int]) -> None:
    os.setsid()
    kernel.unshare(kernel.NEWNS | kernel.NEWIPC)
    _show_standard_input()
    options = f"size={limits['folder']},nr_inodes=4096,mode=700,uid={namespaces.OCCUPANT},gid={namespaces.OCCUPANT}"
    kernel.mount("tmpfs", "/tmp", "tmpfs", kernel.NOSUID | kernel.NODEV, options)  # noqa: S108 – its own
    kernel.mount("/tmp", "/dev/shm", flags=kernel.BIND)  # noqa: S108
    os.chdir("/tmp")  # noqa: S108
    os.setresgid(namespaces.OCCUPANT, namespaces.OCCUPANT, namespaces.OCCUPANT)
    os.setresuid(namespaces.OCCUPANT, namespaces.OCCUPANT, namespaces.OCCUPANT)
    kernel.drop_capabilities()
    _limit(limits)
    kernel.install_filter(syscalls.program(kernel.machine()))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    sys.setrecursionlimit(1000)


def _show_standard_input() -> None:
    """Make the standard input readable at /dev/stdin, which elsewhere is a link into /proc."""
    size = os.fstat(0).st_size
    options = f"size={size + (1 << 16)},nr_inodes=4,mode=755"
    kernel.mount("tmpfs", "/tmp", "tmpfs", kernel.NOSUID | kernel.NODEV, options)  # noqa: S108 – covered afterwards
    with open("/tmp/stdin", "wb") as copy:  # noqa: S108
        offset = 0
        while offset < size:
            offset += os.sendfile(copy.fileno(), 0, offset, size - offset)
    os.chmod("/tmp/stdin", 0o444)  # noqa: S108
    kernel.mount("/tmp/stdin", "/dev/stdin", flags=kernel.BIND)  # noqa: S108
    kernel.unmount("/tmp")  # noqa: S108


def _limit(limits: Mapping[str, int]) -> None:
    for what, amount in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_CPU, limits["cpu"]),
        (resource.RLIMIT_FSIZE, limits["output"]),
        (resource.RLIMIT_NPROC, limits["threads"]),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        amount = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        resource.setrlimit(what, (amount, amount))
    # Programs raise the limit of the stack themselves; that of the memory covers it.
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (64 * _MIB if hard == resource.RLIM_INFINITY else hard, hard))
