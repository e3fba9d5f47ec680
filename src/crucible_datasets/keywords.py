"""Keywords that functions pass on to others: one that nobody takes is an error, which suggests the known ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from crucible_datasets.exceptions import UnknownKeywordError


def keywords_of(*functions: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters that may be passed by keyword."""
    by_keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = [one for function in functions for one in inspect.signature(function).parameters.values()]
    return tuple(dict.fromkeys(one.name for one in parameters if one.kind in by_keyword and one.name != "self"))


def refuse_unknown_keywords(taker: str, keywords: Mapping[str, Any], available: Iterable[str] = ()) -> None:
    """Raise for the first keyword that `taker` does not have."""
    names = dict.fromkeys(available)
    for name, value in keywords.items():
        if name not in names:
            raise UnknownKeywordError(name, value, f"{taker} takes {', '.join(names) or 'none'}.", names)


@contextmanager
def passing_on(*functions: Callable[..., Any]) -> Iterator[None]:
    """An unknown keyword may be misspelt from one of these functions, which passed it on: suggest theirs as well."""
    try:
        yield
    except UnknownKeywordError as error:
        available = (*error.available, *keywords_of(*functions))
        raise UnknownKeywordError(error.name, error.value, error.reason, available) from None
