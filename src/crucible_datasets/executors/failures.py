"""Pickled exceptions: raised in a worker, raised again in the program with the same type and content.

Their causes come along; the last link of the chain is the worker's traceback.
"""

from __future__ import annotations

import pickle
import traceback
from typing import Any

import cloudpickle

from crucible_datasets.exceptions import WorkerError


class RemoteTraceback(Exception):  # noqa: N818  (a traceback, not an error)
    """Where in another process an exception was raised."""

    def __str__(self) -> str:
        return f"in a worker process\n\n{self.args[0]}"


def packed_error(error: BaseException) -> bytes:
    """An exception, its causes and where it was raised, as bytes."""
    links: list[bytes] = []
    link: BaseException | None = error
    while link is not None and len(links) < 100:
        links.append(_portable(link))
        link = link.__cause__
    return pickle.dumps((links, "".join(traceback.format_exception(error))))


def opened_error(message: bytes) -> BaseException:
    """The exception, with its causes; the last one is where it was raised."""
    links, where = pickle.loads(message)  # noqa: S301
    errors = [_restored(link) for link in links]
    for error, cause in zip(errors, [*errors[1:], RemoteTraceback(where.rstrip())], strict=True):
        error.__cause__ = cause
    return errors[0]


def _restored(link: bytes) -> BaseException:
    make, *arguments = pickle.loads(link)  # noqa: S301
    return make(*arguments)


def _portable(error: BaseException) -> bytes:
    """The exception itself; else its type and attributes, without `__init__`; else a `WorkerError` that quotes it."""
    for form in ((_itself, error), (_of_parts, type(error), error.args, vars(error))):
        try:
            link = cloudpickle.dumps(form, 5)
            if _alike(_restored(link), error):
                return link
        except Exception:  # noqa: BLE001, S112  (whatever its pickling raises)
            continue
    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    return pickle.dumps((WorkerError, kind, _message_of(error), "".join(traceback.format_exception(error))))


def _itself(error: BaseException) -> BaseException:
    return error


def _of_parts(kind: type[BaseException], arguments: tuple[Any, ...], attributes: dict[str, Any]) -> BaseException:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    vars(error).update(attributes)
    return error


def _alike(one: BaseException, other: BaseException) -> bool:
    """Whether the type and the plain arguments are the same; an `__init__` may have changed them once more."""
    plain = [[value for value in error.args if isinstance(value, str | int | float)] for error in (one, other)]
    return type(one) is type(other) and len(one.args) == len(other.args) and plain[0] == plain[1]


def _message_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001
        return "(an exception that cannot be printed)"
