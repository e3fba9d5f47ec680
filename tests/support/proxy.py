"""A proxy as companies have them, which writes down what it could read."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from urllib.parse import urlsplit

from support.web import Quiet, served


@dataclass
class Proxy:
    """`seen` holds each request with its headers; those whose word is not `password` are refused."""

    host: str
    password: str
    seen: list[str] = field(default_factory=list)

    def url(self, password: str) -> str:
        return f"http://me:{password}@{self.host}"


@contextmanager
def proxying(password: str) -> Iterator[Proxy]:
    """Pass requests on as long as the block runs."""

    class Handler(Quiet):
        def do_CONNECT(self) -> None:
            if self.is_welcome():
                host, _, port = self.path.partition(":")
                with socket.create_connection((host, int(port))) as there:
                    self.send_response(200)
                    self.end_headers()
                    _joined(self.connection, there)

        def do_GET(self) -> None:
            if self.is_welcome():
                parts = urlsplit(self.path)
                there = HTTPConnection(parts.netloc, timeout=10)
                there.request("GET", self.path, headers=dict(self.headers))  # servers take a whole address too
                answer = there.getresponse()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.read())
                there.close()

        def is_welcome(self) -> bool:
            facts.seen.append(f"{self.requestline}\n{self.headers}")
            if self.headers.get("Proxy-Authorization") == f"Basic {_coded(f'me:{password}')}":
                return True
            self.send_response(407)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return False

    with served(Handler) as address:
        facts = Proxy(urlsplit(address).netloc, password)
        yield facts


def _coded(text: str) -> str:
    from base64 import b64encode

    return b64encode(text.encode()).decode()


def _joined(here: socket.socket, there: socket.socket) -> None:
    """Pass bytes on both ways until one side ends."""
    with suppress(OSError):
        while True:
            for one in select.select([here, there], [], [], 10)[0]:
                piece = one.recv(1 << 16)
                if not piece:
                    return
                (there if one is here else here).sendall(piece)
