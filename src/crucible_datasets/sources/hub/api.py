"""Requests to the API of a Hub: headers, parsed responses, and errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from crucible_datasets import config
from crucible_datasets.exceptions import DatasetNotFoundError, DownloadError
from crucible_datasets.forking import cached_property
from crucible_datasets.records import dataclass
from crucible_datasets.sources import stdlib_http
from crucible_datasets.sources.hub.environment import token as own_token
from crucible_datasets.sources.web import Web

T = TypeVar("T")

_PART_OF_COMMIT = re.compile(r"[0-9a-f]{4,39}")
_SHORT = " Name a commit by all of its 40 digits."
_NEXT = re.compile(r'<([^>]+)>\s*;\s*rel="next"')


@dataclass(frozen=True)
class HubApi:
    """The API of one dataset or bucket of a Hub."""

    id: str
    revision: str = config.HUB_DEFAULT_VERSION
    token: str | bool | None = field(default=None, repr=False)
    endpoint: str = field(default_factory=lambda: config.HF_ENDPOINT)
    kind = "datasets"

    @cached_property
    def web(self) -> Web:
        return Web(partial(headers, self.endpoint, self.token))

    @property
    def api(self) -> str:
        """The base URL."""
        return f"{self.endpoint}/api/{self.kind}/{self.id}"

    def get_json(
        self, url: str, read: Callable[[Any], T], web: Web | None = None, payload: Any = None
    ) -> tuple[Mapping[str, str], T]:
        """The headers of a response, and its JSON parsed by `read`."""
        try:
            found, body = (web or self.web).page(url, payload)
            return found, read(json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DownloadError(url, "the response does not come from a Hub. Is there a proxy in between?") from error
        except DownloadError as error:
            if error.status in {401, 403, 404}:
                raise DatasetNotFoundError(self._shown, self._reason(error)) from error
            raise

    def try_get_json(self, url: str, read: Callable[[Any], T]) -> T | None:
        """The JSON parsed by `read`, from one attempt without the HTTP client; None if anything goes wrong."""
        body = stdlib_http.try_get(url, self.web.headers(url))
        try:
            return None if body is None else read(json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def pages(self, url: str, read: Callable[[Any], list[T]]) -> Iterator[T]:
        """The entries of all pages."""
        following: str | None = url
        while following:
            found, entries = self.get_json(following, read)
            yield from entries
            link = _NEXT.search(found.get("Link", ""))
            following = link[1] if link else None

    @property
    def _shown(self) -> str:
        return self.id if self.kind == "datasets" else f"{self.kind}/{self.id}"

    @property
    def _is_known(self) -> bool:
        """Whether requests carry a token."""
        return "authorization" in self.web.headers(self.api)

    def _reason(self, error: DownloadError) -> str:
        if error.code == "GatedRepo":
            place = f"{self.endpoint}/{self.kind}/{self.id}"
            return f"it is gated. Request access at {place}, then log in or pass token=."
        if error.status == 401 and error.code != "RepoNotFound" and self._is_known:
            return f"{self.endpoint} does not accept the token. Log in again, or check HF_TOKEN and token=."
        if error.code == "RevisionNotFound":
            return f"it has no revision {self.revision!r}.{_SHORT if _PART_OF_COMMIT.fullmatch(self.revision) else ''}"
        return f"it does not exist at {self.endpoint}, or it is private and the token gives no access to it."


def headers(endpoint: str, token: str | bool | None, url: str) -> dict[str, str]:
    """The headers for a URL; the token is sent to the Hub itself only, and only over https or to this machine."""
    known = {"user-agent": "crucible-datasets"}
    there, hub = urlsplit(url), urlsplit(endpoint)
    is_here = there.hostname in {"127.0.0.1", "localhost", "::1"} and not stdlib_http.is_proxied(there)
    is_private = there.scheme == "https" or is_here
    secret = token if isinstance(token, str) else None if token is False else own_token()
    if secret and is_private and (there.scheme, there.netloc) == (hub.scheme, hub.netloc):
        known["authorization"] = f"Bearer {secret}"
    return known
