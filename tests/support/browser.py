"""A real browser, where the machine has one."""

import os
from contextlib import ExitStack, contextmanager

import pytest

CHROMIUM = next((path for path in ("/usr/bin/chromium", "/usr/bin/google-chrome") if os.path.exists(path)), None)
_FLAGS = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run"

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser at /usr/bin/chromium")


@contextmanager
def browser():
    """Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=_FLAGS.split())
        yield opened
        opened.close()


class Shared:
    """One browser for all tests that follow each other and need one."""

    def __init__(self):
        self._open = ExitStack()
        self._browser = None

    def __call__(self):
        if self._browser is None:
            self._browser = self._open.enter_context(browser())
        return self._browser

    def close(self):
        """End it: while it runs, nothing else in this process can run an event loop of its own."""
        self._browser = None
        self._open.close()


shared = Shared()
