"""Process state that a worker takes over from the program: working folder, `sys.path`, settings, logging, warnings.

Only what changes while a program runs; the rest is inherited, see `forkserver`.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crucible_datasets import config, progress
from crucible_datasets.executors.forkserver import import_path
from crucible_datasets.logging import get_logger

_SETTING = (str, int, float, Path, type(None))
# Environment variables with credentials; each group is copied as a whole, so that workers may read what we may read.
_CREDENTIALS = (
    ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"),
    tuple(f"AWS_{each}" for each in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "ENDPOINT_URL", "REGION")),
    tuple(f"AZURE_STORAGE_{each}" for each in ("CONNECTION_STRING", "ACCOUNT_NAME", "ACCOUNT_KEY", "SAS_TOKEN")),
)


@dataclass
class ProcessState:
    """State of one process that can be applied to another."""

    environment: dict[str, str]
    folder: str | None
    path: list[str]
    arguments: list[str]
    settings: dict[str, Any]
    levels: dict[str, int]
    propagate: bool
    handlers: list[tuple[str, int, str | None]]
    filters: list[tuple[Any, ...]]

    @classmethod
    def capture(cls) -> ProcessState:
        """The state of this process."""
        return cls(
            environment=dict(os.environ),
            folder=_folder(),
            path=import_path(),
            arguments=list(sys.argv),
            settings=_settings(),
            levels={logger.name: logger.level for logger in _loggers() if logger.level},
            propagate=get_logger().propagate,
            handlers=[known for handler in logging.root.handlers if (known := _described(handler))],
            # Warning categories of other packages would have to be imported.
            filters=[_filter(each) for each in warnings.filters if each[2].__module__ == "builtins"],
        )

    def apply(self) -> None:
        """Apply everything to this process, a worker on the same machine."""
        if dict(os.environ) != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)
        if self.folder is not None:
            os.chdir(self.folder)
        sys.path[:], sys.argv[:] = self.path, self.arguments
        importlib.invalidate_caches()
        # Decoding threads of many workers would only compete with each other.
        threads = self.settings["CRUCIBLE_DECODE_THREADS"] or 1
        vars(config).update(self.settings, HF_DATASETS_DISABLE_PROGRESS_BARS=True, CRUCIBLE_DECODE_THREADS=threads)
        # The fork server may have started with other variables; the settings were made of these.
        vars(config).update(_OFFLINE_VARIABLES=config.offline_variables())
        progress.disable_progress_bars()  # the program shows one bar for all workers
        self._set_up_logging()

    def apply_remotely(self) -> None:
        """Apply to this process, on another machine, what does not depend on the machine."""
        sys.path.extend(entry for entry in self.path if entry not in sys.path)
        importlib.invalidate_caches()
        vars(config).update({name: value for name, value in self.settings.items() if not _is_place(value)})
        vars(config).update(HF_DATASETS_DISABLE_PROGRESS_BARS=True)
        for names in _CREDENTIALS:
            if not any(name in os.environ for name in names):  # a machine may have its own
                os.environ.update({name: self.environment[name] for name in names if name in self.environment})
        progress.disable_progress_bars()
        for name, level in self.levels.items():
            logging.getLogger(name).setLevel(level)

    def _set_up_logging(self) -> None:
        for name, level in self.levels.items():
            logging.getLogger(name).setLevel(level)
        get_logger().propagate = self.propagate
        for stream, level, form in self.handlers:
            handler = logging.StreamHandler(getattr(sys, stream))
            handler.setLevel(level)
            handler.setFormatter(logging.Formatter(form))
            logging.root.addHandler(handler)
        warnings.resetwarnings()
        for each in reversed(self.filters):
            warnings.filterwarnings(*each)


def _settings() -> dict[str, Any]:
    """All settings; whether the network is forbidden may be said by the environment since."""
    found = {name: value for name, value in vars(config).items() if name.isupper() and isinstance(value, _SETTING)}
    return {**found, "HF_HUB_OFFLINE": config.is_offline()}


def _is_place(value: Any) -> bool:
    """Whether a setting names a folder, which another machine may not have."""
    return isinstance(value, Path) or (isinstance(value, str) and os.sep in value and "://" not in value)


def _folder() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def _loggers() -> list[logging.Logger]:
    known = list(logging.root.manager.loggerDict.values())
    return [logging.root, *(logger for logger in known if isinstance(logger, logging.Logger))]


def _described(handler: logging.Handler) -> tuple[str, int, str | None] | None:
    """A handler that writes to the screen, as another process can make it."""
    streams = {id(sys.stdout): "stdout", id(sys.stderr): "stderr"}
    stream = streams.get(id(getattr(handler, "stream", None)))
    if stream is None or type(handler) is not logging.StreamHandler:
        return None
    return stream, handler.level, getattr(handler.formatter, "_fmt", None)


def _filter(entry: tuple[Any, ...]) -> tuple[Any, ...]:
    action, message, category, module, line = entry
    return action, getattr(message, "pattern", message) or "", category, getattr(module, "pattern", module) or "", line
