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
from typing import Any, TypeVar
from urllib.parse import urlsplit

from crucible_datasets.exceptions import ArgumentError, UploadError
from crucible_datasets.forking import cached_property
from crucible_datasets.records import dataclass
from crucible_datasets.sources.accidents import accidents, lasting
from crucible_datasets.sources.patience import PASSING, PATIENCE, PassingError, patience_with_nobody, paused, see
from crucible_datasets.sources.refusals import told
from crucible_datasets.sources.stated import stated_pause

T = TypeVar("T")
_NO_XET = re.compile(r"\((?:404|501) .*xet-write-token")
_without_xet: set[str] = set()  # endpoints that were seen to speak no Xet
_WHAT_TO_DO = (
    "Nothing of it is visible. Look after the network and HF_ENDPOINT, then do it again: what has arrived at {} is "
    "not sent twice."
)


@dataclass(frozen=True)
class Writer:
    """One dataset of a Hub, to be written to."""

    id: str
    endpoint: str
    token: str | bool | None = field(default=None, repr=False)

    @property
    def _address(self) -> str:
        return f"hf://datasets/{self.id}"

    @property
    def _host(self) -> str:
        return urlsplit(self.endpoint).netloc

    @cached_property
    def _api(self) -> Any:
        from huggingface_hub import HfApi

        return HfApi(endpoint=self.endpoint, token=self.token)

    def patiently(self, act: Callable[[Any], T]) -> T:
        """What an act of huggingface_hub's API gives, tried again after accidents that may pass."""
        trial, began = 0, time.monotonic()
        while True:
            try:
                return self.once(act)
            except PassingError as accident:
                trial += 1
                self.pause(accident, trial, began)

    def once(self, act: Callable[[Any], T]) -> T:
        """The same, tried once: an accident that may pass is a `PassingError`."""
        try:
            done = act(self._api)
        except Exception as error:
            if (accident := _passing(error)) is not None:
                raise accident from error
            if type(error).__name__ == "HFValidationError":
                raise ArgumentError("repo_id", self.id, str(error)) from error
            with told(self._address, {"token": self.token}, writing=True):
                raise
        see(self._host)
        return done

    def pause(self, accident: PassingError, trial: int, began: float) -> None:
        """Wait before the next trial, or give up."""
        patience = patience_with_nobody(self._host) if accident.is_nobody_there else PATIENCE
        if not paused(accident, trial, began, patience):
            reason = f"{accident} (tried {trial} times). {_WHAT_TO_DO.format(self.endpoint)}"
            raise UploadError(self._address, reason) from accident

    def send(self, path: str, act: Callable[[Any, str | BufferedIOBase], T]) -> T:
        """What an act gives that sends a file: by Xet, or to a Hub without it as Git does."""
        if self.endpoint not in _without_xet:
            try:
                return self.patiently(lambda api: act(api, path))
            except UploadError as error:
                if not _NO_XET.search(str(error.__cause__)):
                    raise
                _without_xet.add(self.endpoint)
        with open(path, "rb") as file, _unwarned():
            return self.patiently(lambda api: act(api, _from_its_start(file)))


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


def _passing(error: Exception) -> PassingError | None:
    """The accident that an error is, if another trial may succeed."""
    if type(error).__name__ == "LocalEntryNotFoundError" and isinstance(error.__cause__, Exception):
        error = error.__cause__  # a download that got no answer, and then looked on the disk
    if isinstance(error, accidents()):
        return None if lasting(error) else PassingError(f"{type(error).__name__}: {error}")
    answer: Any = getattr(error, "response", None)
    if answer is None or answer.status_code not in PASSING:
        return None
    return PassingError(f"the server answered {answer.status_code}", stated_pause(answer.headers))
