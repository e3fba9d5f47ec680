"""`pyarrow.compute`, imported on first use, since that takes longer than importing this whole package."""

from functools import cache
from importlib import import_module
from typing import Any

_OPTIONS = {
    "cast": "CastOptions",
    "is_in": "SetLookupOptions",
    "match_substring": "MatchSubstringOptions",
    "match_substring_regex": "MatchSubstringOptions",
}


def call(kernel: str, *columns: Any, **options: Any) -> Any:
    """Call a kernel by name. Kernels are available without `pyarrow.compute`, which only wraps them."""
    try:
        return _call("pyarrow._compute", kernel, columns, options)
    except (ImportError, AttributeError):  # a private module of pyarrow 23 to 26
        return _call("pyarrow.compute", kernel, columns, options)


def _call(module: str, kernel: str, columns: tuple[Any, ...], options: dict[str, Any]) -> Any:
    kernels = _imported(module)
    made = getattr(kernels, _OPTIONS[kernel])(**options) if options else None
    return kernels.call_function(kernel, list(columns), made)


@cache
def _imported(module: str) -> Any:
    return import_module(module)  # cached: a lookup takes as long as a kernel on a short column


def __getattr__(name: str) -> Any:
    value = getattr(import_module("pyarrow.compute"), name)
    globals()[name] = value
    return value
