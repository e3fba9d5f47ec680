"""A server of one content that misbehaves as told, over real HTTP."""

from __future__ import annotations

import gzip
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from support.web import Quiet, served


@dataclass
class Faulty:
    """`plan` says what happens to each request, one after the other; when it is used up, all goes well."""

    content: bytes
    plan: list[str] = field(default_factory=list)
    url: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)  # method and Range of each request
    seen: list[dict[str, str]] = field(default_factory=list)  # their headers
    sent: int = 0
    elsewhere: str = ""
    cut_every: int = 0

    @property
    def port(self) -> int | None:
        return urlsplit(self.url).port


@contextmanager
def faulty(content: bytes, *plan: str, cut_every: int = 0) -> Iterator[Faulty]:
    """Serve a content with these faults as long as the block runs."""
    facts = Faulty(content, list(plan), cut_every=cut_every)

    class Handler(Quiet):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # a body after its head would wait 40 ms

        def do_GET(self) -> None:
            facts.asked.append((self.command, self.headers.get("Range", "")))
            facts.seen.append(dict(self.headers))
            fault = facts.plan.pop(0) if facts.plan else "fine"
            FAULTS.get(fault.partition(" ")[0], refused)(self, facts, fault)

        do_HEAD = do_GET

    with served(Handler) as address:
        facts.url = f"{address}/data"
        yield facts


def refused(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    """`503`, or `429 2` with Retry-After."""
    status, _, wait = fault.partition(" ")
    handler.send_response(int(status))
    if wait:
        handler.send_header("Retry-After", wait)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def wanted(handler: BaseHTTPRequestHandler, facts: Faulty) -> tuple[int, int, bool]:
    asked = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range", ""))
    if not asked:
        return 0, len(facts.content), False
    return int(asked[1]), min(len(facts.content), int(asked[2]) + 1 if asked[2] else len(facts.content)), True


def _send(
    handler: BaseHTTPRequestHandler, facts: Faulty, body: bytes, length: int, status: int = 200, **headers: str
) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(length))
    handler.end_headers()
    if handler.command != "HEAD":
        facts.sent += len(body)
        handler.wfile.write(body)
    if len(body) != length:
        handler.close_connection = True


def _fine(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    start, stop, partial = wanted(handler, facts)
    body = facts.content[start:stop]
    if facts.cut_every:
        body = body[: facts.cut_every]
    headers = {"Content_Range": f"bytes {start}-{stop - 1}/{len(facts.content)}"} if partial else {}
    _send(handler, facts, body, stop - start, 206 if partial else 200, **headers)


def _cut(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    """`cut 1000`: the connection ends after so many bytes."""
    start, stop, partial = wanted(handler, facts)
    headers = {"Content_Range": f"bytes {start}-{stop - 1}/{len(facts.content)}"} if partial else {}
    body = facts.content[start:stop][: int(fault.partition(" ")[2])]
    _send(handler, facts, body, stop - start, 206 if partial else 200, **headers)


def _reset(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    handler.close_connection = True
    handler.connection.close()


def _stall(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(facts.content)))
    handler.end_headers()
    time.sleep(float(fault.partition(" ")[2]))
    handler.close_connection = True


def _crawl(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    """`crawl 100`: so many bytes come, one by one, fifty in a second."""
    start, stop, partial = wanted(handler, facts)
    handler.send_response(206 if partial else 200)
    if partial:
        handler.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(facts.content)}")
    handler.send_header("Content-Length", str(stop - start))
    handler.end_headers()
    handler.close_connection = True
    many = 0 if handler.command == "HEAD" else int(fault.partition(" ")[2])
    with suppress(OSError):  # whoever asked has gone
        for at in range(start, min(stop, start + many)):
            handler.wfile.write(facts.content[at : at + 1])
            time.sleep(0.02)


def _trickle(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    """A head that comes line by line and never ends."""
    handler.close_connection = True
    with suppress(OSError):  # whoever asked has gone
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(90):
            handler.wfile.write(b"X-%d: y\r\n" % number)
            time.sleep(0.1)


def _whole(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    """A server that knows no ranges."""
    _send(handler, facts, facts.content, len(facts.content))


def _wrong_range(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    total = len(facts.content)
    _send(handler, facts, facts.content, total, 206, Content_Range=f"bytes 0-{total - 1}/{total}")


def _html(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    page = b"<html>Please log in to the wireless network</html>"
    _send(handler, facts, page, len(page), Content_Type="text/html")


def _gzip(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    body = gzip.compress(facts.content, compresslevel=0)
    _send(handler, facts, body, len(body), Content_Encoding="gzip")


def _loop(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    facts.plan.append("loop")
    _send(handler, facts, b"", 0, 302, Location="/data")


def _stated(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    """`stated abc`: a length that is none."""
    handler.send_response(200)
    handler.send_header("Content-Length", fault.partition(" ")[2])
    handler.end_headers()
    handler.close_connection = True


def _redirect(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    _send(handler, facts, b"", 0, 302, Location=facts.elsewhere)


def _flipped(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    body = bytearray(facts.content)
    body[int(fault.partition(" ")[2])] ^= 1
    _send(handler, facts, bytes(body), len(body))


def _longer(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    body = facts.content + b"more"
    _send(handler, facts, body, len(body))


def _shorter(handler: BaseHTTPRequestHandler, facts: Faulty, fault: str) -> None:
    body = facts.content[:-4]
    _send(handler, facts, body, len(body))


Fault = Callable[[BaseHTTPRequestHandler, Faulty, str], None]
FAULTS: dict[str, Fault] = {
    "fine": _fine,
    "cut": _cut,
    "reset": _reset,
    "stall": _stall,
    "crawl": _crawl,
    "trickle": _trickle,
    "whole": _whole,
    "wrong-range": _wrong_range,
    "html": _html,
    "gzip": _gzip,
    "loop": _loop,
    "stated": _stated,
    "redirect": _redirect,
    "flipped": _flipped,
    "longer": _longer,
    "shorter": _shorter,
}
