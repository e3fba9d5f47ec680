"""Forwards to `cloudpickle`: functions as bytes, of which programs make digests."""

from __future__ import annotations

from typing import Any

import cloudpickle

__all__ = ["Pickler", "dump", "dumps"]


class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Writes objects to a file; functions and what they use go with them, with or without `recurse`."""

    def __init__(self, file: Any, *args: Any, recurse: bool = True, **kwargs: Any) -> None:
        super().__init__(file, *args, **kwargs)


dump, dumps = cloudpickle.dump, cloudpickle.dumps
