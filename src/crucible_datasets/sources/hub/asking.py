"""Questions to a Hub: what is said to which host, what comes back, and what a refusal means."""

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

_NEXT = re.compile(r'<([^>]+)>\s*;\s*rel="next"')


@dataclass(frozen=True)
class Asked:
    """Something of a Hub that can be asked about: its name, and who asks."""

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
        """Where it is asked about."""
        return f"{self.endpoint}/api/{self.kind}/{self.id}"

    def answer(
        self, url: str, read: Callable[[Any], T], web: Web | None = None, sent: Any = None
    ) -> tuple[Mapping[str, str], T]:
        """The headers of an answer and what it says."""
        try:
            found, body = (web or self.web).page(url, sent)
            return found, read(json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DownloadError(url, "the answer is not one of a Hub. Is something between it and you?") from error
        except DownloadError as error:
            if error.status in {401, 403, 404}:
                raise DatasetNotFoundError(self._shown, self._reason(error)) from error
            raise

    def quick_answer(self, url: str, read: Callable[[Any], T]) -> T | None:
        """What an answer says, if it can be had at once and without the HTTP client, and nothing is wrong with it."""
        body = stdlib_http.answered(url, self.web.headers(url))
        try:
            return None if body is None else read(json.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def pages(self, url: str, read: Callable[[Any], list[T]]) -> Iterator[T]:
        """What all pages of an answer say."""
        following: str | None = url
        while following:
            found, entries = self.answer(following, read)
            yield from entries
            link = _NEXT.search(found.get("Link", ""))
            following = link[1] if link else None

    @property
    def _shown(self) -> str:
        return self.id if self.kind == "datasets" else f"{self.kind}/{self.id}"

    @property
    def _is_known(self) -> bool:
        """Whether the Hub is told who asks."""
        return "authorization" in self.web.headers(self.api)

    def _reason(self, error: DownloadError) -> str:
        if error.code == "GatedRepo":
            place = f"{self.endpoint}/{self.kind}/{self.id}"
            return f"it is gated. Ask for access at {place}, then log in or pass token=."
        if error.status == 401 and error.code != "RepoNotFound" and self._is_known:
            return f"{self.endpoint} does not accept the token. Log in anew, or look at HF_TOKEN and token=."
        if error.code == "RevisionNotFound":
            return f"it has no revision {self.revision!r}."
        return f"it does not exist at {self.endpoint}, or it is private and the token gives no access to it."


def headers(endpoint: str, token: str | bool | None, url: str) -> dict[str, str]:
    """What is said to a host: the token only to the Hub itself, and only where nobody can listen."""
    known = {"user-agent": "crucible-datasets"}
    there, hub = urlsplit(url), urlsplit(endpoint)
    is_here = there.hostname in {"127.0.0.1", "localhost", "::1"} and not stdlib_http.is_proxied(there)
    is_private = there.scheme == "https" or is_here
    secret = token if isinstance(token, str) else None if token is False else own_token()
    if secret and is_private and (there.scheme, there.netloc) == (hub.scheme, hub.netloc):
        known["authorization"] = f"Bearer {secret}"
    return known
