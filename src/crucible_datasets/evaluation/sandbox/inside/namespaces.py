"""The namespaces of a box, with a root file system that contains the interpreter and nothing else.

After `enter`, a process has no network, and sees only its own processes and the files of the interpreter, read-only.
This needs no privileges; root becomes an ordinary user inside, so that resource limits apply.
"""

from __future__ import annotations

import os
import socket
import sys

from crucible_datasets.evaluation.sandbox.inside import kernel

OCCUPANT = 1000  # the user inside
_HOST_OF_SUPERUSER = 65534  # the user id of the occupant outside, if root opens the box
_DEVICES = ("null", "zero", "urandom", "random")
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/nix/store")
_ALL = kernel.NEWUSER | kernel.NEWNS | kernel.NEWPID | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS


def enter() -> None:
    """Enter new namespaces; the next forked process is the first of the PID namespace."""
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        os.setgroups([])
        _mapped_by_a_superuser()
    else:
        kernel.unshare(_ALL)
        _write_maps("self", f"{OCCUPANT} {user} 1", f"{OCCUPANT} {group} 1")
    socket.sethostname("box")
    _build_root()


def _mapped_by_a_superuser() -> None:
    """Map two users, which only a process outside may do: a forked helper stays outside for that."""
    reading, writing = os.pipe()
    outer = os.getpid()
    pid = os.fork()
    if pid == 0:
        _map_on_signal(reading, writing, outer)
    os.close(reading)
    try:
        kernel.unshare(_ALL)
    finally:
        os.close(writing)  # which signals the helper
    if os.waitpid(pid, 0)[1] != 0:
        raise PermissionError("the users of the box could not be mapped")


def _map_on_signal(reading: int, writing: int, outer: int) -> None:
    status = 1
    try:
        os.close(writing)
        os.read(reading, 1)
        users = f"0 0 1\n{OCCUPANT} {_HOST_OF_SUPERUSER} 1"
        _write_maps(str(outer), users, users)
        status = 0
    finally:
        os._exit(status)


def _write_maps(process: str, users: str, groups: str) -> None:
    if process == "self":
        _write(f"/proc/{process}/setgroups", "deny")
    _write(f"/proc/{process}/uid_map", users)
    _write(f"/proc/{process}/gid_map", groups)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _build_root() -> None:
    """Build a root file system in memory. The old root is at /old until the interpreter is bind-mounted."""
    kernel.mount("none", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount("tmpfs", "/tmp", "tmpfs", kernel.NOSUID | kernel.NODEV, "size=1m,mode=755")  # noqa: S108 – a mount point
    os.mkdir("/tmp/old")  # noqa: S108
    kernel.pivot_root("/tmp", "/tmp/old")  # noqa: S108
    os.chdir("/")
    for path in _shown():
        _show(path)
    for device in _DEVICES:
        _show_device(f"/dev/{device}")
    os.close(os.open("/dev/stdin", os.O_CREAT | os.O_WRONLY))  # each occupant mounts its own input there
    os.mkdir("/dev/fd")
    os.symlink("/dev/stdin", "/dev/fd/0")
    os.mkdir("/dev/shm")  # noqa: S108 – likewise, for semaphores
    os.mkdir("/tmp")  # noqa: S108
    kernel.unmount("/old")
    os.rmdir("/old")
    kernel.make_read_only("/", recursive=False)


def _shown() -> list[str]:
    """The folders that the interpreter needs, without those inside another."""
    own = {f"{prefix.rstrip('/')}/lib" for prefix in (sys.base_prefix, sys.base_exec_prefix)}
    own.add(os.path.dirname(os.__file__))
    shown: list[str] = []
    for path in sorted({*own, *_LIBRARIES}):
        if not any(path.startswith(outer + "/") for outer in shown):
            shown.append(path)
    return shown


def _show(path: str) -> None:
    if os.path.islink("/old" + path):
        os.symlink(os.readlink("/old" + path), path)
    elif os.path.isdir("/old" + path):
        os.makedirs(path, exist_ok=True)
        kernel.mount("/old" + path, path, flags=kernel.BIND | kernel.RECURSIVE)
        kernel.make_read_only(path)


def _show_device(path: str) -> None:
    if os.path.exists("/old" + path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        kernel.mount("/old" + path, path, flags=kernel.BIND)
