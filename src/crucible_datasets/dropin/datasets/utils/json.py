"""Forwards to the reader and writer of JSON."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["ujson_dumps", "ujson_loads"]


def ujson_loads(*args: Any, **kwargs: Any) -> Any:
    """What JSON text says."""
    return json.loads(*args, **kwargs)


def ujson_dumps(*args: Any, **kwargs: Any) -> str:
    """A value as JSON text, without spaces."""
    return json.dumps(*args, **{"separators": (",", ":"), **kwargs})
