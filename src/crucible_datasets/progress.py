"""Progress bars: on a terminal only, and only while they are enabled.

`tqdm` is made on first use, so a program without bars never imports it, and the
notebook widgets are imported only inside a notebook.
"""

from __future__ import annotations

import sys
import threading
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from crucible_datasets import config
from crucible_datasets.keywords import keywords_of, refuse_unknown_keywords

if TYPE_CHECKING:
    tqdm: type[Any]

__all__ = [
    "are_progress_bars_disabled",
    "disable_progress_bar",
    "disable_progress_bars",
    "enable_progress_bar",
    "enable_progress_bars",
    "is_progress_bar_enabled",
    "tqdm",
]

_disabled = bool(config.HF_DATASETS_DISABLE_PROGRESS_BARS)


def disable_progress_bars() -> None:
    """Show no progress bars from now on, unless the environment insists on them."""
    _set_disabled(True)


def enable_progress_bars() -> None:
    """Show progress bars from now on, unless the environment forbids them."""
    _set_disabled(False)


def are_progress_bars_disabled() -> bool:
    """Whether progress bars are switched off."""
    return _disabled


def is_progress_bar_enabled() -> bool:
    """Whether progress bars are switched on."""
    return not _disabled


disable_progress_bar = disable_progress_bars
enable_progress_bar = enable_progress_bars


def _set_disabled(disabled: bool) -> None:
    global _disabled
    decided = config.HF_DATASETS_DISABLE_PROGRESS_BARS
    if decided is not None and decided is not disabled:
        warnings.warn(
            f"HF_DATASETS_DISABLE_PROGRESS_BARS={int(decided)} in the environment decides; unset it to choose here.",
            stacklevel=3,
        )
        return
    _disabled = disabled


class Silent:
    """A progress bar that shows nothing."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *error: object) -> None: ...

    def update(self, n: float | None = 1) -> None:
        """Do nothing."""

    def set_postfix_str(self, text: str) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def bar(**options: Any) -> Any:
    """A progress bar; if it would be invisible, one that does not import `tqdm`, which takes a tenth of a second."""
    if options.get("disable") or not are_shown():
        return Silent()
    return import_module(__name__).tqdm(**options)


def are_shown() -> bool:
    """Whether somebody would see a bar now."""
    # In a notebook stderr is not a terminal, but bars are shown.
    return not _disabled and ((sys.stderr is not None and sys.stderr.isatty()) or "IPython" in sys.modules)


class Transfer:
    """One bar for files that are transferred together: bytes, speed, time left, and number of files done."""

    def __init__(self, title: str, size: int, files: int) -> None:
        self._bar = bar(total=size, unit="B", unit_scale=True, desc=title)
        self._size, self._files, self._came = size, files, 0
        self._lock = threading.Lock()
        self.update, self.close = self._bar.update, self._bar.close

    def __enter__(self) -> Transfer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def expect(self, size: int, files: int) -> None:
        """Show the transfer of more files."""
        with self._lock:
            self._size, self._files = self._size + size, self._files + files
            self._bar.total = self._size

    def file_done(self) -> None:
        """Count a file."""
        with self._lock:
            self._came += 1
            self._bar.set_postfix_str(f"{self._came} of {self._files} files")


def _make_tqdm() -> type[Any]:
    base: Any = import_module("tqdm.auto").tqdm
    available = (*keywords_of(import_module("tqdm.std").tqdm.__init__), "gui", "display")

    class tqdm(base):  # type: ignore[misc]  # noqa: N801
        """A progress bar that is invisible if bars are disabled or stderr is not a terminal."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            # An invisible bar of `tqdm` accepts any keyword.
            refuse_unknown_keywords("tqdm", kwargs, available)
            kwargs["disable"] = True if _disabled else kwargs.get("disable")
            super().__init__(*args, **kwargs)

    tqdm.__module__, tqdm.__qualname__ = __name__, "tqdm"
    return tqdm


def __getattr__(name: str) -> Any:
    if name == "tqdm":
        globals()["tqdm"] = made = _make_tqdm()
        return made
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
