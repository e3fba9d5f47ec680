"""Faults of files: the one place that says what `on_bad_files` does about them.

A reader yields every good row of a file and then raises a `FileFormatError`. The policy turns that into an error, or
into the end of the file, with or without a warning. Limits (`LimitExceededError`) and files that are missing are no
faults of this kind: they raise under every policy.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager

from crucible_datasets.exceptions import ArgumentError, FileFormatError
from crucible_datasets.logging import get_logger

logger = get_logger(__name__)

POLICIES = ("error", "warn", "skip")


def require_policy(on_bad_files: str) -> None:
    """Check the value of `on_bad_files`."""
    if on_bad_files not in POLICIES:
        raise ArgumentError("on_bad_files", on_bad_files, f"expected one of {', '.join(POLICIES)}.")


def pass_over(error: FileFormatError, on_bad_files: str) -> None:
    """Raise the error, or leave out the rest of the file, with or without a warning."""
    if on_bad_files == "error":
        raise error
    warn_of([str(error)], on_bad_files)


def warn_of(faults: Iterable[str], on_bad_files: str) -> None:
    """Warn of files whose rest is left out, if the policy says so."""
    for fault in faults if on_bad_files == "warn" else ():
        logger.warning("The rest of a file that cannot be read is left out. %s", fault)


class faults_passed_over(AbstractContextManager[None, bool]):  # noqa: N801  it is used like a function
    """A context that a fault ends as the policy says."""

    def __init__(self, on_bad_files: str) -> None:
        self._on_bad_files = on_bad_files

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, FileFormatError) or self._on_bad_files == "error":
            return False
        pass_over(error, self._on_bad_files)
        return True
