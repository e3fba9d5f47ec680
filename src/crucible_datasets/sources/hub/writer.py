"""Writing to a dataset by huggingface_hub, with the retries and errors of this library.

huggingface_hub retries neither requests about a dataset nor commits, and it uploads large files by Xet, which only the
public Hub supports.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from io import BufferedIOBase
from json import JSONDecodeError
from traceback import walk_tb
from typing import Any, TypeVar
from urllib.parse import urlsplit

from crucible_datasets import config
from crucible_datasets.exceptions import ArgumentError, OfflineError, UploadError
from crucible_datasets.forking import cached_property
from crucible_datasets.records import dataclass
from crucible_datasets.sources.backoff import (
    RETRY_TIMEOUT,
    RETRYABLE_STATUSES,
    TransientError,
    note_reachable,
    unreachable_timeout,
    wait_to_retry,
)
from crucible_datasets.sources.client_errors import permanent_reason, transport_errors
from crucible_datasets.sources.headers import retry_after
from crucible_datasets.sources.hub.bars import bars_as_ours
from crucible_datasets.sources.hub.timeouts import with_timeouts
from crucible_datasets.sources.store_errors import store_errors

T = TypeVar("T")
_NO_XET = re.compile(r"\((?:404|501) .*xet-write-token")
_without_xet: set[str] = set()  # endpoints known not to support Xet
_NOT_A_HUB = "the response does not come from a Hub. Is there a proxy in between?"
_COMMIT = re.compile(r"/commit/[^/?]+(?:\?|$)")  # the only request with a visible effect
_WHEN_COMMITTING, _BEFORE_COMMITS = {"create_commit"}, {"_validate_yaml", "preupload_lfs_files"}
_NEVER_SENT = {"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"}
_REFUSED = {408, 429, 503}  # the server has not started; after other statuses the commit may exist
_CONFLICT = {409, 412}
_RETRY_HINT = "Check the network and HF_ENDPOINT, then try again: what has arrived at {} is not sent twice."
_CONFLICT_HINT = "Others keep committing to it: try again when they are done. What has arrived is not sent twice."
_NOT_COMMITTED = "Nothing was committed."
_MAYBE_COMMITTED = "The response to the commit was lost, so it may have been made: check the commits of {} first."
_MAYBE_PULL_REQUEST = "The pull request may have been made: look for it at {}/discussions before you try again."


@dataclass(frozen=True)
class Writer:
    """Writes to one dataset or bucket of a Hub."""

    id: str
    endpoint: str
    token: str | bool | None = field(default=None, repr=False)
    may_be_committed: bool = False  # by an earlier attempt whose response was lost
    kind: str = "datasets"  # or buckets

    @property
    def address(self) -> str:
        return f"hf://{self.kind}/{self.id}"

    @property
    def page(self) -> str:
        """The URL of its web page."""
        return f"{self.endpoint}/{self.kind}/{self.id}"

    @property
    def host(self) -> str:
        return urlsplit(self.endpoint).netloc

    @cached_property
    def _api(self) -> Any:
        from huggingface_hub import HfApi

        return HfApi(endpoint=self.endpoint, token=self.token)

    def with_retries(
        self, call: Callable[[Any], T], again: Callable[[Any], T] | None = None, is_pull: bool = False
    ) -> T:
        """The result of a call of huggingface_hub's API, retried after transient failures.

        Once the call may have succeeded, `again` is tried in its place; a pull request is not, to avoid a second one.
        """
        retries = Retries(self, is_pull)
        while True:
            try:
                return self.once(again if again is not None and retries.may_be_committed else call)
            except TransientError as failure:
                retries.failed(failure)

    def once(self, call: Callable[[Any], T]) -> T:
        """The same, tried once; a transient failure raises `TransientError`."""
        if config.is_offline():
            raise OfflineError.when_writing(self.address)
        try:
            with _original_errors(), with_timeouts(), bars_as_ours():
                done = call(self._api)
        except Exception as error:
            if (failure := _transient(error)) is not None:
                raise failure from (error if failure is not error else None)
            if type(error).__name__ == "HFValidationError":
                raise ArgumentError("repo_id", self.id, str(error)) from error
            if _is_not_from_hub(error):
                raise UploadError(self.address, _NOT_A_HUB) from error
            with store_errors(self.address, {"token": self.token}, writing=True):
                raise
        note_reachable(self.host)
        return done

    def send(self, path: str, call: Callable[[Any, str | BufferedIOBase], T], is_once: bool = False) -> T:
        """The result of a call that uploads a file, retried unless `is_once`; by Xet, or by LFS if that is missing."""
        tried: Callable[[Callable[[Any], T]], T] = self.once if is_once else self.with_retries
        if self.endpoint not in _without_xet:
            try:
                return tried(lambda api: call(api, path))
            except UploadError as error:
                if not _NO_XET.search(str(error.__cause__)):
                    raise
                _without_xet.add(self.endpoint)
        with open(path, "rb") as file, _without_xet_warning():
            return tried(lambda api: call(api, _rewound(file)))


class ConflictError(TransientError):
    """Another commit came first, so this one was not made; the next attempt is made on top of it."""


class Retries:
    """The failed attempts of one call: how many, since when, and whether one may have succeeded."""

    def __init__(self, hub: Writer, is_pull: bool = False) -> None:
        self.may_be_committed = hub.may_be_committed
        self._hub, self._is_pull = hub, is_pull
        self._number, self._began, self._unreachable_since = 0, 0.0, 0.0

    def failed(self, failure: TransientError) -> None:
        """Wait before the next attempt; raise if the time is up."""
        self._number, now = self._number + 1, time.monotonic()
        # Timed from the first failure: a large upload may have taken longer before it.
        self._began = self._began or now
        self._unreachable_since = (self._unreachable_since or now) if failure.is_unreachable else 0.0
        self.may_be_committed = self.may_be_committed or failure.may_have_succeeded
        if self._is_pull and failure.may_have_succeeded:
            raise self._error(failure, _MAYBE_PULL_REQUEST.format(self._hub.page))
        retry_timeout = unreachable_timeout(self._hub.host) if self._unreachable_since else RETRY_TIMEOUT
        if not wait_to_retry(failure, self._number, self._unreachable_since or self._began, retry_timeout):
            seen = _MAYBE_COMMITTED.format(self._hub.page) if self.may_be_committed else _NOT_COMMITTED
            raise self._error(failure, f"{seen} {self._what_to_do(failure)}")

    def _what_to_do(self, failure: TransientError) -> str:
        is_conflict = isinstance(failure, ConflictError)
        return _CONFLICT_HINT if is_conflict else _RETRY_HINT.format(self._hub.endpoint)

    def _error(self, failure: TransientError, besides: str) -> UploadError:
        error = UploadError(self._hub.address, f"{failure} (tried {self._number} times). {besides}")
        error.__cause__ = failure
        return error


def _rewound(file: BufferedIOBase) -> BufferedIOBase:
    file.seek(0)
    return file


@contextmanager
def _without_xet_warning() -> Iterator[None]:
    """A block without huggingface_hub's warning that an open file is not uploaded by Xet."""
    from huggingface_hub.utils.logging import get_logger  # the import sets the logger's level

    logger = get_logger("huggingface_hub._commit_api")

    def others(record: Any) -> bool:
        return "Xet Storage" not in record.getMessage()

    logger.addFilter(others)
    try:
        yield
    finally:
        logger.removeFilter(others)


