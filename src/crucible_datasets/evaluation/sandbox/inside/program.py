"""Code as the main program of its process: as a script, or in one process with its tests."""

from __future__ import annotations

import builtins
import json
import linecache
import sys
import types
from typing import Any

FILE = "solution.py"


def run_script(text: int) -> None:
    """Run the code as `python solution.py` does: as `__main__`, until the interpreter has ended by itself."""
    reopen_standard_streams()
    sys.argv = [FILE]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__dict__.update(__file__=FILE, __cached__=None, __builtins__=builtins, __annotations__={})
    try:
        run(read(text), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 – shown, as the interpreter does
        trace = error.__traceback__
        for _ in range(2):  # the frames of this module
            trace = trace and trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    else:
        return
    sys.exit(1)


def run_together(text: int, result: int) -> None:
    """Run code and tests in one namespace, as without a sandbox, and write whether all tests passed."""
    reopen_standard_streams()
    order = json.loads(read(text))
    names = solution_module().__dict__
    for code in (_completed(order["prelude"]), order["code"], *order["tests"]):
        run(code, names)
    with open(result, "w", encoding="utf-8") as file:
        file.write("passed")


def _completed(head: str) -> str:
    """A prelude may end with the head of a function, without its body."""
    try:
        compile(head, FILE, "exec", dont_inherit=True)
    except SyntaxError:
        return head + "\n    pass\n"
    return head


def run(code: str, names: dict[str, Any]) -> None:
    """Execute code whose lines tracebacks and `inspect` can show; the `__future__` of this module is not its own."""
    linecache.cache[FILE] = (len(code), None, code.splitlines(keepends=True), FILE)
    exec(compile(code, FILE, "exec", dont_inherit=True), names)  # noqa: S102 – the purpose of the box


def solution_module() -> types.ModuleType:
    """A new module for code that tests call."""
    module = types.ModuleType("solution")
    sys.modules[module.__name__] = module
    return module


def read(file: int) -> str:
    """The text of a file descriptor, from its beginning."""
    with open(file, encoding="utf-8", errors="surrogatepass", newline="") as opened:
        opened.seek(0)
        return opened.read()


def reopen_standard_streams() -> None:
    """Open standard streams again: those inherited from the fork server belong to closed files."""
    sys.stdin = sys.__stdin__ = _stream(0, "stdin")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _stream(1, "stdout")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _stream(2, "stderr", errors="backslashreplace", buffering=1)  # type: ignore[misc]


def _stream(file: int, name: str, errors: str = "surrogateescape", buffering: int = -1) -> Any:
    """A stream as Python opens it in an empty environment."""
    mode = "w" if file else "r"
    stream: Any = open(file, mode, buffering, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
    stream.buffer.raw.name = f"<{name}>"
    return stream
