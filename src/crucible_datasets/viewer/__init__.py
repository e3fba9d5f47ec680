"""Datasets and runs in the browser.

opening memory_store  what is shown: datasets, benchmarks, stores, single results
server serving      the running viewer; its HTTP server
entry guard         how browsers get in; access control
addresses           the routes
answers frontend    responses as JSON, or as HTML that loads it; errors (`errors`: those of the viewer only)
pages query rows questions   pages of data: the query of a URL, its rows, the process that computes them
kinds cells searching summaries media sending downloads   types of columns, cells, search, summaries, media, files
blocks arrays       block sizes; numbers without pandas
results/            pages of runs
assets/             files for the browser; vendor/ has third-party scripts, with their licences
"""

from __future__ import annotations

from typing import Any


def view(
    *things: Any,
    host: str = "127.0.0.1",
    port: int = 0,
    remote: bool = False,
    browser: bool = True,
    streaming: bool = False,
    revision: str | None = None,
) -> Any:
    """Show datasets, benchmarks, result stores or runs, as objects or by name, in the browser.

    The server runs in this process until it ends or the viewer is closed. It listens on `host`, which must be a
    loopback address unless `remote` is true. A browser opens its `url` once; programs send its `token`.
    """
    from crucible_datasets.viewer.opening import opened
    from crucible_datasets.viewer.server import Viewer

    viewer = Viewer(opened(things, streaming, revision), host, port, remote).start()
    return viewer.open_browser() if browser else viewer
