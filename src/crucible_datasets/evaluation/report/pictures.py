"""Images that a page may embed: raster formats of limited size."""

from __future__ import annotations

from base64 import b64encode

LARGEST = 300_000  # characters of Base64
_KINDS = {"iVBORw0KGgo": "png", "/9j/": "jpeg", "R0lGOD": "gif", "UklGR": "webp"}


def picture(content: bytes | str) -> str | None:
    """The bytes of an image, or their Base64, as a data URL; None if they are not an image."""
    text = b64encode(content).decode() if isinstance(content, bytes) else content
    kind = next((kind for start, kind in _KINDS.items() if text.startswith(start)), None)
    if kind is None:
        return None
    if len(text) > LARGEST:
        return f"a picture ({kind}, {len(text) * 3 // 4 - text[-2:].count('='):,} bytes), too large for this page"
    return f"data:image/{kind};base64,{text}"
