"""The HTTP server: uvicorn, with error responses in our format."""

from __future__ import annotations

from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from crucible_datasets.viewer.answers import bad_request
from crucible_datasets.viewer.guard import HEADERS

_PATIENCE = 1  # seconds for running requests when the server stops


def server(app: Any) -> uvicorn.Server:
    """The server of an application, without uvicorn's logs: errors are in the responses and in our own log."""
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        timeout_graceful_shutdown=_PATIENCE,
    )
    return uvicorn.Server(config)


class _Protocol(H11Protocol):
    """HTTP, with our headers and error format for invalid requests too."""

    def send_400_response(self, msg: str) -> None:
        content = bad_request(msg)
        headers = {**HEADERS, "Content-Type": "application/json", "Cache-Control": "no-store", "Connection": "close"}
        headers["Content-Length"] = str(len(content))
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        events = (
            h11.Response(status_code=400, headers=encoded, reason=b"Bad Request"),
            h11.Data(data=content),
            h11.EndOfMessage(),
        )
        try:
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:
            pass  # within a response, nothing else can be sent
        self.transport.close()
