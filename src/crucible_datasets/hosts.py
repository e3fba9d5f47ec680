"""Valid `Host` headers of a local server: a defence against DNS rebinding.

Another site can point its own name at 127.0.0.1, and a browser then lets its pages read the answers of a local server.
So requests are accepted by the name in the `Host` header, not by the address.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Collection
from contextlib import suppress

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  (only where the caller says so)
_PORT = re.compile(r":\d{1,5}\Z")


def own_names(host: str) -> frozenset[str]:
    """The names, without port, that a browser may send as `Host` to a server that listens there."""
    names = {*LOOPBACK} if host in (*LOOPBACK, *EVERYWHERE) else {host.lower(), socket.gethostname().lower()}
    if host in EVERYWHERE:
        names |= {socket.gethostname().lower()}
        with suppress(OSError):  # the host name need not resolve
            names |= {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    return frozenset(f"[{name}]" if ":" in name else name for name in names)


def is_one_of(header: str, names: Collection[str]) -> bool:
    """Whether a `Host` header has one of the names, with any port, since a tunnel may change it."""
    return _PORT.sub("", header.lower()) in names
