"""The process in which math-verify works: a fork server that has imported it, and workers forked from it.

    python -I -c … → server ─fork→ worker, one per socket that the fork server is sent

A worker judges one pair after another. Before each it sets two timers whose signals kill the process; its memory is
limited, and it can neither write files nor start processes. When a worker ends, the fork server tells the caller
which pair it was judging, and forks a new one within milliseconds.
"""

from __future__ import annotations

import gc
import json
import mmap
import os
import pkgutil
import resource
import select
import signal
import socket
import struct
import sys
from importlib import import_module
from typing import Any, NoReturn

MEMORY = 512 << 20
_SECONDS_OF_WAITING = 0.3
_REFUSED_EVENTS = (
    "os.",
    "subprocess.",
    "socket.",
    "shutil.",
    "ctypes.",
    "pty.",
    "webbrowser.",
    "tempfile.",
    "pickle.",
    "marshal.",
)
_HARMLESS_EVENTS = ("os.listdir", "os.scandir", "os.putenv", "marshal.loads", "marshal.load")  # of imports
_READERS = ("sympy.parsing", "math_verify", "latex2sympy")  # modules that compile the text
_NAMES_IN_CODE = (b"__", b"import", b"eval", b"exec", b"open", b"getattr", b"lambda")
_SYMPY_ITSELF = b"from sympy import *"
# Packages of sympy whose modules are imported only when a formula needs them.
_LAZY_PACKAGES = (
    *("assumptions", "calculus", "concrete", "discrete", "functions", "integrals", "logic", "matrices"),
    *("ntheory", "polys", "series", "sets", "simplify", "solvers", "tensor"),
)
_refusals: list[str] = []  # events that were refused while the current pair was judged


def main(number: int) -> NoReturn:
    """Import math-verify, then fork a worker for every socket that is received."""
    control = socket.socket(fileno=number)
    _warm_up()
    gc.collect()
    gc.freeze()
    control.send(b"ready")
    ForkServer(control).run()
    os._exit(0)


