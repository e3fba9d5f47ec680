"""`Epoch`: a number that can still change for processes that were started before."""

from __future__ import annotations

import sys
from typing import Any


class Epoch:
    """How often rows have been gone through. Workers that torch keeps from epoch to epoch share it."""

    def __init__(self, number: int = 0) -> None:
        self._number = number
        self._shared: Any = None

    @property
    def number(self) -> int:
        return self._number if self._shared is None else int(self._shared)

    @number.setter
    def number(self, number: int) -> None:
        self._number = number
        if self._shared is not None:
            self._shared.fill_(number)

    def share(self) -> None:
        """Put the number where torch's workers will see it, if torch is there. They must not have been started."""
        torch: Any = sys.modules.get("torch")
        if self._shared is None and hasattr(torch, "tensor"):
            self._shared = torch.tensor(self._number).share_memory_()
