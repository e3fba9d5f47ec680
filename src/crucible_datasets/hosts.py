"""By which names a server of this machine is asked for.

A page of another site can give its own name the address 127.0.0.1, and a browser then lets it read what is answered
there. So the name in the header Host counts, and not the address.
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
    """What a browser writes into Host when it asks a server that listens there, but for the port."""
    names = {*LOOPBACK} if host in (*LOOPBACK, *EVERYWHERE) else {host.lower(), socket.gethostname().lower()}
    if host in EVERYWHERE:
        names |= {socket.gethostname().lower()}
        with suppress(OSError):  # a machine need not know itself by its name
            names |= {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    return frozenset(f"[{name}]" if ":" in name else name for name in names)


def is_one_of(header: str, names: Collection[str]) -> bool:
    """Whether a header Host has one of the names, with any port: a tunnel may change it."""
    return _PORT.sub("", header.lower()) in names
