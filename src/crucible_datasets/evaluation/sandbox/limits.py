"""Resource limits of a check."""

from __future__ import annotations

import math
from dataclasses import dataclass

_MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Seconds of a check; bytes of memory, of output and of files; threads.

    >>> Limits(timeout=3.0).cpu
    4
    """

    timeout: float = 3.0
    memory: int = 1024 * _MIB
    output: int = 16 * _MIB
    folder: int = 64 * _MIB
    threads: int = 32

    @property
    def cpu(self) -> int:
        """CPU seconds: more than the wall-clock timeout, which is reached first unless there are threads."""
        return math.ceil(self.timeout) + 1

    def order(self) -> dict[str, int]:
        """The limits in the message to the fork server."""
        return {
            "memory": self.memory,
            "output": self.output,
            "folder": self.folder,
            "threads": self.threads,
            "cpu": self.cpu,
        }
