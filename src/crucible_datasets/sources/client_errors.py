"""Errors of the HTTP client of huggingface_hub, and which of them are permanent."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, cast

from crucible_datasets.exceptions import DownloadError
from crucible_datasets.sources.client import client as made_client
from crucible_datasets.sources.client import is_client_loaded

_UNTRUSTED = re.compile(r"certificate verify failed: ([^(]*)")
_UNTRUSTED_HINT = (
    "its certificate is not trusted: {}. If it was signed by a private authority, set SSL_CERT_FILE to its certificate."
)
_REFUSED = re.compile(r"4\d\d\b[\w -]*")
_PROXY_HINT = "the proxy answered {}. Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY."
_CLIENT_HINT = "the HTTP client cannot be created: {}. Check SSL_CERT_FILE, SSL_CERT_DIR and the proxy variables."


def client_for(url: str) -> Any:
    """The HTTP client, for a request to a URL."""
    try:
        return made_client()
    except ImportError:
        raise
    except Exception as error:  # it reads certificates and proxies from environment variables
        # The message of any other error may contain a proxy URL with a password.
        reason = error.strerror if isinstance(error, OSError) else type(error).__name__
        raise DownloadError(url, _CLIENT_HINT.format(reason)) from error


def transport_errors() -> tuple[type[Exception], ...]:
    """The error classes of failed connections; none while the client is not in use."""
    if not is_client_loaded():
        return ()
    try:
        name = type(made_client()).__module__.partition(".")[0]
    except Exception:  # noqa: BLE001 - without a client there was no connection
        return ()
    return (cast(type[Exception], import_module(name).TransportError),)


def permanent_reason(error: Exception) -> str | None:
    """Why a failure would happen again; None if it may be transient."""
    if untrusted := _UNTRUSTED.search(str(error)):
        return _UNTRUSTED_HINT.format(untrusted[1].strip(" ."))
    if type(error).__name__ == "ProxyError" and (refused := _REFUSED.match(str(error))):
        return _PROXY_HINT.format(refused[0].strip())
    return None
