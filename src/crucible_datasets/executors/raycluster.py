"""Connections to Ray: to a running cluster, or to a new local one that only this machine can reach."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from typing import Any

from crucible_datasets.exceptions import ClusterError
from crucible_datasets.registry import need

# Read when Ray is imported, by us and by the processes it starts. It then listens on 127.0.0.1 alone, and workers are
# started by this Python: under `uv run` each of them would be a `uv run` of a copy of the project, which never came up.
_AS_WE_START_IT = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}


def connected(address: str | None = None) -> Any:
    """The module `ray`, connected to a cluster."""
    if "ray" in sys.modules and sys.modules["ray"].is_initialized():
        _require_same(address, sys.modules["ray"])
        return sys.modules["ray"]
    address = address or os.environ.get("RAY_ADDRESS")
    if address and address != "local":
        return _init(address)
    if address is None:
        with suppress(ClusterError):
            return _init("auto")
    os.environ.update(_AS_WE_START_IT)
    constants = need("ray", "ray")._private.ray_constants  # Ray may have been imported before
    constants.ENABLE_RAY_CLUSTER = constants.RAY_ENABLE_UV_RUN_RUNTIME_ENV = False
    return _init("local", include_dashboard=False)


def _require_same(address: str | None, ray: Any) -> None:
    """Raise if the program is already connected to another cluster: Ray allows one at a time."""
    if address is None or address in ("auto", "local") or "://" in address:
        return
    there = ray.get_runtime_context().gcs_address
    if _place(address) != _place(there):
        raise ClusterError(f"this program is connected to Ray at {there!r} already, and asks for {address!r}")


def _place(address: str) -> tuple[str, str]:
    host, _, port = address.rpartition(":")
    with suppress(OSError):
        host = socket.gethostbyname(host)
    return host, port


def _init(address: str, **more: Any) -> Any:
    ray = need("ray", "ray")
    try:
        ray.init(address, logging_level="ERROR", configure_logging=False, **more)
    except Exception as error:  # (Ray raises a bare Exception when a node is slow to start)
        raise ClusterError(f"Ray at {address!r} cannot be connected to: {error}") from error
    return ray
