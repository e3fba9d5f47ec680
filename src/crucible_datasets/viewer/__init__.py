"""Data and runs in a browser of this machine.

opening alone       what is looked at
server serving      a viewer that runs; how it speaks HTTP
guard addresses     who may ask; what for
answers frontend    a page as JSON, or as HTML that asks for it; errors (`errors` has those of the viewer alone)
pages query rows    pages of data: the question of an address, the rows it means
kinds cells searching summaries media sending downloads   how values are told, found, summed up and sent
blocks arrays       a few of them at a time; numbers without pandas
results/            pages of runs
assets/             what the browser gets; vendor/ holds scripts of others, with their licences
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
    """Show datasets, benchmarks, result stores or runs, as objects or by their names, in the browser.

    The server runs in this program until it ends or the viewer is closed. It listens on `host`, which others must not
    be able to reach unless `remote` says so; without the token in its address nobody gets an answer.
    """
    from crucible_datasets.viewer.opening import opened
    from crucible_datasets.viewer.server import Viewer

    viewer = Viewer(opened(things, streaming, revision), host, port, remote).start()
    return viewer.open_browser() if browser else viewer
