"""A box from outside: a fork server process and a socket to it.

The fork server is a new `python -I -S` with an empty environment. The files of a check are anonymous memory, passed
as file descriptors, so nothing of a check is ever on disk.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import crucible_datasets
from crucible_datasets.evaluation.sandbox.limits import Limits
from crucible_datasets.exceptions import SandboxUnavailableError

_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from crucible_datasets.evaluation.sandbox.inside.forkserver import main; "
    "del sys.path[0]; main(int(sys.argv[2]))()"
)
_SECONDS_TO_START = 30.0
_SECONDS_OF_GRACE = 5.0  # for a fork server that is delayed on a busy machine
_LONGEST = 1 << 16


class Box:
    """A sandbox that runs one check at a time."""

    def __init__(self) -> None:
        if not sys.platform.startswith("linux"):
            raise SandboxUnavailableError(f"namespaces of Linux, and this is {sys.platform}")
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.broken = False
        self.process = _server(theirs)
        theirs.close()
        hello = self._answer(_SECONDS_TO_START)
        if "ready" not in hello:
            self.close()
            raise SandboxUnavailableError(str(hello.get("refused", "a box that starts, and it did not")))

    def check(self, roles: Mapping[str, Mapping[int, int]], decisive: str, limits: Limits) -> dict[str, Any]:
        """How each role ended. A role refers to its files by descriptor number."""
        files = [file for places in roles.values() for file in places.values()]
        numbered = iter(range(len(files)))
        order = {
            "roles": [
                {"name": name, "files": {place: next(numbered) for place in places}} for name, places in roles.items()
            ],
            "decisive": decisive,
            "seconds": limits.timeout,
            "limits": limits.order(),
        }
        socket.send_fds(self.control, [json.dumps(order).encode()], files)
        answer = self._answer(limits.timeout + _SECONDS_OF_GRACE)
        if answer.get("trouble"):
            raise SandboxUnavailableError(f"a process that can be shut in ({answer['trouble']})")
        return answer

    def _answer(self, seconds: float) -> dict[str, Any]:
        """The reply of the fork server; {} after a timeout or if it has ended, and then the box is marked as broken."""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        message = self.control.recv(_LONGEST) if poll.poll(seconds * 1000) else b""
        self.broken = not message
        answer: dict[str, Any] = json.loads(message) if message else {}
        return answer

    def close(self) -> None:
        """Stop the fork server and everything in the box."""
        self.control.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def _server(control: socket.socket) -> subprocess.Popen[bytes]:
    root = os.path.dirname(os.path.dirname(os.path.abspath(crucible_datasets.__file__)))
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _START, root, str(control.fileno())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={},
        cwd="/",
        pass_fds=[control.fileno()],
        start_new_session=True,
    )
