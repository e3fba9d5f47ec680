"""A cache of the answers of functions, by the content of samples: a rerun only generates missing answers.

Answers survive a crash, and concurrent processes share them. The files are JSON Lines; nothing in them is executed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

import msgspec
import xxhash

from crucible_datasets import config
from crucible_datasets.atomic import atomic_file
from crucible_datasets.atomic.private import make_private, own_folder
from crucible_datasets.evaluation.predictions.settings import settings_of
from crucible_datasets.evaluation.results.encoding import encode
from crucible_datasets.evaluation.results.journal import Journal, left_in, lines_in, packed
from crucible_datasets.forking import Lock
from crucible_datasets.hashing import Hasher, UnhashableError
from crucible_datasets.logging import get_logger

_SECONDS_BETWEEN_SYNCS = 1.0
_MOST_JOURNALS = 16  # of ended processes; more are merged into one
_logger = get_logger(__name__)


class _Line(msgspec.Struct, frozen=True):
    key: str
    answer: Any = None
    text: str | None = None  # of an answer that msgspec would change: long integers, halves of surrogate pairs


_line = msgspec.json.Decoder(_Line)


class PredictionCache:
    """The answers of one model, by the content of the samples."""

    def __init__(self, folder: str) -> None:
        make_private(folder)
        self.folder = folder
        self._answers = _known(folder)
        self._journal = Journal(folder)
        self._synced = time.monotonic()
        self._lock = Lock()
        self._used = 0

    def __enter__(self) -> PredictionCache:
        return self

    def __exit__(self, *error: object) -> None:
        self._journal.sync()
        self._journal.close()
        if self._used:
            _logger.info("%d answers are from the cache %s: cache=False asks again.", self._used, self.folder)

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, sample: Any, epoch: int) -> tuple[bool, Any]:
        """Whether there is an answer to a sample, and the answer."""
        key = key_of(sample, epoch)
        known = key in self._answers
        self._used += known
        return known, self._answers.get(key)

    def put(self, sample: Any, epoch: int, answer: Any) -> None:
        """Store an answer: it survives a crash of the process at once, and one of the machine after a second.

        An answer that JSON would change, such as NaN in a dict, is not stored.
        """
        key = key_of(sample, epoch)
        line = _encoded(key, answer)
        if line is None:
            return
        self._answers[key] = answer
        with self._lock:
            due = time.monotonic() - self._synced > _SECONDS_BETWEEN_SYNCS
            if due:
                self._synced = time.monotonic()
        self._journal.append([line], durable=due)


def _encoded(key: str, answer: Any) -> bytes | None:
    """The line of an answer; None if it would be another answer when it is read."""
    line = encode(_Line(key, answer))
    if _line.decode(line).answer == answer:
        return line
    try:
        text = json.dumps(answer)
    except (TypeError, ValueError, RecursionError):
        return None
    return encode(_Line(key, text=text)) if json.loads(text) == answer else None


def _answer(line: _Line) -> Any:
    return line.answer if line.text is None else json.loads(line.text)


def _known(folder: str) -> dict[str, Any]:
    """The answers of all journals; many journals of ended processes are merged."""
    try:
        left = left_in(folder)
        answers = {line.key: _answer(line) for line in map(_line.decode, lines_in(folder))}
    except FileNotFoundError:  # another process has just merged them
        return _known(folder)
    if len(left) > _MOST_JOURNALS:
        lines = (_encoded(key, answer) for key, answer in answers.items())
        packed(folder, (line for line in lines if line is not None), left)
    return answers


def prediction_cache(
    function: Callable[..., Any], model: str, cache: Any, cache_key: str | None
) -> PredictionCache | None:
    """The cache of one model and function; None if nothing identifies the function. `cache` may be a folder."""
    is_named = isinstance(cache, (str, os.PathLike))
    root = str(cache) if is_named else own_folder(os.path.join(config.HF_DATASETS_CACHE, "predictions"))
    digest = cache_key or _digest(function)
    if digest is None:
        return None
    identity = {"model": model, "function": digest, "form": 1}
    folder = own_folder(os.path.join(os.path.expanduser(root), xxhash.xxh3_128_hexdigest(encode(identity))))
    kept = PredictionCache(folder)
    note = os.path.join(folder, "about.json")
    if not os.path.exists(note):
        with atomic_file(note) as temporary, open(temporary, "wb") as file:
            file.write(encode({**identity, "name": _name(function)}))
    return kept


def _digest(function: Callable[..., Any]) -> str | None:
    """A digest of a function and of everything it refers to; None if some of that cannot be hashed.

    Its name would not do: a changed prompt, or another program's function of that name, would get its answers.
    """
    hasher = Hasher()
    try:
        hasher.update(function)
        hasher.update(settings_of(hasher.packages))
        return hasher.hexdigest()
    except UnhashableError as error:
        _logger.warning("%s So its answers are not cached: pass cache_key= to name what they depend on.", error)
        return None


def key_of(sample: Any, epoch: int) -> str:
    """The key of a question: a digest of the whole sample and the repetition."""
    return xxhash.xxh3_128_hexdigest(encode([sample, epoch]))


def _name(function: Callable[..., Any]) -> str:
    kind = function if hasattr(function, "__qualname__") else type(function)
    return f"{kind.__module__}.{kind.__qualname__}"
