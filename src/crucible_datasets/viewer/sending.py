"""Bytes of media for a browser: whole or the part it asks for, and not again where it has them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b

from starlette.exceptions import HTTPException
from starlette.responses import Response

from crucible_datasets.viewer.media import OTHER, Content, media_type

_PART = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z")
# Only this browser keeps them, and only for who has the token.
_LASTING = "private, max-age=86400, immutable"


def sent(found: Content, asked: Mapping[str, str], is_lasting: bool) -> Response:
    """The answer; bytes of the data at an address of this viewer alone never change, a file may."""
    content = found.content
    kind, tag = media_type(content), f'"{blake2b(content, digest_size=16).hexdigest()}"'
    headers = {
        "ETag": tag,
        "Accept-Ranges": "bytes",
        "Cache-Control": _LASTING if is_lasting and found.is_held else "private, no-cache",
        "Vary": "Cookie, X-Crucible-Token",
    }
    if kind == OTHER:
        headers["Content-Disposition"] = "attachment"
    if asked.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    if "range" not in asked or asked.get("if-range", tag) != tag:
        return Response(content, media_type=kind, headers=headers)
    return _part(content, asked["range"], kind, headers)


def _part(content: bytes, asked: str, kind: str, headers: dict[str, str]) -> Response:
    """Players ask for parts, to jump to a place."""
    found = _PART.match(asked)
    if found is None or found[0] == "bytes=-":
        return Response(content, media_type=kind, headers=headers)
    size = len(content)
    first = int(found[1]) if found[1] else max(size - int(found[2]), 0)
    last = min(int(found[2]), size - 1) if found[1] and found[2] else size - 1
    if first > last:
        raise HTTPException(416, f"There is no such part of {size:,} bytes.")
    headers = {**headers, "Content-Range": f"bytes {first}-{last}/{size}"}
    return Response(content[first : last + 1], 206, headers=headers, media_type=kind)
