"""What `crucible hub` does."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator

from crucible_datasets.exceptions import ArgumentError
from crucible_datasets.localhub.mirror import mirror as copies
from crucible_datasets.localhub.server import HubServer

Texts = Generator[str, None, int | None]


def serve(folder: str, host: str, port: int) -> Texts:
    """Serve a folder until interrupted."""
    if not os.path.isdir(folder):
        raise ArgumentError("DIR", folder, "the folder does not exist.")
    with HubServer(folder, host, port) as server:
        yield f"{len(server.hub.names())} datasets of {folder} at {server.endpoint}; ctrl-c ends it"
        yield f"Clients find it with HF_ENDPOINT={server.endpoint}"
        tokens = os.path.join(folder, "tokens.json")
        yield f"To write, they need a token of {tokens} as HF_TOKEN, and HF_HUB_DISABLE_XET=1"
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            yield "ended"
    return 0


def mirror(names: list[str], folder: str, endpoint: str | None = None) -> Texts:
    """Copy datasets into a folder."""
    yield from copies(folder, names, endpoint)
    return 0


ACTIONS: dict[str, Callable[..., Texts]] = {action.__name__: action for action in (serve, mirror)}
