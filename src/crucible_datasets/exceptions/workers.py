"""Errors of worker processes and clusters."""

from __future__ import annotations

import os

from crucible_datasets.exceptions.base import DatasetsError


class WorkerDiedError(DatasetsError, RuntimeError):
    """A worker process died.

    `rows` is the part of the input that it was processing, `exit_code` the one from the system: negative for a signal.
    """

    def message(self, function: str, rows: range, exit_code: int | None) -> str:
        self.function, self.rows, self.exit_code = function, rows, exit_code
        where = f" on rows {rows.start} to {rows.stop - 1}" if len(rows) else ""
        how, hint = _end_of_process(exit_code)
        return f"The process that ran {function}{where} {how}. {hint}"


def _end_of_process(exit_code: int | None) -> tuple[str, str]:
    smaller = "Try a smaller num_proc or batch_size."
    if exit_code is None:
        return "is gone", f"Its messages, if any, are on stderr. {smaller}"
    if exit_code >= NOT_STARTED:
        return f"could not be started: {os.strerror(exit_code - NOT_STARTED)}", smaller
    if exit_code >= 0:
        return f"left with exit code {exit_code}", "Something in the function ended it: look for os._exit."
    import signal

    known = {int(number): number.name for number in signal.Signals}
    name = known.get(-exit_code, f"signal {-exit_code}")
    if name in {"SIGKILL", "SIGTERM"}:
        return f"was killed by {name}", f"The system kills processes for lack of memory. {smaller}"
    return f"crashed with {name}", "Leave num_proc out and run on these rows alone to find the one that does it."


NOT_STARTED = 1000  # higher exit codes are error numbers of a failed start


class WorkerError(DatasetsError, RuntimeError):
    """An exception in another process that cannot be pickled."""

    def message(self, kind: str, said: str, traceback: str) -> str:
        self.kind, self.said, self.traceback = kind, said, traceback
        return f"{kind}: {said} (The exception itself could not be pickled. It was raised here:)\n\n{traceback}"


class ClusterError(DatasetsError, RuntimeError):
    """A cluster cannot be reached, has no resources for a task, or lacks this library."""

    def message(self, reason: str) -> str:
        self.reason = reason
        return f"The cluster cannot do it: {reason}. Name another one, or leave `executor` out to work on this machine."


class NotPicklableError(DatasetsError, TypeError):
    """A function, its closure or its result cannot be pickled."""

    def message(self, function: str, problem: str, error: BaseException) -> str:
        self.function, self.reason = function, f"{type(error).__name__}: {error}"
        return (
            f"{function} {problem}: {self.reason}. Make such objects inside the function, keep to plain data, or leave "
            "num_proc out."
        )
