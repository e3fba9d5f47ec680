"""Scripts, styles and images of the pages, and the page that loads them.

They are looked up in a list of all files, so that no path leads anywhere else, and served from memory, since a
browser requests thirty of them before it renders.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from html import escape
from importlib.resources import files
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

# Charts, tables and text diffs use the scripts of reports.
_HOMES = {"": "crucible_datasets.viewer", "report/": "crucible_datasets.evaluation.report"}
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".txt": "text/plain"}
_IMPORTED = re.compile(r'^import .* from "(\.[^"]+)"', re.MULTILINE)
_STYLES = ("vendor/temml.css", "style/page.css", "style/table.css", "style/cells.css", "style/results.css")
ALL_STYLES = "style/all.css"


async def asset(request: Request) -> Response:
    """A file of the pages, or 304 for a browser that has it already."""
    found = _known(request.path_params["name"])
    if found is None:
        raise HTTPException(404, "There is no such file.")
    content, tag, kind = found
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


@cache
def shell(title: str, script: str | None = None) -> str:
    """The HTML of every page; its script loads the rest."""
    # With preload links, a browser need not parse one script to find the next.
    loaded = dict.fromkeys([*_with_imports("app/main.js"), *(_with_imports(f"app/{script}") if script else ())])
    links = "\n".join(f'<link rel="modulepreload" href="/assets/{name}">' for name in loaded)
    frame = str(_content("shell.html"), "utf-8")
    return frame.replace("@TITLE@", escape(title)).replace("@SCRIPTS@", links)


@cache
def _known(name: str) -> tuple[bytes, str, str] | None:
    names = _names()
    if name != ALL_STYLES and name not in names:
        return None
    content = b"\n".join(map(_content, _STYLES)) if name == ALL_STYLES else _content(name)
    kind = _TYPES.get(posixpath.splitext(name)[1], "application/octet-stream")
    return content, f'"{blake2b(content, digest_size=8).hexdigest()}"', kind


def _content(name: str) -> bytes:
    return bytes(_names()[name].read_bytes())


@cache
def _names() -> dict[str, Any]:
    """All files by name in URLs."""
    return {name: file for start, home in _HOMES.items() for name, file in _below(files(home) / "assets", start)}


def _below(folder: Any, start: str) -> Iterator[tuple[str, Any]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _below(each, f"{start}{each.name}/")
        else:
            yield f"{start}{each.name}", each


@cache
def _with_imports(name: str) -> list[str]:
    """A script and all its static imports."""
    found = [name]
    for each in found:
        imported = _IMPORTED.findall(str(_content(each), "utf-8")) if "vendor/" not in each else ()
        near = [posixpath.normpath(posixpath.join(posixpath.dirname(each), path)) for path in imported]
        found += [path for path in dict.fromkeys(near) if path not in found]
    return found
