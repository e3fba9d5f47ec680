"""What a worker of a cluster must have: this library, in the version of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def fit_worker(version: str) -> Callable[..., Any]:
    """`rayworker.work` for workers that may not have it: it travels by value, and tells what is missing."""

    # A function inside of another is pickled as code. Where it arrives there may be nothing but Python and Ray.
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
