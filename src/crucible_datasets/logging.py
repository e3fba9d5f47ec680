"""The library's logger and its verbosity.

Messages go to stderr unless the application has set up logging of its own, in which
case they go only there. `DATASETS_VERBOSITY` sets the level at start.
"""

from __future__ import annotations

import logging
import os
from logging import CRITICAL, DEBUG, ERROR, FATAL, INFO, NOTSET, WARN, WARNING

__all__ = [
    "CRITICAL",
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "NOTSET",
    "WARN",
    "WARNING",
    "disable_propagation",
    "enable_propagation",
    "get_logger",
    "get_verbosity",
    "log_levels",
    "set_verbosity",
    "set_verbosity_debug",
    "set_verbosity_error",
    "set_verbosity_info",
    "set_verbosity_warning",
]

log_levels = {"debug": DEBUG, "info": INFO, "warning": WARNING, "error": ERROR, "critical": CRITICAL}

_root = logging.getLogger("crucible_datasets")


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to the current `sys.stderr`, unless a handler of the application receives the message."""

    def emit(self, record: logging.LogRecord) -> None:
        if not (_root.propagate and logging.getLogger().handlers):
            import sys

            self.stream = sys.stderr
            super().emit(record)


def get_logger(name: str | None = None) -> logging.Logger:
    """The logger of this name, or the library's own."""
    return logging.getLogger(name or _root.name)


def get_verbosity() -> int:
    """The level below which the library stays silent."""
    return _root.getEffectiveLevel()


def set_verbosity(verbosity: int) -> None:
    """Show messages of this level and above."""
    _root.setLevel(verbosity)


def set_verbosity_info() -> None:
    """Show what the library does."""
    set_verbosity(INFO)


def set_verbosity_warning() -> None:
    """Show what may be wrong (the default)."""
    set_verbosity(WARNING)


def set_verbosity_debug() -> None:
    """Show everything."""
    set_verbosity(DEBUG)


def set_verbosity_error() -> None:
    """Show only what failed."""
    set_verbosity(ERROR)


def disable_propagation() -> None:
    """Keep messages from the application's own handlers."""
    _root.propagate = False


def enable_propagation() -> None:
    """Hand messages to the application's own handlers."""
    _root.propagate = True


def _level_at_start() -> int:
    asked = os.environ.get("DATASETS_VERBOSITY", "")
    if asked and asked.lower() not in log_levels:
        _root.warning("DATASETS_VERBOSITY=%s is not a level. Available: %s.", asked, ", ".join(log_levels))
    return log_levels.get(asked.lower(), WARNING)


if not _root.handlers:
    _root.addHandler(_Stderr())
    _root.setLevel(_level_at_start())