def _warm_up() -> None:
    """Import everything that formulas may need: later, an import would meet the guard and the limits of a worker."""
    import logging

    logging.disable(logging.CRITICAL)
    judged("$x^2+2x+1$", "$(x+1)^2$", "verify")
    for name in _LAZY_PACKAGES:
        package = import_module(f"sympy.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".tests" not in module.name and ".benchmarks" not in module.name:
                import_module(module.name)
    judged(r"$\int_0^1 \log_2 x dx$", r"$\sin x$", "verify")
    judged("$x$", "$2x$", "minerva")


class ForkServer:
    """Keeps one worker per socket alive."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.workers: dict[int, tuple[socket.socket, mmap.mmap]] = {}
        self.woken, waking = os.pipe()
        os.set_blocking(waking, False)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """Serve until the control socket is closed."""
        while True:
            ready, _, _ = select.select([self.control.fileno(), self.woken], [], [])
            if self.woken in ready:
                os.read(self.woken, 1024)
                self._replace_the_dead()
            if self.control.fileno() in ready:
                message, files, _, _ = socket.recv_fds(self.control, 16, 1)
                if not message:
                    return
                for file in files:
                    self._start(socket.socket(fileno=file), mmap.mmap(-1, 8))

    def _start(self, link: socket.socket, at: mmap.mmap) -> None:
        pid = os.fork()
        if pid == 0:
            self.control.close()
            for other, _ in self.workers.values():
                other.close()
            _work(link, at)
        self.workers[pid] = link, at

    def _replace_the_dead(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            link, at = self.workers.pop(pid)
            if os.waitstatus_to_exitcode(status) == 0:
                link.close()  # the caller has closed it
                continue
            self._tell_the_end(link, at, status)
            self._start(link, at)

    def _tell_the_end(self, link: socket.socket, at: mmap.mmap, status: int) -> None:
        (number,) = struct.unpack("q", at[:])
        at[:] = struct.pack("q", 0)
        clock = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU)
        end = os.waitstatus_to_exitcode(status)
        said = ("timeout", "it took too long") if clock else ("error", f"the worker ended with {end}")
        answer = [number, False, said[0], None, said[1]]
        if number:
            link.sendall(json.dumps(answer).encode() + b"\n")


def _work(link: socket.socket, at: mmap.mmap) -> NoReturn:
    """Judge pairs until the caller closes the socket."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGALRM, signal.SIGPROF, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    _limit()
    sys.dont_write_bytecode = True  # an import that writes its bytecode would be refused
    sys.addaudithook(_refuse)
    with link.makefile("rb") as lines:
        for line in lines:
            number, seconds, target, answer, kind = json.loads(line)
            at[:] = struct.pack("q", number)
            # The limit is CPU time, so that results do not depend on the load of the machine; a wall-clock limit
            # bounds the wait of the caller.
            signal.setitimer(signal.ITIMER_PROF, seconds)
            signal.setitimer(signal.ITIMER_REAL, seconds + _SECONDS_OF_WAITING)
            said = _judged_or_error(target, answer, kind)
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            at[:] = struct.pack("q", 0)
            link.sendall(json.dumps([number, *said]).encode() + b"\n")
    os._exit(0)


def _judged_or_error(target: str, answer: str, kind: str) -> tuple[bool | None, str, str | None, str | None]:
    """The judgement; an error if anything was refused, since math-verify takes every exception for "not equal"."""
    _refusals.clear()
    try:
        said = judged(target, answer, kind)
        if not _refusals:
            return said
        # Code in an answer is the fault of the answer; with anything else, nobody knows whether it was right.
        return (False if "compile" in _refusals else None), "error", None, f"refused: {_refusals[0]}"
    except MemoryError:
        return False, "error", None, "more memory than allowed"
    except Exception as error:  # noqa: BLE001 – sympy may raise anything on such texts
        return False, "error", None, f"{type(error).__name__}: {str(error)[:200]}"


def judged(target: str, answer: str, kind: str) -> tuple[bool | None, str, str | None, str | None]:
    """Whether both are equal, the status, the parsed answer, and a remark."""
    from math_verify import parse, verify  # type: ignore[import-untyped]

    # Its own timeouts need signals in the main thread and whole seconds; ours kill the process instead.
    gold, found = parse(target, parsing_timeout=None), parse(answer, parsing_timeout=None)
    if not found:
        return False, "unparsed", None, None
    read = str(found[-1])[:1000]
    if not gold:
        return False, "ok", read, "the target is no formula"
    same = _no_difference(gold[0], found[0]) if kind == "minerva" else verify(gold, found, timeout_seconds=None)
    return bool(same), "ok", read, None


def _no_difference(first: Any, second: Any) -> bool:
    """Minerva's test: the difference simplifies to zero."""
    from sympy import simplify  # type: ignore[import-untyped]

    return not isinstance(first, str) and not isinstance(second, str) and bool(simplify(first - second) == 0)


def _limit() -> None:
    for what, amount in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        try:
            resource.setrlimit(what, (amount, amount))
        except (OSError, ValueError):  # macOS does not support this limit
            continue


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook that refuses everything but reading and computing."""
    if _is_refused(event, arguments):
        _refusals.append(event)
        raise PermissionError(event)


def _is_refused(event: str, arguments: tuple[Any, ...]) -> bool:
    if event == "open":
        return len(arguments) > 2 and bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    if event == "compile":
        return isinstance(arguments[0], bytes | str) and _suspicious(arguments[0])
    return event.startswith(_REFUSED_EVENTS) and event not in _HARMLESS_EVENTS


def _suspicious(source: bytes | str) -> bool:
    """Whether a parser compiles more than arithmetic from a text. Modules that compile their own code are trusted."""
    if not str(sys._getframe(3).f_globals.get("__name__", "")).startswith(_READERS):
        return False
    text = source.encode("utf-8", "replace") if isinstance(source, str) else source
    return text.strip() != _SYMPY_ITSELF and any(name in text for name in _NAMES_IN_CODE)
