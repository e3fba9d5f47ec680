"""`Epoch`: the epoch number, which worker processes that are already running can see change."""

from __future__ import annotations

import sys
from typing import Any


class Epoch:
    """The epoch number. Persistent workers of torch's `DataLoader` share it."""

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
        """Move the number to memory shared with torch's workers, which must not have been started yet."""
        torch: Any = sys.modules.get("torch")
        if self._shared is None and hasattr(torch, "tensor"):
            self._shared = torch.tensor(self._number).share_memory_()
