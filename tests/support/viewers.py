"""A viewer that runs, and requests to it as a browser or something less polite sends them."""

import http.client
import json
from contextlib import contextmanager
from typing import NamedTuple

from crucible_datasets import view

PIXEL = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0"
    b"\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82"
)


class Answer(NamedTuple):
    """What a server sent."""

    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]


class Asking:
    """Requests to one viewer; `headers` replace those that a page of it would send."""

    def __init__(self, viewer):
        self.viewer = viewer
        self.name = f"127.0.0.1:{viewer.port}"

    def __call__(self, path, method="GET", token=True, **headers):
        sent = {"Host": self.name} | ({"X-Crucible-Token": self.viewer.token} if token else {})
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.viewer.port, timeout=30)
        try:
            # Nothing is added and the path is sent as it is.
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def json(self, path):
        """What a page tells, which must go well."""
        answer = self(path)
        assert answer.status == 200, (path, answer)
        return answer.json


@contextmanager
def served(*things, **options):
    """Requests to a viewer of these things."""
    with view(*things, browser=False, **options) as viewer:
        yield Asking(viewer)
