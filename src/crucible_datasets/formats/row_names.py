"""Whether row names only number the rows, so that nothing is lost without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Counting:
    """Whether all values of a column count evenly, as the numbers of rows do."""

    last: int | None = None
    step: int | None = None
    even: bool = True

    def see(self, values: Sequence[Any]) -> None:
        """Take more values into account."""
        if not self.even or not len(values):
            return
        if not all(type(value) is int for value in values):
            self.even = False
            return
        found = np.array(values if self.last is None else [self.last, *values])
        steps = np.diff(found)
        if len(steps):
            self.step = int(steps[0]) if self.step is None else self.step
            self.even = self.step != 0 and bool((steps == self.step).all())
        self.last = int(found[-1])

    def is_even(self) -> bool:
        """Whether there were two values or more, all of them the same step apart."""
        return self.even and self.step is not None
