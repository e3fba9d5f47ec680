"""`crucible hub`: a local Hub."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Sequence

from crucible_datasets.cli.command import Command
from crucible_datasets.cli.completion import file_argument
from crucible_datasets.cli.output import Message, Outputs, plural
from crucible_datasets.exceptions import ArgumentError


def serve(folder: str, host: str, port: int, name: Sequence[str] = ()) -> Outputs:
    """Serve clients whose HF_ENDPOINT points here, until interrupted."""
    from crucible_datasets.localhub.server import HubServer

    if not os.path.isdir(folder):
        raise ArgumentError("folder", folder, "the folder does not exist.")
    try:
        made = HubServer(folder, host, port, names=name)
    except (OSError, OverflowError) as error:  # a port beyond 65535 overflows
        reason = f"{host} cannot be listened on there: {str(error).rstrip('.')}. Choose another; 0 takes a free one."
        raise ArgumentError("port", port, reason) from error
    with made as server:
        names, tokens = server.hub.names(), os.path.join(folder, "tokens.json")
        lines = (
            f"{plural(len(names), 'dataset')} of {folder} at {server.endpoint}; ctrl-c ends it",
            f"Clients find it with HF_ENDPOINT={server.endpoint}",
            f"To write, they need a token of {tokens} as HF_TOKEN, and huggingface_hub itself HF_HUB_DISABLE_XET=1",
        )
        yield Message("\n".join(lines), {"endpoint": server.endpoint, "datasets": sorted(names), "tokens": tokens})
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            yield "ended"
    return None


def mirror(names: list[str], folder: str, endpoint: str | None = None) -> Outputs:
    """Copy datasets into the folder, with their revisions, and verify them."""
    from crucible_datasets.localhub.mirror import mirror as copies

    said = []
    for line in copies(folder, names, endpoint):
        said.append(line)
        yield line
    yield Message("", {"folder": folder, "copied": said})
    return None


def _serve_arguments(parser: ArgumentParser) -> None:
    what = "where the datasets are: plain folders DIR/org/name, or mirrored"
    file_argument(parser, "folder", metavar="DIR", folder=True, help=what)
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on; %(default)s is this machine only"
    )
    port = "the port to listen on; %(default)s by default, 0 for a free one"
    parser.add_argument("--port", type=int, default=8080, help=port)
    parser.add_argument(
        "--name", action="append", default=[], help="a name by which another server asks this one; may be repeated"
    )


def _mirror_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("names", nargs="+", metavar="NAME", help="org/name, or org/name@revision")
    file_argument(parser, "folder", metavar="DIR", folder=True, help="the folder that `crucible hub serve` serves")
    parser.add_argument("--endpoint", help="the hub to copy from; HF_ENDPOINT by default")


COMMANDS = (
    Command.group(
        "hub",
        "Serve a folder of datasets as a Hub, or fill it from another Hub.",
        Command.of(serve, _serve_arguments),
        Command.of(mirror, _mirror_arguments),
    ),
)