@contextmanager
def _original_errors() -> Iterator[None]:
    """A block that raises the original errors where huggingface_hub wraps them.

    It reports a failed download as a missing local file, and a failed upload as a bare RuntimeError.
    """
    try:
        yield
    except Exception as error:
        is_made_of_another = type(error).__name__ in {"LocalEntryNotFoundError", "RuntimeError"}
        if is_made_of_another and isinstance(error.__cause__, Exception):
            raise error.__cause__ from error.__cause__.__cause__
        raise


def _transient(error: Exception) -> TransientError | None:
    """The error as a `TransientError`, if it is worth a retry."""
    if isinstance(error, TransientError):
        return error
    if isinstance(error, transport_errors()):
        may_have_succeeded = type(error).__name__ not in _NEVER_SENT and _is_commit(error)
        return (
            None
            if permanent_reason(error)
            else TransientError(f"{type(error).__name__}: {error}", may_have_succeeded=may_have_succeeded)
        )
    if isinstance(error, JSONDecodeError) and (where := _functions(error)) & _WHEN_COMMITTING:
        return TransientError(_NOT_A_HUB.partition(".")[0], may_have_succeeded=not where & _BEFORE_COMMITS)
    response: Any = getattr(error, "response", None)
    if response is None:
        return None
    if response.status_code in _CONFLICT and _is_commit(response):
        return ConflictError(f"the server answered {response.status_code}", retry_after(response.headers))
    if response.status_code not in RETRYABLE_STATUSES:
        return None
    may_have_succeeded = response.status_code not in _REFUSED and _is_commit(response)
    return TransientError(
        f"the server answered {response.status_code}", retry_after(response.headers), may_have_succeeded
    )


def _is_not_from_hub(error: Exception) -> bool:
    """Whether a response was not JSON, or lacked the metadata of the requested file."""
    return isinstance(error, JSONDecodeError) or type(error).__name__ == "FileMetadataError"


def _functions(error: Exception) -> set[str]:
    """The functions that an error passed through: a JSON error does not say which request it belongs to."""
    return {frame.f_code.co_name for frame, _ in walk_tb(error.__traceback__)}


def _is_commit(error: Any) -> bool:
    """Whether a failure or a response belongs to a commit request; True if it does not say."""
    try:
        return bool(_COMMIT.search(str(error.request.url)))
    except (AttributeError, RuntimeError):
        return True
