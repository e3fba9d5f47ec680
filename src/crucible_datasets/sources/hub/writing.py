"""What huggingface_hub does at a dataset, with the patience and the errors of this library.

It repeats neither a question about a dataset nor a commit when a server is busy or a connection breaks, and it sends
large contents by Xet, which only the public Hub speaks.
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
from crucible_datasets.sources.backoff import PASSING, PATIENCE, PassingError, patience_with_nobody, paused, see
from crucible_datasets.sources.client_errors import accidents, lasting
from crucible_datasets.sources.headers import retry_after
from crucible_datasets.sources.hub.silence import bounded
from crucible_datasets.sources.refusals import told

T = TypeVar("T")
_NO_XET = re.compile(r"\((?:404|501) .*xet-write-token")
_without_xet: set[str] = set()  # endpoints that were seen to speak no Xet
_NO_HUB = "the answer is not one of a Hub. Is something between it and you?"
_COMMIT = re.compile(r"/commit/[^/?]+(?:\?|$)")  # the only request whose effect others can see
_WHEN_COMMITTING, _BEFORE_COMMITS = {"create_commit"}, {"_validate_yaml", "preupload_lfs_files"}
_NEVER_SENT = {"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol"}
_REFUSED = {408, 429, 503}  # answers of a server that has not begun; behind others it may have done all
_OVERTAKEN = {409, 412}
_WHAT_TO_DO = "Look after the network and HF_ENDPOINT, then do it again: what has arrived at {} is not sent twice."
_WHEN_OVERTAKEN = (
    "Others commit to it all the time: do it again when they are done. What has arrived is not sent twice."
)
_NOTHING = "Nothing of it is visible."
_PERHAPS = "The answer to the commit was lost, so it may have been made: look at the commits of {} first."
_PERHAPS_A_PULL = "The pull request may have been made: look for it at {}/discussions before you do it again."


@dataclass(frozen=True)
class Writer:
    """One dataset of a Hub, to be written to."""

    id: str
    endpoint: str
    token: str | bool | None = field(default=None, repr=False)
    is_in_doubt: bool = False  # whether a commit of before may have been made

    @property
    def address(self) -> str:
        return f"hf://datasets/{self.id}"

    @property
    def page(self) -> str:
        """Where people look at it."""
        return f"{self.endpoint}/datasets/{self.id}"

    @property
    def host(self) -> str:
        return urlsplit(self.endpoint).netloc

    @cached_property
    def _api(self) -> Any:
        from huggingface_hub import HfApi

        return HfApi(endpoint=self.endpoint, token=self.token)

    def patiently(self, act: Callable[[Any], T], again: Callable[[Any], T] | None = None, is_pull: bool = False) -> T:
        """What an act of huggingface_hub's API gives, tried again after accidents that may pass.

        Once it may have been done, it is tried as `again` says; a pull request, which there would be two of, is not.
        """
        trials = Trials(self, is_pull)
        while True:
            try:
                return self.once(again if again is not None and trials.is_in_doubt else act)
            except PassingError as accident:
                trials.failed(accident)

    def once(self, act: Callable[[Any], T]) -> T:
        """The same, tried once: an accident that may pass is a `PassingError`."""
        if config.is_offline():
            raise OfflineError.when_writing(self.address)
        try:
            with _unwrapped(), bounded():
                done = act(self._api)
        except Exception as error:
            if (accident := _passing(error)) is not None:
                raise accident from (error if accident is not error else None)
            if type(error).__name__ == "HFValidationError":
                raise ArgumentError("repo_id", self.id, str(error)) from error
            if _is_of_no_hub(error):
                raise UploadError(self.address, _NO_HUB) from error
            with told(self.address, {"token": self.token}, writing=True):
                raise
        see(self.host)
        return done

    def send(self, path: str, act: Callable[[Any, str | BufferedIOBase], T], is_once: bool = False) -> T:
        """What an act gives that sends a file, patiently or once: by Xet, or to a Hub without it as Git does."""
        tried: Callable[[Callable[[Any], T]], T] = self.once if is_once else self.patiently
        if self.endpoint not in _without_xet:
            try:
                return tried(lambda api: act(api, path))
            except UploadError as error:
                if not _NO_XET.search(str(error.__cause__)):
                    raise
                _without_xet.add(self.endpoint)
        with open(path, "rb") as file, _unwarned():
            return tried(lambda api: act(api, _from_its_start(file)))


class OvertakenError(PassingError):
    """Somebody else has committed in between, so the commit was not made; the next one is made on top of theirs."""


class Trials:
    """The trials of one act: how many there were, since when they fail, and whether one may have been carried out."""

    def __init__(self, hub: Writer, is_pull: bool = False) -> None:
        self.is_in_doubt = hub.is_in_doubt
        self._hub, self._is_pull = hub, is_pull
        self._number, self._began, self._alone = 0, 0.0, 0.0

    def failed(self, accident: PassingError) -> None:
        """Wait before the next trial, or give up."""
        self._number, now = self._number + 1, time.monotonic()
        # Patience is with what goes wrong: a large file may have been on its way for longer before it did.
        self._began = self._began or now
        self._alone = (self._alone or now) if accident.is_nobody_there else 0.0
        self.is_in_doubt = self.is_in_doubt or accident.may_be_done
        if self._is_pull and accident.may_be_done:
            raise self._error(accident, _PERHAPS_A_PULL.format(self._hub.page))
        patience = patience_with_nobody(self._hub.host) if self._alone else PATIENCE
        if not paused(accident, self._number, self._alone or self._began, patience):
            seen = _PERHAPS.format(self._hub.page) if self.is_in_doubt else _NOTHING
            raise self._error(accident, f"{seen} {self._what_to_do(accident)}")

    def _what_to_do(self, accident: PassingError) -> str:
        is_overtaken = isinstance(accident, OvertakenError)
        return _WHEN_OVERTAKEN if is_overtaken else _WHAT_TO_DO.format(self._hub.endpoint)

    def _error(self, accident: PassingError, besides: str) -> UploadError:
        error = UploadError(self._hub.address, f"{accident} (tried {self._number} times). {besides}")
        error.__cause__ = accident
        return error


def _from_its_start(file: BufferedIOBase) -> BufferedIOBase:
    file.seek(0)
    return file


@contextmanager
def _unwarned() -> Iterator[None]:
    """Without the remark of huggingface_hub that an open file does not go by Xet."""
    from huggingface_hub.utils.logging import get_logger  # its import gives the logger its level

    logger = get_logger("huggingface_hub._commit_api")

    def others(record: Any) -> bool:
        return "Xet Storage" not in record.getMessage()

    logger.addFilter(others)
    try:
        yield
    finally:
        logger.removeFilter(others)


@contextmanager
def _unwrapped() -> Iterator[None]:
    """What went wrong, without what huggingface_hub makes of it.

    A download that got no answer is called a file that is not on this disk, and an upload that failed says no more.
    """
    try:
        yield
    except Exception as error:
        is_made_of_another = type(error).__name__ in {"LocalEntryNotFoundError", "RuntimeError"}
        if is_made_of_another and isinstance(error.__cause__, Exception):
            raise error.__cause__ from error.__cause__.__cause__
        raise


def _passing(error: Exception) -> PassingError | None:
    """The accident that an error is, if another trial may succeed."""
    if isinstance(error, PassingError):
        return error
    if isinstance(error, accidents()):
        may_be_done = type(error).__name__ not in _NEVER_SENT and _is_commit(error)
        return None if lasting(error) else PassingError(f"{type(error).__name__}: {error}", may_be_done=may_be_done)
    if isinstance(error, JSONDecodeError) and (where := _functions(error)) & _WHEN_COMMITTING:
        return PassingError(_NO_HUB.partition(".")[0], may_be_done=not where & _BEFORE_COMMITS)
    answer: Any = getattr(error, "response", None)
    if answer is None:
        return None
    if answer.status_code in _OVERTAKEN and _is_commit(answer):
        return OvertakenError(f"the server answered {answer.status_code}", retry_after(answer.headers))
    if answer.status_code not in PASSING:
        return None
    may_be_done = answer.status_code not in _REFUSED and _is_commit(answer)
    return PassingError(f"the server answered {answer.status_code}", retry_after(answer.headers), may_be_done)


def _is_of_no_hub(error: Exception) -> bool:
    """Whether an answer was no JSON, or said nothing of the file that was asked for."""
    return isinstance(error, JSONDecodeError) or type(error).__name__ == "FileMetadataError"


def _functions(error: Exception) -> set[str]:
    """Where an error comes from: an answer that is no JSON does not say what it is the answer to."""
    return {frame.f_code.co_name for frame, _ in walk_tb(error.__traceback__)}


def _is_commit(told: Any) -> bool:
    """Whether an accident or an answer is that of a request for a commit; also if it does not say."""
    try:
        return bool(_COMMIT.search(str(told.request.url)))
    except (AttributeError, RuntimeError):
        return True
