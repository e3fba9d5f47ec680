"""A real browser, where the machine has one."""

import os
from contextlib import contextmanager

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
