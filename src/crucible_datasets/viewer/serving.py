"""How the application is served: uvicorn, whose own answers look like ours."""

from __future__ import annotations

from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from crucible_datasets.viewer.answers import bad_request
from crucible_datasets.viewer.guard import HEADERS

_PATIENCE = 1  # seconds that requests get to end, when the server ends


def server(app: Any) -> uvicorn.Server:
    """What answers on a socket, in silence: the pages tell what goes wrong, and the log of this library does."""
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
    """HTTP, where also who speaks something else gets our headers and our shape of errors."""

    def send_400_response(self, msg: str) -> None:
        content = bad_request(msg)
        headers = {**HEADERS, "Content-Type": "application/json", "Cache-Control": "no-store", "Connection": "close"}
        headers["Content-Length"] = str(len(content))
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        told = (
            h11.Response(status_code=400, headers=encoded, reason=b"Bad Request"),
            h11.Data(data=content),
            h11.EndOfMessage(),
        )
        try:
            for event in told:
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:
            pass  # in the middle of an answer nothing else can be said
        self.transport.close()
