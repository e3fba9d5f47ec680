"""The local Hub, which misbehaves as told, and remembers what it was asked."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from crucible_datasets.localhub.server import Handler, HubServer, serving
from support.faulty import FAULTS, Faulty, refused, wanted


@dataclass
class FaultyHub:
    """`plan` says which faults the requests meet whose path contains a text, one after the other."""

    server: HubServer
    plan: list[tuple[str, str]] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)  # method and path of each request
    tokens: list[str] = field(default_factory=list)  # what each said of who it is
    sent: int = 0  # bytes of bodies and headers
    elsewhere: str = ""  # where "redirect" leads

    @property
    def endpoint(self) -> str:
        return self.server.endpoint

    def fault(self, path: str) -> str:
        """The next fault for a path."""
        for number, (part, fault) in enumerate(self.plan):
            if part in path:
                return self.plan.pop(number)[1]
        return "fine"


@contextmanager
def faulty_hub(root: str) -> Iterator[FaultyHub]:
    """Serve a folder as long as the block runs."""
    with serving(root) as server:
        hub = FaultyHub(server)

        class Troubled(Handler):
            def setup(self) -> None:
                super().setup()
                self.wfile = _Counted(self.wfile, hub)

            def do_GET(self) -> None:
                if self.headers.get("X-No-Fault"):
                    self.handle_request()
                    return
                hub.asked.append((self.command, self.path))
                hub.tokens.append(self.headers.get("Authorization") or "")
                fault = hub.fault(self.path)
                if fault == "fine":
                    self.handle_request()
                    return
                facts = Faulty(_right(hub, self), elsewhere=hub.elsewhere)
                {**FAULTS, "halt": _halt, "swapped": _swapped}.get(fault.split()[0], refused)(self, facts, fault)

            do_HEAD = do_GET

        server.RequestHandlerClass = Troubled
        yield hub


def _right(hub: FaultyHub, handler: Handler) -> bytes:
    """What the Hub would have sent."""
    known = {"X-No-Fault": "1", "Authorization": handler.headers.get("Authorization") or ""}
    before = hub.sent
    with urllib.request.urlopen(urllib.request.Request(f"{hub.endpoint}{handler.path}", headers=known)) as answer:
        content = answer.read()
    hub.sent = before
    return content


def _halt(handler: Any, facts: Faulty, fault: str) -> None:
    """`halt 1000`: nothing comes after so many bytes, and the connection stays open."""
    start, stop, _ = wanted(handler, facts)
    handler.send_response(200)
    handler.send_header("Content-Length", str(stop - start))
    handler.end_headers()
    handler.wfile.write(facts.content[start:stop][: int(fault.split()[1])])
    handler.wfile.flush()
    time.sleep(30)
    handler.close_connection = True


def _swapped(handler: Any, facts: Faulty, fault: str) -> None:
    """`swapped 7`: another content of the same length."""
    import random

    body = random.Random(int(fault.split()[1])).randbytes(len(facts.content))
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


class _Counted:
    """A stream that counts what is written to it."""

    def __init__(self, stream: Any, hub: FaultyHub) -> None:
        self._stream, self._hub = stream, hub

    def write(self, data: Any) -> int:
        self._hub.sent += len(data)
        return int(self._stream.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
