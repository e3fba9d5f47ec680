"""What the tests of the sandbox share: a skip where the machine cannot isolate, and a solution to cheat for."""

import functools

import pytest

from crucible_datasets.evaluation.sandbox.box import Box
from crucible_datasets.exceptions import SandboxUnavailableError


@functools.cache
def why_not() -> str:
    """Why code cannot be isolated here, or nothing."""
    try:
        Box().close()
    except SandboxUnavailableError as error:
        return str(error)
    return ""


needs_isolation = pytest.mark.skipif(bool(why_not()), reason=why_not())
