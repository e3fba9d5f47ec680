"""Web servers of the standard library, each in a thread of the test."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def served(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server that answers as long as the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Quiet(BaseHTTPRequestHandler):
    """Answers without a word on stderr."""

    def log_message(self, *arguments: object) -> None:
        pass


class _Files(Quiet, SimpleHTTPRequestHandler):
    """Knows no ranges and no versions, only times."""

    protocol_version = "HTTP/1.1"


def folder_served(folder: str | os.PathLike[str]):
    """The address of a server of the files of a folder, as long as the block runs."""
    return served(partial(_Files, directory=os.fspath(folder)))
