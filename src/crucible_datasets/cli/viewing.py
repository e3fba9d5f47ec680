"""`crucible view`: data and runs in a browser."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from crucible_datasets.cli.command import Command, reading_arguments
from crucible_datasets.cli.opening import require_file
from crucible_datasets.cli.output import Facts, Outputs


def view(
    things: list[str],
    host: str,
    port: int,
    allow_remote: bool,
    no_browser: bool,
    stream: bool,
    revision: str | None,
    options: Mapping[str, Any],
) -> Outputs:
    """Show datasets, benchmarks and result stores in the browser, until it is interrupted."""
    from crucible_datasets.viewer.opening import opened
    from crucible_datasets.viewer.server import Viewer

    for thing in things:
        require_file(thing)
    viewer = Viewer(opened(tuple(things), stream, revision, options), host, port, allow_remote)
    yield Facts({"url": viewer.url, "token": viewer.token})
    yield "The url opens it once, programs send the token. Ctrl-C stops it."
    if not no_browser:
        viewer.open_browser()
    viewer.serve(lambda url: print(f"To open it once more: {url}", file=sys.stderr))
    return None


def _arguments(parser: ArgumentParser) -> None:
    what = "files, folders, URLs, names of the Hub, benchmarks, or folders of runs"
    parser.add_argument("things", nargs="+", metavar="DATA", help=what)
    parser.add_argument("--host", default="127.0.0.1", help="where to listen; %(default)s by default")
    parser.add_argument("--port", type=int, default=0, help="the port; a free one by default")
    parser.add_argument("--allow-remote", action="store_true", help="let --host be an address that others can reach")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--stream", action="store_true", help="read only the first rows, and load nothing")
    parser.add_argument("--revision", metavar="COMMIT", help="a branch, tag or commit on the Hub")
    reading_arguments(parser)


COMMANDS = (Command.of(view, _arguments),)
