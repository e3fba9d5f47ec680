"""Servers that send too little, too slowly, or what nobody asked for."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from crucible_datasets.sources import stdlib_http
from crucible_datasets.sources.throughput import BrokenConnectionError

pytestmark = pytest.mark.usefixtures("online")


@contextmanager
def answering(*pieces, pause=0.0, endless=False):
    """The URL of a server that answers each request with these pieces; the last one again and again if it is endless."""
    listener, over = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def answer(connection):
        with connection, suppress(OSError):
            while connection.recv(1 << 16):
                for piece in pieces:
                    connection.sendall(piece)
                while endless and not over.wait(pause):
                    connection.sendall(pieces[-1])

    def serve():
        with suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        stdlib_http._close()
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@pytest.mark.parametrize(
    ("sent", "pause"),
    [
        ((b"HTTP/1.1 200 OK\r\n", b"a: b\r\n"), 0.05),
        ((b"HTTP/1.1 100 Continue\r\n\r\n",), 0.05),
        ((b"HTTP/1.1 100 Continue\r\n\r\n" * 1000,), 0),
    ],
)
def test_headers_that_never_end_are_not_waited_for(sent, pause):
    with answering(*sent, pause=pause, endless=True) as url:
        began = time.monotonic()
        with pytest.raises(BrokenConnectionError):
            stdlib_http.send("GET", url, {}, 0.5)
        assert time.monotonic() - began < 10


def test_a_rest_that_does_not_come_is_not_waited_for():
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n") as url:
        response = stdlib_http.send("GET", url, {}, 30)
        began = time.monotonic()
        response.close()
        assert time.monotonic() - began < 10


def test_a_response_that_nobody_asked_for_is_not_taken_for_the_next_one():
    large = b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000
    with answering(large, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nSTALE") as url:
        bodies = []
        for _ in range(2):
            bodies.append(stdlib_http.send("GET", url, {}, 5).body(1 << 20))
            time.sleep(0.1)  # in which the rest arrives
    assert bodies == [b"x" * 300_000] * 2


def test_a_connection_is_reused_if_nothing_is_left_on_it():
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na") as url:
        responses = []
        for _ in range(2):
            responses.append(stdlib_http.send("GET", url, {}, 5))
            assert responses[-1].body(1) == b"a"
    assert responses[0]._connection is responses[1]._connection
