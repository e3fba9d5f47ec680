"""Linux system calls that Python does not have, made through the C library."""

from __future__ import annotations

import ctypes
import os
import platform

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
BIND, RECURSIVE, PRIVATE, DETACH = 0x1000, 0x4000, 0x40000, 2
NOSUID, NODEV = 2, 4

_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_MOUNT_SETATTR = 442  # the same number on both architectures
_AT_RECURSIVE = 0x8000
_ATTR_READ_ONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_PDEATHSIG, _NO_NEW_PRIVS, _CAPBSET_DROP, _SECCOMP = 1, 38, 24, 22
_CAPABILITY_VERSION_3 = 0x20080522

_c = ctypes.CDLL(None, use_errno=True)


def machine() -> str:
    """The machine name of the kernel."""
    return platform.machine()


def _checked(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def _syscall(number: int, *arguments: object, call: str) -> None:
    _checked(_c.syscall(ctypes.c_long(number), *arguments), call)


def unshare(flags: int) -> None:
    """Move to new namespaces."""
    _checked(_c.unshare(flags), "unshare")


def setns(fd: int, flags: int) -> None:
    """Enter the namespaces of the process of `fd`."""
    _checked(_c.setns(fd, flags), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount `source` at `target`."""
    call = f"mount {source} at {target}"
    _checked(_c.mount(os.fsencode(source), os.fsencode(target), kind.encode(), flags, options.encode()), call)


def unmount(target: str) -> None:
    """Unmount `target` lazily."""
    _checked(_c.umount2(os.fsencode(target), DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root, and mount the old root at `old`."""
    _syscall(_PIVOT_ROOT[machine()], os.fsencode(new), os.fsencode(old), call="pivot_root")


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "namespace"))


def make_read_only(path: str, *, devices: bool = False, recursive: bool = True) -> None:
    """Make the mount at `path` read-only, without set-user-id programs and, unless `devices`, without devices."""
    wanted = _ATTR_READ_ONLY | _ATTR_NOSUID | (0 if devices else _ATTR_NODEV)
    attributes = _MountAttributes(wanted, 0, 0, 0)
    _syscall(
        _MOUNT_SETATTR,
        ctypes.c_int(-100),
        os.fsencode(path),
        ctypes.c_uint(_AT_RECURSIVE if recursive else 0),
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
        call=f"mount_setattr {path}",
    )


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    _checked(_c.prctl(_PDEATHSIG, 9, 0, 0, 0), "prctl")


def drop_capabilities() -> None:
    """Drop all capabilities permanently."""
    for capability in range(64):
        if _c.prctl(_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _syscall(_CAPSET[machine()], header, (ctypes.c_uint32 * 6)(), call="capset")
    _checked(_c.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def install_filter(instructions: bytes) -> None:
    """Install a seccomp filter, a BPF program, for all later system calls."""
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = _Program(len(instructions) // 8, ctypes.addressof(buffer))
    _checked(_c.prctl(_SECCOMP, 2, ctypes.byref(program), 0, 0), "seccomp")
