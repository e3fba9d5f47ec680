"""Response headers, parsed defensively."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

from crucible_datasets.exceptions import DownloadError, without_secrets


def content_length(headers: Mapping[str, str], url: str) -> int | None:
    """The Content-Length, or None."""
    stated = headers.get("Content-Length")
    if stated is not None and not (stated.isascii() and stated.isdigit()):
        raise DownloadError(url, f"the server states a length of {stated!r}.")
    return None if stated is None else int(stated)


def retry_after(headers: Mapping[str, str]) -> float:
    """The seconds of a Retry-After header, which may be a number or a date."""
    stated = headers.get("Retry-After")
    if not stated:
        return 0.0
    try:
        return max(0.0, float(stated))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(stated).timestamp() - time.time())
    except (ValueError, TypeError):
        return 0.0


def redirect_target(headers: Mapping[str, str], url: str) -> str:
    """The URL that a redirect leads to."""
    location = headers["Location"]
    try:
        there = urljoin(url, location)
        if urlsplit(there).scheme in {"http", "https"} and (urlsplit(there).port or True):
            return there
    except ValueError:
        pass
    raise DownloadError(url, f"it was redirected to {without_secrets(location)!r}, which is not an HTTP URL.")
