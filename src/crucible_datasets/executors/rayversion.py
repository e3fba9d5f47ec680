"""A check that workers of a Ray cluster have this library in the program's version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def version_checked_worker(version: str) -> Callable[..., Any]:
    """`rayworker.work`, pickled by value, so that a worker without this library can report what is missing."""

    # A nested function is pickled as code. The worker may have nothing but Python and Ray.
    def work(*given: Any) -> Any:
        import platform

        here = f"node {platform.node()} (Python {platform.python_version()})"
        try:
            from crucible_datasets import __version__
            from crucible_datasets.executors.rayworker import work
        except ImportError as error:
            return "unfit", 0, f"{here} does not have crucible_datasets {version}, as this program does: {error}"
        if __version__ != version:
            return "unfit", 0, f"{here} has crucible_datasets {__version__}, and this program {version}"
        return work(*given)

    return work
