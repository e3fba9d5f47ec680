"""A real browser, where the machine has one."""

import os
from contextlib import ExitStack, contextmanager

import pytest

CHROMIUM = next((path for path in ("/usr/bin/chromium", "/usr/bin/google-chrome") if os.path.exists(path)), None)
_FLAGS = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run"

REFUSED = "the server responded with a status of 40"  # what the console is told of a wrong question

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


@contextmanager
def let_in(chromium, viewer):
    """A profile of the browser that a viewer knows, since it has shown the token."""
    made = chromium.new_context(viewport={"width": 1200, "height": 760}, base_url=viewer.origin)
    made.grant_permissions(["clipboard-read", "clipboard-write"])
    first = made.new_page()
    first.goto(viewer.url)
    first.close()
    yield made
    made.close()


@contextmanager
def silent(page, own, *, excused=None):
    """A page that says nothing but what is `excused`, opens no dialog, and asks for no address that is not its `own`."""
    said = []
    page.on("console", lambda message: (excused and excused in message.text) or said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda asked: asked.url.startswith((own, "data:image/", "blob:")) or said.append(asked.url))
    yield page
    page.close()
    assert not said, said


def texts(page, selector):
    """What a reader sees in each of the elements."""
    return page.locator(selector).all_inner_texts()
