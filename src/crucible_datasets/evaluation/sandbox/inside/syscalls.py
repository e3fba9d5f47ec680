"""The seccomp filter of processes in the box, a BPF program.

It adds to namespaces and resource limits: no new processes or programs (so that the memory limit covers everything a
candidate does), no new namespaces, no access to other processes, no memory outside the limits, and none of the rarely
used calls in which kernels had vulnerabilities.
"""

from __future__ import annotations

import errno
import struct

# name: (x86_64, aarch64)
_REFUSED: dict[str, tuple[int, int]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "delete_module": (176, 106),
    "execve": (59, 221),
    "execveat": (322, 281),
    "finit_module": (313, 273),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "init_module": (175, 105),
    "io_uring_setup": (425, 425),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "semget": (64, 190),
    "setns": (308, 268),
    "shmget": (29, 194),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
_ONLY_X86 = (57, 58)  # fork, vfork
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_SOCKET = {"x86_64": 41, "aarch64": 198}
_LOCAL = 1  # AF_UNIX; some other families, such as vsock, are not limited by namespaces
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_THREAD = 0x10000

_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUALS, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16  # offsets in seccomp_data


def supported(machine: str) -> bool:
    """Whether the system call numbers of this architecture are known."""
    return machine in _ARCHITECTURE


def program(machine: str) -> bytes:
    """The filter: refused calls fail, threads and local sockets are allowed, calls of another architecture kill."""
    steps = [
        _step(_LOAD, _ARCH),
        _step(_EQUALS, _ARCHITECTURE[machine], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        # Numbers from 2**30 on are the x32 ABI, a second number for every call.
        _step(_AT_LEAST, 1 << 30, 0, 1),
        _step(_RETURN, _FAIL | errno.EPERM),
    ]
    for number in _refused(machine):
        steps += [_step(_EQUALS, number, 0, 1), _step(_RETURN, _FAIL | errno.EPERM)]
    # Filters cannot see the flags of clone3. On ENOSYS, the C library falls back to clone.
    steps += [_step(_EQUALS, _CLONE3, 0, 1), _step(_RETURN, _FAIL | errno.ENOSYS)]
    steps += _only_if(_CLONE[machine], _step(_HAS_BITS, _THREAD, 1, 0))
    steps += _only_if(_SOCKET[machine], _step(_EQUALS, _LOCAL, 1, 0))
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def _only_if(number: int, condition: bytes) -> list[bytes]:
    """Instructions that allow a call if its first argument meets the condition, which then jumps over the refusal."""
    refusal = _step(_RETURN, _FAIL | errno.EPERM)
    return [_step(_EQUALS, number, 0, 4), _step(_LOAD, _FIRST_ARGUMENT), condition, refusal, _step(_RETURN, _ALLOW)]


def _refused(machine: str) -> list[int]:
    column = list(_ARCHITECTURE).index(machine)
    return [both[column] for both in _REFUSED.values()] + list(_ONLY_X86 if machine == "x86_64" else ())


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
