"""How a browser gets into a viewer: by a ticket that is valid once, to a host name that nobody else knows.

Cookies of 127.0.0.1 are sent to every port of it, so to servers of other people too. Pages are therefore shown under a
random name below `localhost`, which browsers resolve to this machine without asking anybody, and the secret of the
session is a cookie of that name. The ticket is in the URL that is printed, and worthless after its first use. A browser
that is opened gets it in a file that only its user can read, since everybody can read the arguments of a process.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from html import escape
from threading import Lock

from crucible_datasets.hosts import LOOPBACK, is_one_of

TICKET = "token"  # the parameter of URLs
_PAGE = '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Crucible</title>'
_WAY = '<meta http-equiv="refresh" content="0;url={url}"><a href="{url}">Open the viewer</a>'


class Entry:
    """The secrets of one viewer."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)  # of programs, in a header
        self.session = secrets.token_urlsafe(24)  # of browsers, in a cookie
        self.host = f"{secrets.token_hex(12)}.localhost"
        self.on_used: Callable[[], object] = lambda: None  # called when the user needs another URL
        self._lock = Lock()
        self._printed = secrets.token_urlsafe(24)
        self._tickets = {self._printed}

    @property
    def ticket(self) -> str:
        """The ticket of the URL that is shown to the user: another one once it has been used."""
        with self._lock:
            if self._printed not in self._tickets:
                self._printed = self._new()
            return self._printed

    def passed_on(self) -> str:
        """A ticket for the second step of an entry."""
        with self._lock:
            return self._new()

    def redeem(self, ticket: str) -> bool:
        """Whether a ticket is valid, which it is no longer then."""
        with self._lock:
            found = [each for each in self._tickets if secrets.compare_digest(each.encode(), ticket.encode())]
            self._tickets.difference_update(found)
            was_printed = self._printed in found
        if was_printed:
            self.on_used()
        return bool(found)

    def moves(self, host: str) -> bool:
        """Whether a browser that enters under this name is sent to the private one."""
        return is_one_of(host, [f"[{name}]" if ":" in name else name for name in LOOPBACK])

    def keeps_session(self, host: str) -> bool:
        """Whether the cookie counts under this name: not where every port of this machine receives it."""
        return not self.moves(host)

    def _new(self) -> str:
        made = secrets.token_urlsafe(24)
        self._tickets.add(made)
        return made


def write_way(folder: str, url: str) -> str:
    """A page that leads to a URL, in a file that only its owner can read."""
    path = os.path.join(folder, "open.html")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(_PAGE + _WAY.format(url=escape(url)))
    return path
