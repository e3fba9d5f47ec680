"""`DatasetsError`, the base of all errors, and helpers for messages."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

# The module shown in tracebacks and pickles, whichever file defines an error.
_HOME = "crucible_datasets.exceptions"

_Error = TypeVar("_Error", bound="DatasetsError")


class DatasetsError(Exception):
    """Base of every error this library raises on purpose."""

    __module__ = _HOME

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if cls.__module__.startswith(f"{_HOME}."):
            cls.__module__ = _HOME

    def __init__(self, *facts: Any, message: str | None = None) -> None:
        # PyTorch recreates errors of DataLoader workers in the main process, from the message alone.
        text = self.message(*facts) if message is None else message
        # Invalid text, such as a file name that is not UTF-8, could not be printed.
        super().__init__(text.encode(errors="backslashreplace").decode())

    def message(self, *facts: Any) -> str:
        return " ".join(str(fact) for fact in facts)

    def __str__(self) -> str:
        # KeyError would show the message in quotes.
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # The arguments may include a whole dataset; the message and the attributes are small.
        kind = type(self)
        return _restored, (kind.__mro__[1] if issubclass(kind, ArrowTwin) else kind, self.args, self.__dict__)


def _restored(kind: type[DatasetsError], arguments: tuple[Any, ...], attributes: dict[str, Any]) -> DatasetsError:
    # The first of several standard base classes is not always the one whose `__new__` works.
    error: DatasetsError = (OSError if issubclass(kind, OSError) else kind).__new__(kind)
    error.args = arguments
    error.__dict__.update(attributes)
    return error


class ArrowTwin:
    """Marks the classes that `also_of_arrow` makes."""


def also_of_arrow(*names: str) -> Callable[[type[_Error]], type[_Error]]:
    """Errors that in Hugging Face `datasets` are pyarrow's: `except pyarrow.ArrowInvalid` catches them here too.

    What is raised is of a subclass that is also pyarrow's, made at that time: this module must not import pyarrow.
    """

    @cache
    def twin(kind: Any, arrow: Any) -> Any:
        kinds = (kind, ArrowTwin, *(getattr(arrow, name) for name in names))
        return type(kind.__name__, kinds, {"__module__": kind.__module__, "__doc__": kind.__doc__})

    def made(cls: Any, *facts: Any, **named: Any) -> Any:
        arrow = sys.modules.get("pyarrow.lib")
        kind: Any
        maker: Any
        kind = maker = twin(cls, arrow) if arrow and not issubclass(cls, ArrowTwin) else cls
        while maker.__module__ != "builtins":
            maker = maker.__base__
        return maker.__new__(kind)

    def known(kind: type[_Error]) -> type[_Error]:
        kind.__new__ = staticmethod(made)  # type: ignore[method-assign]
        return kind

    return known


def closest(asked: object, available: Iterable[object]) -> str:
    """A sentence that suggests the most similar name; empty if none is similar."""
    from difflib import get_close_matches

    matches = get_close_matches(str(asked), [str(name) for name in available], n=1)
    return f" Did you mean {matches[0]!r}?" if matches else ""


def listed(names: Iterable[object], limit: int = 20) -> str:
    """Names on one line: the first few, and how many more there are."""
    shown = [str(name) for name in names]
    rest = len(shown) - limit
    return (", ".join(shown[:limit]) + (f", … ({rest} more)" if rest > 0 else "")) or "none"


def without_secrets(address: str) -> str:
    """A URL without secrets: the password before the host, the signature in the query; also of each URL in a chain.

    On the web, a name without a password may be a token. In other places it is the name of a user or a container.
    """
    shown = re.sub(r"://[^/@:]*:[^/]*@", "://", address)
    shown = re.sub(r"(https?://)[^/?#]*@", r"\1", shown, flags=re.IGNORECASE)
    return re.sub(r"(https?://[^?]*)\?.*", r"\1", shown, flags=re.IGNORECASE | re.DOTALL)
