"""One Ray cluster for all tests that ask for it: they are run first, one after the other, and then it is stopped.

xdist hands the first tests to one worker, so there is one cluster however many workers there are.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from crucible_datasets.executors.raycluster import connected

_FIXTURE = "ray_cluster"
# How often a cluster looks whether its nodes live: tests need not wait for half a minute to see one die.
_QUICK = {"RAY_health_check_initial_delay_ms": "0", "RAY_health_check_period_ms": "400"}
listeners_before: set[tuple[str, int]] = set()


@pytest.fixture
def ray_cluster() -> Any:
    """The module `ray`, connected to a cluster of this machine that was started for the tests."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    if "ray" not in sys.modules or not sys.modules["ray"].is_initialized():
        global listeners_before
        listeners_before = listeners()
        os.environ.update(_QUICK)
    return connected("local")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not _wants_ray(item))


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if _wants_ray(item) and (nextitem is None or not _wants_ray(nextitem)) and "ray" in sys.modules:
        sys.modules["ray"].shutdown()


def _wants_ray(item: pytest.Item) -> bool:
    called = getattr(item, "callspec", None)
    by_parameter = called is not None and any(isinstance(v, str) and v == "ray" for v in called.params.values())
    return by_parameter or _FIXTURE in getattr(item, "fixturenames", ())


def listeners() -> set[tuple[str, int]]:
    """The addresses, as the kernel writes them, and ports at which somebody on this machine waits for connections."""
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if state == "0A":
                address, port = local.split(":")
                found.add((address, int(port, 16)))
    return found


def is_loopback(address: str) -> bool:
    """Whether an address of /proc/net is 127.x, ::1, or 127.x written as IPv6."""
    if len(address) == 8:
        return address.endswith("7F")
    return address == "00000000000000000000000001000000" or (
        address.startswith("0000000000000000FFFF0000") and address.endswith("7F")
    )
