"""Responses with media: range requests and caching."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b

from starlette.exceptions import HTTPException
from starlette.responses import Response

from crucible_datasets.viewer.media import OTHER, Content, media_type

_PART = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z")
# Private: only cached by this browser.
_LASTING = "private, max-age=86400, immutable"


def sent(found: Content, request_headers: Mapping[str, str], is_lasting: bool) -> Response:
    """The response; content of the data is immutable under the URL of this viewer, a file may change."""
    content = found.content
    kind, tag = media_type(content), f'"{blake2b(content, digest_size=16).hexdigest()}"'
    headers = {
        "ETag": tag,
        "Accept-Ranges": "bytes",
        "Cache-Control": _LASTING if is_lasting and found.is_in_data else "private, no-cache",
        "Vary": "Cookie, X-Crucible-Token",
    }
    if kind == OTHER:
        headers["Content-Disposition"] = "attachment"
    if request_headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    if "range" not in request_headers or request_headers.get("if-range", tag) != tag:
        return Response(content, media_type=kind, headers=headers)
    return _part(content, request_headers["range"], kind, headers)


def _part(content: bytes, wanted: str, kind: str, headers: dict[str, str]) -> Response:
    """The response to a range request, which players use to seek."""
    found = _PART.match(wanted)
    if found is None or found[0] == "bytes=-":
        return Response(content, media_type=kind, headers=headers)
    size = len(content)
    first = int(found[1]) if found[1] else max(size - int(found[2]), 0)
    last = min(int(found[2]), size - 1) if found[1] and found[2] else size - 1
    if first > last:
        raise HTTPException(416, f"There is no such part of {size:,} bytes.")
    headers = {**headers, "Content-Range": f"bytes {first}-{last}/{size}"}
    return Response(content[first : last + 1], 206, headers=headers, media_type=kind)
