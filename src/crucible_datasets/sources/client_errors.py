"""What the HTTP client of huggingface_hub raises, and what of it no other trial would change."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, cast

from crucible_datasets.exceptions import DownloadError
from crucible_datasets.sources.client import client as made_client
from crucible_datasets.sources.client import is_client_loaded

_UNTRUSTED = re.compile(r"certificate verify failed: ([^(]*)")
_WHOM_TO_TRUST = (
    "its certificate is not trusted: {}. If an authority of your own has signed it, set SSL_CERT_FILE to its file."
)
_REFUSED = re.compile(r"4\d\d\b[\w -]*")
_WHICH_PROXY = "the proxy answered {}. HTTPS_PROXY, HTTP_PROXY and ALL_PROXY say which one is asked, and by whom."
_WHICH_SETTING = "no HTTP client can be made here: {}. See SSL_CERT_FILE, SSL_CERT_DIR and the variables of proxies."


def client_for(url: str) -> Any:
    """The HTTP client, for a request to an address."""
    try:
        return made_client()
    except ImportError:
        raise
    except Exception as error:  # variables of its user say which files it reads and which proxies it asks
        # An address of a proxy, with a password, may be in the message of anything else.
        reason = error.strerror if isinstance(error, OSError) else type(error).__name__
        raise DownloadError(url, _WHICH_SETTING.format(reason)) from error


def accidents() -> tuple[type[Exception], ...]:
    """What is raised when a connection fails; nothing while the client is not in use."""
    if not is_client_loaded():
        return ()
    try:
        name = type(made_client()).__module__.partition(".")[0]
    except Exception:  # noqa: BLE001 - without a client there was no connection
        return ()
    return (cast(type[Exception], import_module(name).TransportError),)


def lasting(error: Exception) -> str | None:
    """The reason of an accident that would happen again; None of one that may pass."""
    if untrusted := _UNTRUSTED.search(str(error)):
        return _WHOM_TO_TRUST.format(untrusted[1].strip(" ."))
    if type(error).__name__ == "ProxyError" and (refused := _REFUSED.match(str(error))):
        return _WHICH_PROXY.format(refused[0].strip())
    return None
