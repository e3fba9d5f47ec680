"""One short question to a server by the standard library alone: the HTTP client takes longer to import than to ask.

It is asked only where nothing special is needed, and an answer counts only when all is well. Otherwise the caller asks
again as usual, with retries, redirects, proxies and whatever certificates the client knows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

_LONGEST_ANSWER = 1 << 24
_LONGEST_PAUSE = 5.0


def answered(url: str, headers: Mapping[str, str], silence: float = 5.0) -> bytes | None:
    """The body of an answer 200, or None, also after some seconds of silence."""
    parts = urlsplit(url)
    if _has_proxies() or not parts.hostname or parts.username:
        return None
    import http.client

    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=silence)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}".rstrip("?"), headers=dict(headers))
        answer = connection.getresponse()
        if answer.status == 200 and answer.headers.get("Content-Encoding", "identity") == "identity":
            return answer.read(_LONGEST_ANSWER)
        _pause(answer.headers.get("Retry-After", ""))
    except (OSError, http.client.HTTPException, ValueError):
        pass
    finally:
        connection.close()
    return None


def _has_proxies() -> bool:
    return any(name.lower().endswith("_proxy") and value for name, value in os.environ.items())


def _pause(asked: str) -> None:
    """Wait as long as a busy server asks for, within limits, before it is asked as usual."""
    if asked.replace(".", "", 1).isdigit():
        time.sleep(min(float(asked), _LONGEST_PAUSE))
